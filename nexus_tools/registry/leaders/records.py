"""Track records of leaders, read from events, and the choice of leaders by these records."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum, auto
from random import Random, SystemRandom
from statistics import median

from msgspec import Struct

from nexus_tools.contracts import PackageClient, event_filter, parse_event
from nexus_tools.contracts.move_bindings.invocation import (
    InvocationExpired,
    InvocationFailed,
    InvocationRequested,
    InvocationSettled,
)
from nexus_tools.contracts.move_bindings.leader import Leader
from nexus_tools.errors import NotAllowedError
from nexus_tools.sui.client import Cursor, past_events
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import FailureReason

RECENT_CHECKPOINTS = 100_000
"""The number of recent checkpoints whose events affect a choice, about seven hours on Sui."""

MAX_LEADERS_PER_INVOCATION = 2
"""The maximum number of leaders that an invocation can name."""

_UNKNOWN = 1 / 2
_LEAST_WEIGHT = 1 / 4
_OWN_WEIGHT = 2
_OWN_DOUBT = 1
# With a doubt of 4, a leader's own tools with a total collateral of 5 SUI do not decide its record.
_DOUBT = 4

# Failures that the leader causes. The tool or the requester may have caused other failures.
_OWN_FAILURES = {FailureReason.REFUSED, FailureReason.OVERLOADED}


class LeaderRecord(Struct, frozen=True):
    """The numbers of invocations that a leader settled, failed or missed.

    For each pair of requester and tool, only the latest closing counts. A failure counts only if
    the leader caused it by a refusal or overload. An invocation is missed if it expired, or if the
    backup leader closed it. `latency_ms` is the median time from request to answer, or None if the
    leader settled no invocation. `reliability` is the smoothed share of answers, between 0 and 1. A
    leader can cheaply improve its record with its own tools, so the record is weak evidence.
    """

    settled: int = 0
    failed: int = 0
    missed: int = 0
    latency_ms: int | None = None
    reliability: float = _UNKNOWN


class LeaderHistories(Struct, frozen=True):
    """The records of leaders for all requesters, and their reliability for only the caller."""

    records: Mapping[Address, LeaderRecord] = {}
    own_reliability: Mapping[Address, float] = {}


class _Kind(Enum):
    SETTLED = auto()
    FAILED = auto()
    MISSED = auto()


class _Closing(Struct, frozen=True):
    """The result of one invocation for a leader. `took_ms` is None unless the leader settled it."""

    leader: Address
    requester: Address
    tool: Address
    kind: _Kind
    took_ms: int | None = None


async def read_records(
    package: PackageClient, after: Cursor | None = None
) -> dict[Address, LeaderRecord]:
    """Return the records of all leaders that occur in events after a cursor, or in all events."""
    return _records(await _read_closings(package, after))


async def read_histories(package: PackageClient, after: Cursor | None = None) -> LeaderHistories:
    """Return the records of all leaders, and their reliability for this client's wallet."""
    closings, caller = await _read_closings(package, after), _caller(package)
    own = defaultdict[Address, list[bool]](list)
    for closing in closings:
        if closing.requester == caller:
            own[closing.leader].append(closing.kind is _Kind.SETTLED)
    return LeaderHistories(
        _records(closings),
        {leader: _smoothed_share(results, _OWN_DOUBT) for leader, results in own.items()},
    )


async def draw_leaders(package: PackageClient, leaders: Sequence[Leader]) -> tuple[Address, ...]:
    """Choose one or two of these leaders by their records in the last `RECENT_CHECKPOINTS`."""
    start = await package.client.latest_checkpoint() - RECENT_CHECKPOINTS
    after = Cursor.after_checkpoint(start) if start > 0 else None
    return choose_leaders(leaders, await read_histories(package, after))


def choose_leaders(
    leaders: Sequence[Leader], histories: LeaderHistories, random: Random | None = None
) -> tuple[Address, ...]:
    """Choose one or two of these leaders at random, weighted by reliability.

    A leader that the caller has used has a weight from 0 to 2, by its reliability for the caller.
    Another leader has a weight from 1/4 to 1, by its record. Leaders can buy good records, so no
    record makes a leader more than four times as likely as another leader. The result is empty if
    `leaders` is empty.
    """
    random = random or SystemRandom()
    weights = {leader.id: _weight(leader.id, histories) for leader in leaders}
    selected: list[Address] = []
    while weights and len(selected) < MAX_LEADERS_PER_INVOCATION:
        leader_id = random.choices([*weights], [*weights.values()])[0]
        selected.append(leader_id)
        del weights[leader_id]
    return tuple(selected)


