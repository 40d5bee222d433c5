"""The newest closings of a leader, and the results of an account's newest requests.

A worker of a leader signs each of the leader's closings, and a requester signs each single request.
So filters by sender find both, and other accounts cannot displace them with their own transactions.
"""

import asyncio
from collections.abc import Iterator, Sequence
from enum import Enum, auto
from functools import reduce
from operator import or_
from typing import TypeGuard

from msgspec import Struct

from nexus_tools.contracts import PackageClient, RegistryEvent, event_filter, parse_event
from nexus_tools.contracts.move_bindings.invocation import (
    Invocation,
    InvocationDeleted,
    InvocationFailed,
    InvocationRequested,
    InvocationSettled,
)
from nexus_tools.contracts.move_bindings.leader import Leader
from nexus_tools.contracts.move_bindings.state import State
from nexus_tools.sui.client import EventRecord, newest_events
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import FailureReason

MAX_CLOSINGS = 50
"""The number of answers, of failures and of own requests that are read at most."""

# Failures that the leader causes. The tool or the requester may have caused other failures.
_OWN_FAILURES = {FailureReason.REFUSED, FailureReason.OVERLOADED}


class Result(Enum):
    """The result of an invocation for a leader.

    `FAILED` means that the leader refused the invocation or was overloaded. `MISSED` means that the
    leader did not close the invocation in its window.
    """

    SETTLED = auto()
    FAILED = auto()
    MISSED = auto()


class Closing(Struct, frozen=True):
    """The result of one invocation for one leader.

    `latency_ms` is the time from the request to the answer, or None if it is unknown.
    """

    invocation: Address
    leader: Address
    requester: Address
    tool: Address
    result: Result
    latency_ms: int | None = None


async def read_closings(
    package: PackageClient, leader: Leader, max_read_s: float
) -> tuple[Closing, ...]:
    """Return the newest closings that the leader's workers signed, newest first.

    At most `MAX_CLOSINGS` answers and as many failures are read. The two kinds have separate
    limits, so calls of a tool that does not respond cannot displace the leader's answers. Failures
    that the leader did not cause are omitted. Raises `node_unreachable` if the node does not have
    an event index.
    """
    if not leader.workers.entries:
        return ()
    pages = await asyncio.gather(
        *(
            _read_kind(package, leader, kind, max_read_s)
            for kind in (InvocationSettled, InvocationFailed)
        )
    )
    records = [record for page in pages for record in page]
    records.sort(key=lambda record: record.cursor.position, reverse=True)
    parsed = (parse_event(package.deployment, record.event) for record in records)
    closings = (_closing(event) for event in parsed)
    return tuple(found for found in closings if found and found.leader == leader.id)


async def _read_kind(
    package: PackageClient, leader: Leader, kind: type[RegistryEvent], max_read_s: float
) -> Sequence[EventRecord]:
    of_kind = event_filter(package.deployment, kind)
    by_workers = reduce(or_, map(of_kind.sent_by, leader.workers.entries))
    page = await newest_events(
        package.client, by_workers, MAX_CLOSINGS, max_read_s=max_read_s, indexed_only=True
    )
    return page.events


def _closing(event: RegistryEvent | None) -> Closing | None:
    latency_ms = None
    match event:
        case InvocationSettled():
            result, latency_ms = Result.SETTLED, event.settled_at_ms - event.requested_at_ms
        case InvocationFailed() if event.reason in _OWN_FAILURES:
            result = Result.FAILED
        case _:
            return None
    return Closing(event.invocation, event.leader, event.requester, event.tool, result, latency_ms)


# --- The requests of an account


async def read_own_closings(
    package: PackageClient, caller: Address, max_read_s: float
) -> tuple[Closing, ...]:
    """Return the results of the newest closed requests of an account, newest first.

    At most `MAX_CLOSINGS` requests and as many deletions are read. The result also contains the
    leaders that missed an invocation. The steps of executions are not included, because workers of
    leaders sign their requests. Raises `node_unreachable` as `read_closings` does.
    """
    kinds = event_filter(package.deployment, InvocationRequested, InvocationDeleted)
    limit = 2 * MAX_CLOSINGS
    page = await newest_events(
        package.client, kinds.sent_by(caller), limit, max_read_s=max_read_s, indexed_only=True
    )
    events = [parse_event(package.deployment, record.event) for record in page.events]
    requests = [event for event in events if is_own_request(event)][:MAX_CLOSINGS]
    deleted = {event.invocation: event for event in events if isinstance(event, InvocationDeleted)}
    existing = [found.invocation for found in requests if found.invocation not in deleted]
    states = {
        found.id: found.state
        for found in await package.find_all(existing, Invocation)
        if found is not None and found.is_closed
    }
    closings: list[Closing] = []
    for request in requests:
        if deletion := deleted.get(request.invocation):
            # The reason of a failure is unknown here. `read_closings` reads it.
            closings += _results(request, deletion.leader, None if deletion.is_settled else "")
        elif state := states.get(request.invocation):
            closings += _results(request, *_leader_and_reason(state))
    return tuple(closings)


def is_own_request(event: RegistryEvent | None) -> TypeGuard[InvocationRequested]:
    """Return whether an event is a single request whose leaders have to close it."""
    return (
        isinstance(event, InvocationRequested)
        and event.attempt is None
        and not event.is_closable_by_anyone
    )


def _leader_and_reason(state: object) -> tuple[Address | None, str | None]:
    match state:
        case State.Settled(leader=leader):
            return leader, None
        case State.Failed(leader=leader, reason=reason):
            return leader, reason
    return None, FailureReason.EXPIRED


def _results(
    request: InvocationRequested, leader: Address | None, reason: str | None
) -> Iterator[Closing]:
    """Yield the results for the leaders of a request that `leader` closed, or None by expiry."""

    def result(of: Address, kind: Result) -> Closing:
        return Closing(request.invocation, of, request.requester, request.tool, kind)

    order = request.leaders
    for late in order if leader is None else order[: order.index(leader)]:
        yield result(late, Result.MISSED)
    if leader is not None and reason is None:
        yield result(leader, Result.SETTLED)
    elif leader is not None and reason in _OWN_FAILURES:
        yield result(leader, Result.FAILED)
