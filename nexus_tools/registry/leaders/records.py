"""Leader records, as events tell them, and the choice of leaders by them."""

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
"""How far back records are read to choose: some hours on a network that makes four a second."""

MAX_NAMED = 2
"""How many leaders an invocation names at most."""

_UNKNOWN = 1 / 2
_LEAST_WEIGHT = 1 / 4
_OWN_WEIGHT = 2
_OWN_DOUBT = 1
# With four, as many bought votes as 5 SUI lock the collateral of do not decide.
_DOUBT = 4

# Any other failure may be the fault of the tool or of its requester.
_OWN_FAILURES = {FailureReason.REFUSED, FailureReason.OVERLOADED}


class LeaderRecord(Struct, frozen=True):
    """The invocations that a leader settled, failed, or missed.

    Each pair of requester and tool counts once, by its latest closing. A failure counts if it is
    the leader's own: it refused, or was overloaded. An invocation is missed if it expired, or if a
    leader after this one closed it. `latency_ms` is the median time from request to answer; None if
    the leader settled nothing. `reliability` is its share of answers, between 0 and 1. A record is
    cheap to make with one's own tools, so it is weak evidence.
    """

    settled: int = 0
    failed: int = 0
    missed: int = 0
    latency_ms: int | None = None
    reliability: float = _UNKNOWN


class Histories(Struct, frozen=True):
    """The records of leaders with all requesters, and how reliable each was for the caller."""

    records: Mapping[Address, LeaderRecord] = {}
    own: Mapping[Address, float] = {}


class _Kind(Enum):
    SETTLED = auto()
    FAILED = auto()
    MISSED = auto()


class _Closing(Struct, frozen=True):
    """The result of one leader in one invocation; `took_ms` if that settled it."""

    leader: Address
    requester: Address
    tool: Address
    kind: _Kind
    took_ms: int | None = None


async def read_records(
    package: PackageClient, after: Cursor | None = None
) -> dict[Address, LeaderRecord]:
    """Return the records of all leaders that events name, since a cursor or from the beginning."""
    return _records(await _read_closings(package, after))


async def read_histories(package: PackageClient, after: Cursor | None = None) -> Histories:
    """Return the records, and the reliability for the wallet of this client."""
    closings, caller = await _read_closings(package, after), _caller(package)
    own = defaultdict[Address, list[bool]](list)
    for closing in closings:
        if closing.requester == caller:
            own[closing.leader].append(closing.kind is _Kind.SETTLED)
    return Histories(
        _records(closings),
        {leader: _succession(results, _OWN_DOUBT) for leader, results in own.items()},
    )


async def draw_leaders(package: PackageClient, leaders: Sequence[Leader]) -> tuple[Address, ...]:
    """Choose one or two of these leaders by the last `RECENT_CHECKPOINTS`."""
    start = await package.client.latest_checkpoint() - RECENT_CHECKPOINTS
    after = Cursor.after_checkpoint(start) if start > 0 else None
    return choose_leaders(leaders, await read_histories(package, after))


def choose_leaders(
    leaders: Sequence[Leader], histories: Histories, random: Random | None = None
) -> tuple[Address, ...]:
    """Draw one or two of these leaders, the more reliable ones more often; none of none.

    The caller's own experience weighs from 0 to 2, in proportion to the reliability. Without it, a
    record weighs from 1/4 to 1: records can be bought, so no record makes a leader more than four
    times as likely as another one.
    """
    random = random or SystemRandom()
    left = {leader.id: _weight(leader.id, histories) for leader in leaders}
    chosen: list[Address] = []
    while left and len(chosen) < MAX_NAMED:
        drawn = random.choices([*left], [*left.values()])[0]
        chosen.append(drawn)
        del left[drawn]
    return tuple(chosen)


def _weight(leader: Address, histories: Histories) -> float:
    own = histories.own.get(leader)
    if own is not None:
        return _OWN_WEIGHT * own
    reliability = histories.records.get(leader, LeaderRecord()).reliability
    return _LEAST_WEIGHT + (1 - _LEAST_WEIGHT) * reliability


def _caller(package: PackageClient) -> Address | None:
    try:
        return package.client.address
    except NotAllowedError:  # `signer_missing`: the client only reads
        return None


def _records(closings: Iterable[_Closing]) -> dict[Address, LeaderRecord]:
    latest = defaultdict[Address, dict[tuple[Address, Address], _Closing]](dict)
    for closing in closings:
        latest[closing.leader][closing.tool, closing.requester] = closing
    return {leader: _record([*pairs.values()]) for leader, pairs in latest.items()}


def _record(pairs: Sequence[_Closing]) -> LeaderRecord:
    by_tool = defaultdict[Address, list[bool]](list)
    for each in pairs:
        by_tool[each.tool].append(each.kind is _Kind.SETTLED)
    counts = Counter(each.kind for each in pairs)
    latencies = [each.took_ms for each in pairs if each.took_ms is not None]
    return LeaderRecord(
        counts[_Kind.SETTLED],
        counts[_Kind.FAILED],
        counts[_Kind.MISSED],
        latency_ms=round(median(latencies)) if latencies else None,
        # Addresses cost nothing, and tools do: each tool has one vote, however many call it.
        reliability=_succession([sum(each) / len(each) for each in by_tool.values()], _DOUBT),
    )


def _succession(results: Sequence[float], doubt: int) -> float:
    """Return (successes + doubt) / (all + 2 doubt): Laplace's rule of succession if doubt is 1.

    A newcomer is chosen, too, and one lucky answer does not outweigh a long record.
    """
    return (sum(results) + doubt) / (len(results) + 2 * doubt)


# --- Events


async def _read_closings(package: PackageClient, after: Cursor | None) -> list[_Closing]:
    """Return what events tell of leaders, the oldest first."""
    kinds = (InvocationRequested, InvocationSettled, InvocationFailed, InvocationExpired)
    requests: dict[Address, InvocationRequested] = {}
    closings: list[_Closing] = []
    asked = past_events(package.client, event_filter(package.deployment, *kinds), after)
    async for record in asked:
        match parse_event(package.deployment, record.event):
            case InvocationRequested() as requested:
                requests[requested.invocation] = requested
            case InvocationSettled() | InvocationFailed() | InvocationExpired() as closed:
                request = requests.pop(closed.invocation, None)
                # If anyone may close it, a closing says nothing about a leader.
                if request is None or not request.is_for_anyone:
                    closings += _closings(closed, request)
    return closings


def _closings(
    closed: InvocationSettled | InvocationFailed | InvocationExpired,
    request: InvocationRequested | None,
) -> Iterable[_Closing]:
    """Yield what an event tells of the leaders of an invocation.

    Without the `request`, which came before the cursor, nothing is known of the leaders before.
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