def _weight(leader: Address, histories: LeaderHistories) -> float:
    own = histories.own_reliability.get(leader)
    if own is not None:
        return _OWN_WEIGHT * own
    reliability = histories.records.get(leader, LeaderRecord()).reliability
    return _LEAST_WEIGHT + (1 - _LEAST_WEIGHT) * reliability


def _caller(package: PackageClient) -> Address | None:
    try:
        return package.client.address
    except NotAllowedError:  # `signer_missing`: the client is read-only
        return None


def _records(closings: Iterable[_Closing]) -> dict[Address, LeaderRecord]:
    latest = defaultdict[Address, dict[tuple[Address, Address], _Closing]](dict)
    for closing in closings:
        latest[closing.leader][closing.tool, closing.requester] = closing
    return {leader: _record([*pairs.values()]) for leader, pairs in latest.items()}


def _record(pairs: Sequence[_Closing]) -> LeaderRecord:
    by_tool = defaultdict[Address, list[bool]](list)
    for closing in pairs:
        by_tool[closing.tool].append(closing.kind is _Kind.SETTLED)
    counts = Counter(closing.kind for closing in pairs)
    latencies = [closing.took_ms for closing in pairs if closing.took_ms is not None]
    return LeaderRecord(
        counts[_Kind.SETTLED],
        counts[_Kind.FAILED],
        counts[_Kind.MISSED],
        latency_ms=round(median(latencies)) if latencies else None,
        # Addresses are free, but tools need collateral, so each tool has the same weight.
        reliability=_smoothed_share(
            [sum(results) / len(results) for results in by_tool.values()], _DOUBT
        ),
    )


def _smoothed_share(results: Sequence[float], doubt: int) -> float:
    """Return (successes + doubt) / (all + 2 doubt).

    A doubt of 1 is Laplace's rule of succession.

    A new leader can therefore be chosen, and one answer does not outweigh a long record. With a
    doubt of 4, the share is 4/8 for no results, 5/9 for one success, 104/108 for 100 successes.
    """
    return (sum(results) + doubt) / (len(results) + 2 * doubt)


# --- Events


async def _read_closings(package: PackageClient, after: Cursor | None) -> list[_Closing]:
    """Return the results of leaders from events, oldest first."""
    kinds = (InvocationRequested, InvocationSettled, InvocationFailed, InvocationExpired)
    requests: dict[Address, InvocationRequested] = {}
    closings: list[_Closing] = []
    records = past_events(package.client, event_filter(package.deployment, *kinds), after)
    async for record in records:
        match parse_event(package.deployment, record.event):
            case InvocationRequested() as requested:
                requests[requested.invocation] = requested
            case InvocationSettled() | InvocationFailed() | InvocationExpired() as closed:
                request = requests.pop(closed.invocation, None)
                # If anyone may close the invocation, the closing is not evidence about a leader.
                if request is None or not request.is_closable_by_anyone:
                    closings += _closings(closed, request)
    return closings


def _closings(
    closed: InvocationSettled | InvocationFailed | InvocationExpired,
    request: InvocationRequested | None,
) -> Iterable[_Closing]:
    """Yield the results of an invocation's leaders from the event that closed it.

    `request` is None if the request is older than the cursor. The leaders that missed the
    invocation are unknown in this case.
    """
    pair = closed.requester, closed.tool
    if isinstance(closed, InvocationExpired):
        missed = closed.leaders
    else:
        missed = request.leaders[: request.leaders.index(closed.leader)] if request else ()
    for leader in missed:
        yield _Closing(leader, *pair, _Kind.MISSED)
    if isinstance(closed, InvocationSettled):
        took_ms = closed.settled_at_ms - request.requested_at_ms if request else None
        yield _Closing(closed.leader, *pair, _Kind.SETTLED, took_ms)
    elif isinstance(closed, InvocationFailed) and closed.reason in _OWN_FAILURES:
        yield _Closing(closed.leader, *pair, _Kind.FAILED)
