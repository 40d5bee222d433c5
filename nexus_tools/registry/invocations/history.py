"""The events of one invocation, which remain available after the invocation was deleted."""

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
    """An event of an invocation, with its sender and its time in ms since 1970."""

    event: RegistryEvent
    transaction: Digest
    sender: Address
    at_ms: int


class InvocationHistory(Struct, frozen=True):
    """The events of one invocation, in order. The first event is its request."""

    steps: tuple[Step, ...]

    @property
    def requested(self) -> moves.InvocationRequested:
        """The request, with the agreed terms."""
        event = self.steps[0].event
        assert isinstance(event, moves.InvocationRequested)
        return event

    def find(self, kind: type[T]) -> T | None:
        """Return the first event of a kind, or None if no such event has occurred."""
        return next((step.event for step in self.steps if isinstance(step.event, kind)), None)


async def read_closings(package: PackageClient, requester: Address, last: int) -> tuple[Step, ...]:
    """Return the last closings of a requester's invocations, newest first and at most `last`."""
    records = past_events(package.client, event_filter(package.deployment, *_CLOSINGS))
    closings: deque[tuple[EventRecord, RegistryEvent]] = deque(maxlen=last)
    async for record in records:
        event = parse_event(package.deployment, record.event)
        if event is not None and getattr(event, "requester", None) == requester:
            closings.append((record, event))
    return (await _steps(package, closings))[::-1]


async def read_history(package: PackageClient, invocation: Address) -> InvocationHistory:
    """Return the events of an invocation that the node still has. Raises `invocation_unknown`."""
    steps = await read_history_events(
        package, _KINDS, lambda event: getattr(event, "invocation", None) == invocation
    )
    if not steps:
        raise invocation_unknown_error(
            invocation, hint="Check the network with `nexus-tools network show`."
        )
    return InvocationHistory(steps)


async def read_history_events(
    package: PackageClient,
    kinds: Collection[type[RegistryEvent]],
    is_wanted: Callable[[RegistryEvent], bool],
    after: Cursor | None = None,
) -> tuple[Step, ...]:
    """Return the matching events of these kinds that the node has not pruned, in order.

    If the cursor `after` is passed, only later events are read.
    """
    matches: list[tuple[EventRecord, RegistryEvent]] = []
    of_kinds = event_filter(package.deployment, *kinds)
    async for record in past_events(package.client, of_kinds, after):
        event = parse_event(package.deployment, record.event)
        if event is not None and is_wanted(event):
            matches.append((record, event))
    return await _steps(package, matches)


async def _steps(
    package: PackageClient, events: Collection[tuple[EventRecord, RegistryEvent]]
) -> tuple[Step, ...]:
    times = await asyncio.gather(
        *(package.client.checkpoint_time_ms(record.checkpoint) for record, _ in events)
    )
    return tuple(
        Step(event, record.transaction_digest, record.event.sender, at_ms)
        for (record, event), at_ms in zip(events, times, strict=True)
    )


def invocation_unknown_error(invocation: Address, hint: str | None = None) -> NotFoundError:
    """Return the error for an unknown invocation. The default hint explains deleted invocations."""
    return NotFoundError(
        "invocation_unknown",
        f"the invocation {invocation} does not exist",
        hint=hint
        or "The requester deleted it, or it is on another network. Run"
        f" `nexus-tools tool outcome {invocation} --explain` to see its history.",
    )
