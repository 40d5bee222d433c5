"""The events of one invocation, which remain available after the invocation was deleted.

An object names the transaction of its last version, and a shared object has its first version. So
the request and the closing are found without a search. The transactions of a deleted invocation
come from the node's index of transactions.
"""

import asyncio
from collections.abc import Iterable
from typing import Final, TypeVar

from msgspec import Struct

from nexus_tools.contracts import PackageClient, RegistryEvent, parse_event
from nexus_tools.contracts.move_bindings import invocation as moves
from nexus_tools.contracts.move_bindings.invocation import Invocation
from nexus_tools.errors import NotFoundError
from nexus_tools.registry.invocations.listing import parse_requests, requests_of
from nexus_tools.registry.pages import PAGE_SIZE
from nexus_tools.sui.client import (
    Executed,
    UnsupportedByNodeError,
    newest_events,
    newest_transactions_of,
)
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.effects import InputState
from nexus_tools.sui.types.object import Object, Shared

T = TypeVar("T")

CLOSINGS: Final[
    tuple[
        type[moves.InvocationSettled], type[moves.InvocationFailed], type[moves.InvocationExpired]
    ]
] = (moves.InvocationSettled, moves.InvocationFailed, moves.InvocationExpired)
_KINDS = (moves.InvocationRequested, *CLOSINGS, moves.InvocationDeleted)

_MAX_CHANGES = 16
"""The maximum number of transactions of one invocation that are read."""

_CHECK_NETWORK = "Check the network with `nexus-tools network show`."
_NO_INDEX = (
    "The requester deleted it, or it is on another network. This node does not have a transaction"
    " index, so it cannot show the history of deleted invocations."
)


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


# --- The closing of an invocation


async def find_closing(package: PackageClient, value: Object) -> Step | None:
    """Return the step that closed an invocation, or None if the node no longer has it.

    Mostly, this is the last transaction of the object. An attempt changes once more when its
    execution withdraws the remaining payment. A transaction that has no effect on the invocation
    also creates a new version of the object.
    """
    current: Object | None = value
    for _ in range(_MAX_CHANGES):
        if current is None:
            return None
        executed = await package.client.transaction(current.previous_transaction)
        if executed is None:
            return None
        steps = await _steps_in(package, [executed], value.id)
        closing = next((step for step in steps if isinstance(step.event, CLOSINGS)), None)
        change = dict(executed.effects.changed_objects).get(value.id)
        if closing is not None or change is None or not isinstance(change.input, InputState):
            return closing
        current = await package.client.object(value.id, change.input.version)
    return None


async def read_closings(package: PackageClient, requester: Address, last: int) -> tuple[Step, ...]:
    """Return the last closings among the newest requests of a requester, newest first.

    Closings of deleted invocations are only found if the node lists transactions.
    """
    page = await newest_events(package.client, requests_of(package, requester), PAGE_SIZE)
    requests = [found for found in parse_requests(package, page.events) if found is not None]
    values = await package.client.objects([request.invocation for request in requests])
    closed = [
        (request.invocation, value)
        for request, value in zip(requests, values, strict=True)
        if value is None or package.deployment.decode(value, Invocation).is_closed
    ]
    # A later request may be closed earlier, so read more closings than requested.
    reads = [_closing_of(package, invocation, value) for invocation, value in closed[: 2 * last]]
    steps = [step for step in await asyncio.gather(*reads) if step is not None]
    return tuple(sorted(steps, key=lambda step: step.at_ms, reverse=True)[:last])


async def _closing_of(
    package: PackageClient, invocation: Address, value: Object | None
) -> Step | None:
    if value is not None:
        return await find_closing(package, value)
    steps = await _indexed_steps(package, invocation) or ()
    return next((step for step in steps if isinstance(step.event, CLOSINGS)), None)


# --- The history of an invocation


