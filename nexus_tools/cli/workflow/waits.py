"""What a running execution waits for, as commands print it."""

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
"""What holds from one look to the next is told: the rest goes on by itself."""
_PATIENCE_MS = 10_000
"""How long a tool may take before somebody who watches is told."""
_MOST = 5

Tell = Callable[["Sequence[Wait]"], None]


def sentences(waits: "Sequence[Wait]") -> list[str]:
    """What it waits for, for people: the first of many."""
    told = [plain(each.sentence) for each in waits[:_MOST]]
    more = len(waits) - _MOST
    return told if more <= 0 else [*told, f"and {units.count(more, 'other')}"]


def waits_document(waits: "Sequence[Wait]") -> list[dict[str, Any]]:
    """What it waits for, as JSON; what does not apply is null."""
    return [
        {
            "what": each.what.value,
            "sentence": each.sentence,
            "vertex": each.run.vertex if each.run else None,
            "path": list(each.run.path) if each.run else None,
            "invocation": None if each.invocation is None else str(each.invocation),
            "leaders": [str(leader) for leader in each.leaders],
            "who": None if each.who is None else str(each.who),
            "question": each.question or None,
            "since_ms": each.since_ms,
            "until_ms": each.until_ms,
            "needed_mist": each.needed_mist,
            "funds_mist": each.funds_mist,
        }
        for each in waits
    ]


@asynccontextmanager
async def telling(
    nexus: "Nexus", execution: "Address", tell: Tell, tell_away: Callable[[str], None]
) -> AsyncIterator[None]:
    """Tell in here what an execution waits for, whenever it waits for something else."""
    task = asyncio.create_task(_tell(nexus, execution, tell, tell_away))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _tell(
    nexus: "Nexus", execution: "Address", tell: Tell, tell_away: Callable[[str], None]
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
                tell_away(f"the node at {nexus.client.network.url} does not respond")
            is_away = True
        except NexusError:
            pass  # whoever follows it says so
        else:
            is_away = False
            lasting = [each for each in waits if _key(each) in seen]
            seen = {_key(each) for each in waits}
            if {_key(each) for each in lasting} - told:
                tell(lasting)
            told = {_key(each) for each in lasting}
        await asyncio.sleep(_LOOK_S)


async def _look(nexus: "Nexus", execution: "Address") -> "list[Wait]":
    """What it waits for, but for tools that work on it."""
    from nexus_tools.registry import WaitsFor

    waits = await nexus.executions.waits(await nexus.executions.state(execution))
    now_ms = await nexus.client.now_ms()
    return [
        each
        for each in waits
        if each.what is not WaitsFor.OUTCOME or now_ms - (each.since_ms or 0) >= _PATIENCE_MS
    ]


def _key(wait: "Wait") -> Any:
    """What is told once: of all runs of a vertex, the first."""
    return wait.what, wait.run and wait.run.vertex
