"""What leaders did, as events tell it, and the choice among them."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from random import Random, SystemRandom
from statistics import median

from msgspec import Struct

from nexus_tools.client import Cursor, past_events
from nexus_tools.package import PackageClient, event_filter, parse_event
from nexus_tools.package.move.invocation import (
    InvocationExpired,
    InvocationFailed,
    InvocationRequested,
    InvocationSettled,
)
from nexus_tools.package.move.leader import Leader
from nexus_tools.sui.address import Address
from nexus_tools.tool import FailureReason

RECENT_CHECKPOINTS = 100_000
"""How far back records are read to choose: some hours on a network that makes four a second."""

MAX_NAMED = 2
"""How many leaders an invocation names at most."""


class LeaderRecord(Struct, frozen=True):
    """What a leader did with the invocations that named it.

    It missed those that expired, and those that a leader after it closed. Failures for inputs that
    do not fit are their requesters' and not counted. `latency_ms` is the median time from request
    to answer; None if it settled nothing. A record is cheap to make with tools of one's own, so it
    is weak evidence.
    """

    settled: int = 0
    failed: int = 0
    missed: int = 0
    latency_ms: int | None = None

    @property
    def reliability(self) -> float:
        """The share of invocations that it settled; one half of whom nothing is known yet.

        Laplace's rule of succession: (settled + 1) / (all + 2), so that a newcomer is chosen, too,
        and one lucky answer does not outweigh a long record.
        """
        return (self.settled + 1) / (self.settled + self.failed + self.missed + 2)


async def read_records(
    package: PackageClient, after: Cursor | None = None
) -> dict[Address, LeaderRecord]:
    """The records of all leaders that events name, since a cursor or as far as the node knows."""
    kinds = (InvocationRequested, InvocationSettled, InvocationFailed, InvocationExpired)
    named: dict[Address, InvocationRequested] = {}
    settled: Counter[Address] = Counter()
    failed: Counter[Address] = Counter()
    missed: Counter[Address] = Counter()
    latencies: defaultdict[Address, list[int]] = defaultdict(list)
    asked = past_events(package.client, event_filter(package.deployment, *kinds), after)
    async for record in asked:
        match parse_event(package.deployment, record.event):
            case InvocationRequested() as requested:
                named[requested.invocation] = requested
            case InvocationExpired() as expired:
                request = named.pop(expired.invocation, None)
                if request is None or not request.is_for_anyone:
                    missed.update(expired.leaders)
            case InvocationFailed(reason=FailureReason.INPUT_INVALID) as closed:
                named.pop(closed.invocation, None)
            case InvocationSettled() | InvocationFailed() as closed:
                request = named.pop(closed.invocation, None)
                if request is not None and request.is_for_anyone:
                    continue  # whoever closes it, that says nothing of a leader
                (settled if isinstance(closed, InvocationSettled) else failed)[closed.leader] += 1
                if request is None:
                    continue  # it was requested before the cursor
                missed.update(request.leaders[: request.leaders.index(closed.leader)])
                if isinstance(closed, InvocationSettled):
                    took_ms = closed.settled_at_ms - request.requested_at_ms
                    latencies[closed.leader].append(took_ms)
    return {
        leader: LeaderRecord(
            settled[leader],
            failed[leader],
            missed[leader],
            round(median(latencies[leader])) if latencies[leader] else None,
        )
        for leader in {*settled, *failed, *missed}
    }


async def recent_records(package: PackageClient) -> dict[Address, LeaderRecord]:
    """The records of the last `RECENT_CHECKPOINTS`."""
    latest = await package.client.latest_checkpoint()
    start = latest - RECENT_CHECKPOINTS
    return await read_records(package, Cursor.after_checkpoint(start) if start > 0 else None)


def choose_leaders(
    leaders: Sequence[Leader],
    records: Mapping[Address, LeaderRecord],
    random: Random | None = None,
) -> tuple[Address, ...]:
    """One or two of these leaders, drawn by how reliable each was; none of none."""
    random = random or SystemRandom()
    left = {leader.id: records.get(leader.id, LeaderRecord()).reliability for leader in leaders}
    chosen: list[Address] = []
    while left and len(chosen) < MAX_NAMED:
        drawn = random.choices([*left], [*left.values()])[0]
        chosen.append(drawn)
        del left[drawn]
    return tuple(chosen)
