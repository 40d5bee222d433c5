"""What happened to one invocation, as events tell it: also once it is deleted."""

import asyncio
from collections import deque
from collections.abc import Callable, Collection
from typing import TypeVar

from msgspec import Struct

from nexus_tools.contracts import PackageClient, RegistryEvent, event_filter, parse_event
from nexus_tools.contracts.move_bindings import invocation as moves
from nexus_tools.errors import NotFoundError
from nexus_tools.sui.client import Cursor, EventRecord, past_events
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest

T = TypeVar("T")

_CLOSINGS = (moves.InvocationSettled, moves.InvocationFailed, moves.InvocationExpired)
_KINDS = (moves.InvocationRequested, *_CLOSINGS, moves.InvocationDeleted)


class Step(Struct, frozen=True):
    """One event of an invocation: who signed its transaction, and when, in ms since 1970."""

    event: RegistryEvent
    transaction: Digest
    sender: Address
    at_ms: int


class History(Struct, frozen=True):
    """The steps of one invocation, in order; the first one is its request."""

    steps: tuple[Step, ...]

    @property
    def requested(self) -> moves.InvocationRequested:
        """The terms that were agreed upon."""
        event = self.steps[0].event
        assert isinstance(event, moves.InvocationRequested)
        return event

    def find(self, kind: type[T]) -> T | None:
        """The event of a kind, if it has happened."""
        return next((step.event for step in self.steps if isinstance(step.event, kind)), None)


async def read_closings(package: PackageClient, requester: Address, last: int) -> tuple[Step, ...]:
    """The `last` invocations of an address that were closed, the newest first."""
    asked = past_events(package.client, event_filter(package.deployment, *_CLOSINGS))
    found: deque[tuple[EventRecord, RegistryEvent]] = deque(maxlen=last)
    async for record in asked:
        event = parse_event(package.deployment, record.event)
        if event is not None and getattr(event, "requester", None) == requester:
            found.append((record, event))
    return (await _steps(package, found))[::-1]


async def read_history(package: PackageClient, invocation: Address) -> History:
    """What the node has of an invocation. Raises `invocation_unknown`."""
    steps = await read_steps(
        package, _KINDS, lambda event: getattr(event, "invocation", None) == invocation
    )
    if not steps:
        raise unknown_invocation(invocation, hint="`nexus-tools network show` names the network")
    return History(steps)


async def read_steps(
    package: PackageClient,
    kinds: Collection[type[RegistryEvent]],
    is_wanted: Callable[[RegistryEvent], bool],
    after: Cursor | None = None,
) -> tuple[Step, ...]:
    """The events of these kinds that are wanted, in order, as far as the node knows.

    They are those `after` a place, or all.
    """
    found: list[tuple[EventRecord, RegistryEvent]] = []
    of_kinds = event_filter(package.deployment, *kinds)
    async for record in past_events(package.client, of_kinds, after):
        event = parse_event(package.deployment, record.event)
        if event is not None and is_wanted(event):
            found.append((record, event))
    return await _steps(package, found)


async def _steps(
    package: PackageClient, found: Collection[tuple[EventRecord, RegistryEvent]]
) -> tuple[Step, ...]:
    times = await asyncio.gather(
        *(package.client.checkpoint_time_ms(record.checkpoint) for record, _ in found)
    )
    return tuple(
        Step(event, record.transaction_digest, record.event.sender, at_ms)
        for (record, event), at_ms in zip(found, times, strict=True)
    )


def unknown_invocation(invocation: Address, hint: str | None = None) -> NotFoundError:
    """The error for an id that is no invocation's; without a hint, its history is pointed to."""
    return NotFoundError(
        "invocation_unknown",
        f"there is no invocation {invocation}",
        hint=hint
        or "it was deleted by its requester, or is one of another network:"
        f" `nexus-tools tool outcome {invocation} --why` tells what is known of a deleted one",
    )
