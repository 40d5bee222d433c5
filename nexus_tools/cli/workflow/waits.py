"""Output of the pending conditions for which a running execution waits."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from nexus_tools.cli.framework import plain
from nexus_tools.errors import NexusError, UnreachableError
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.nexus import Nexus
    from nexus_tools.registry import Wait
    from nexus_tools.sui.types.address import Address

_LOOK_S = 3.0
"""The interval between reads in s. A wait is reported if two consecutive reads find it."""
_PATIENCE_MS = 10_000
"""The time in ms after a call of a tool, before the wait for the tool is reported."""
_MOST = 5

Notify = Callable[["Sequence[Wait]"], None]


def wait_messages(waits: "Sequence[Wait]") -> list[str]:
    """Return the first waits as sentences, and the number of further waits."""
    told = [plain(wait.message) for wait in waits[:_MOST]]
    more = len(waits) - _MOST
    return told if more <= 0 else [*told, f"and {units.count(more, 'other')}"]


def waits_document(waits: "Sequence[Wait]") -> list[dict[str, Any]]:
    """Return the waits as JSON, with null for fields that do not apply."""
    return [
        {
            "reason": wait.reason.value,
            "message": wait.message,
            "vertex": wait.run.vertex if wait.run else None,
            "path": list(wait.run.path) if wait.run else None,
            "invocation": None if wait.invocation is None else str(wait.invocation),
            "leaders": [str(leader) for leader in wait.leaders],
            "answerer": None if wait.answerer is None else str(wait.answerer),
            "question": wait.question or None,
            "since_ms": wait.since_ms,
            "until_ms": wait.until_ms,
            "needed_mist": wait.needed_mist,
            "funds_mist": wait.funds_mist,
        }
        for wait in waits
    ]


@asynccontextmanager
async def report_waits(
    nexus: "Nexus", execution: "Address", notify: Notify, notify_now: Callable[[str], None]
) -> AsyncIterator[None]:
    """Report the waits of an execution whenever they change, while the block runs."""
    task = asyncio.create_task(_tell(nexus, execution, notify, notify_now))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _tell(
    nexus: "Nexus", execution: "Address", notify: Notify, notify_now: Callable[[str], None]
) -> None:
    seen: set[Any] = set()
    told: set[Any] = set()
    is_away = False
    while True:
        try:
            async with asyncio.timeout(2 * _LOOK_S):
                waits = await _look(nexus, execution)
        except (UnreachableError, TimeoutError):
            if not is_away:
                notify_now(f"the node at {nexus.client.network.url} does not respond")
            is_away = True
        except NexusError:
            pass  # the follower of the execution reports the error
        else:
            is_away = False
            lasting = [wait for wait in waits if _key(wait) in seen]
            seen = {_key(wait) for wait in waits}
            if {_key(wait) for wait in lasting} - told:
                notify(lasting)
            told = {_key(wait) for wait in lasting}
        await asyncio.sleep(_LOOK_S)


async def _look(nexus: "Nexus", execution: "Address") -> "list[Wait]":
    """Return the current waits, except for tools that have only just been called."""
    from nexus_tools.registry import WaitReason

    waits = await nexus.executions.wait_reasons(await nexus.executions.state(execution))
    now_ms = await nexus.client.now_ms()
    return [
        wait
        for wait in waits
        if wait.reason is not WaitReason.OUTCOME or now_ms - (wait.since_ms or 0) >= _PATIENCE_MS
    ]


def _key(wait: "Wait") -> Any:
    """Return the identity of a wait. Runs of the same vertex are reported once."""
    return wait.reason, wait.run and wait.run.vertex