async def read_history(package: PackageClient, invocation: Address) -> InvocationHistory:
    """Return the events of an invocation, even of a deleted invocation.

    Raises `invocation_unknown`, or `history_missing` if the node has pruned a part of the history.
    """
    value = await package.client.object(invocation)
    if value is not None:
        steps = await _steps_of_existing(package, value)
        if steps is not None:
            return InvocationHistory(steps)
    indexed = await _indexed_steps(package, invocation)
    if value is None and not indexed:
        raise invocation_unknown_error(
            invocation, hint=_NO_INDEX if indexed is None else _CHECK_NETWORK
        )
    if not indexed or not isinstance(indexed[0].event, moves.InvocationRequested):
        raise NotFoundError(
            "history_missing",
            f"the node no longer has the whole history of the invocation {invocation}",
            hint="Use a node with a longer history."
            f" Run `nexus-tools tool outcome {invocation}` to see an outcome that is on chain.",
        )
    return InvocationHistory(indexed)


async def _steps_of_existing(package: PackageClient, value: Object) -> tuple[Step, ...] | None:
    """Return the steps of an invocation that exists, or None if the node has pruned a step."""
    current = package.deployment.decode(value, Invocation)
    if not current.is_closed:
        return await _steps_of_request(package, value)
    steps, closing = await asyncio.gather(
        _steps_of_request(package, value), find_closing(package, value)
    )
    if steps is None or any(isinstance(step.event, CLOSINGS) for step in steps):
        return steps
    return None if closing is None else (*steps, closing)


async def _steps_of_request(package: PackageClient, value: Object) -> tuple[Step, ...] | None:
    """Return the steps in the transaction that requested an invocation, or None if it is pruned."""
    request = await _read_creation(package, value)
    return None if request is None else await _steps_in(package, [request], value.id)


async def _read_creation(package: PackageClient, value: Object) -> Executed | None:
    """Return the transaction that shared an object first, or None.

    The result is None if the object is not shared, or if the node has pruned its first version.
    """
    if not isinstance(value.owner, Shared):
        return None
    original = await package.client.object(value.id, value.owner.initial_version)
    if original is None:
        return None
    return await package.client.transaction(original.previous_transaction)


async def read_invocation_after(package: PackageClient, step: Step) -> Invocation | None:
    """Return an invocation as a step wrote it, or None if the node no longer has that version.

    The result is also None for the deletion of the invocation.
    """
    executed = await package.client.transaction(step.transaction)
    invocation: Address = step.event.invocation  # type: ignore[union-attr]  # events of invocations
    if executed is None:
        return None
    value = await package.client.object(invocation, executed.effects.lamport_version)
    return package.decode(value, Invocation)


async def _indexed_steps(package: PackageClient, invocation: Address) -> tuple[Step, ...] | None:
    """Return the steps that the node's index of transactions has, oldest first.

    Return None if the node does not have this index.
    """
    try:
        found = await newest_transactions_of(package.client, invocation, _MAX_CHANGES)
    except UnsupportedByNodeError:
        return None
    return await _steps_in(package, found[::-1], invocation)


async def _steps_in(
    package: PackageClient, transactions: Iterable[Executed], invocation: Address
) -> tuple[Step, ...]:
    """Return the steps of an invocation in these transactions."""
    steps = []
    for executed in transactions:
        for event in executed.events:
            parsed = parse_event(package.deployment, event)
            if isinstance(parsed, _KINDS) and parsed.invocation == invocation:
                at_ms = executed.timestamp_ms or await package.client.now_ms()
                steps.append(Step(parsed, executed.digest, event.sender, at_ms))
    return tuple(steps)


def invocation_unknown_error(invocation: Address, hint: str | None = None) -> NotFoundError:
    """Return the error for an unknown invocation. The default hint explains deleted invocations."""
    return NotFoundError(
        "invocation_unknown",
        f"the invocation {invocation} does not exist",
        hint=hint
        or "The requester deleted it, or it is on another network. Run"
        f" `nexus-tools tool outcome {invocation} --explain` to see its history.",
    )
