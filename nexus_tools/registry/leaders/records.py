"""Track records of leaders, and the choice of leaders by these records.

The cost of a record does not depend on the history of the chain: `closings.py` reads the newest
events of each leader. Anyone can fake closings with own tools and accounts, so a record is weak
evidence, and the weights limit its effect.
"""

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Coroutine, Hashable, Iterable, Mapping, Sequence
from random import Random, SystemRandom
from statistics import median
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from nexus_tools.contracts import PackageClient
from nexus_tools.contracts.move_bindings.leader import Leader
from nexus_tools.errors import NexusError, NotAllowedError
from nexus_tools.registry.leaders.closings import (
    Closing,
    Result,
    read_closings,
    read_own_closings,
)
from nexus_tools.sui.types.address import Address

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

MAX_LEADERS_PER_INVOCATION = 2
"""The maximum number of leaders that an invocation can name."""

CACHE_S = 60.0
"""The time for which a `RecordReader` uses closings again, in seconds."""

_MAX_READ_S = 1.0  # The time for one read of events if no limit applies to all reads together.
_PARALLEL = 50  # The number of leaders that are read at once.
_UNKNOWN = 1 / 2
_LEAST_WEIGHT = 1 / 4
_OWN_WEIGHT = 2
_OWN_DOUBT = 1
# With a doubt of 4, a leader's own tools with a total collateral of 5 SUI do not decide its record.
_DOUBT = 4


class LeaderRecord(Struct, frozen=True):
    """The numbers of invocations that a leader settled, failed or missed.

    `settled` and `failed` count the newest closings that the leader's present workers signed. For
    each pair of requester and tool, only the latest closing counts. A failure counts only if the
    leader caused it by a refusal or overload. `missed` counts the tools for which the leader missed
    the caller's latest invocation, because the invocation expired or the backup leader closed it.
    `latency_ms` is the median time from request to answer, or None if it is unknown. `reliability`
    is the smoothed share of answers in `settled` and `failed`, between 0 and 1. A leader can
    cheaply improve its record with its own tools, so the record is weak evidence.
    """

    settled: int = 0
    failed: int = 0
    missed: int = 0
    latency_ms: int | None = None
    reliability: float = _UNKNOWN


class LeaderHistories(Struct, frozen=True):
    """The records of leaders, and their reliability for only the caller.

    A leader without any closing has no record. `unread` is the number of leaders whose closings
    were not read, because the time was over or the node does not have an event index.
    """

    records: Mapping[Address, LeaderRecord] = {}
    own_reliability: Mapping[Address, float] = {}
    unread: int = 0

    @property
    def closings(self) -> int:
        """The number of closings that the records count."""
        return sum(found.settled + found.failed + found.missed for found in self.records.values())


async def read_histories(
    package: PackageClient,
    leaders: Sequence[Leader],
    caller: Address | None = None,
    limit_s: float | None = None,
) -> LeaderHistories:
    """Return the histories of leaders as `RecordReader.read` does.

    The leaders are read in groups, and the time limit applies to each group.
    """
    reader = RecordReader(package)
    records: dict[Address, LeaderRecord] = {}
    own_reliability: dict[Address, float] = {}
    unread = 0
    for start in range(0, len(leaders), _PARALLEL):
        group = await reader.read(leaders[start : start + _PARALLEL], caller, limit_s)
        records |= group.records
        own_reliability |= group.own_reliability
        unread += group.unread
    return LeaderHistories(records, own_reliability, unread)


class RecordReader:
    """A reader of the records of leaders that keeps closings for `CACHE_S`."""

    def __init__(self, package: PackageClient) -> None:
        self._package = package
        self._cache: dict[Hashable, tuple[float, tuple[Closing, ...]]] = {}

    async def read(
        self,
        leaders: Sequence[Leader],
        caller: Address | None = None,
        limit_s: float | None = None,
    ) -> LeaderHistories:
        """Return the records of leaders, and their reliability for a caller.

        The default caller is the wallet, if the client has a key. All reads run concurrently.
        Closings that are not read within `limit_s` seconds, or whose read fails, are unknown.
        """
        caller = caller or _wallet(self._package)
        max_read_s = _MAX_READ_S if limit_s is None else limit_s / 2
        reads: dict[Hashable, Coroutine[Any, Any, tuple[Closing, ...]]] = {}
        if caller is not None:
            reads[caller] = read_own_closings(self._package, caller, max_read_s)
        for leader in leaders:
            key = leader.id, leader.workers.entries
            reads[key] = read_closings(self._package, leader, max_read_s)
        known = await self._read(reads, limit_s)
        ids = {leader.id for leader in leaders}
        own = [closing for closing in known.pop(caller, ()) if closing.leader in ids]
        closings = [closing for found in known.values() for closing in found]
        return replace(_histories(closings, own, caller), unread=len(ids) - len(known))

    async def read_own(self, limit_s: float) -> tuple[Closing, ...]:
        """Return the results of the wallet's newest closed requests, newest first.

        The result is empty if the client has no key, if the read fails, or if it takes more than
        `limit_s` seconds.
        """
        caller = _wallet(self._package)
        if caller is None:
            return ()
        reads = {caller: read_own_closings(self._package, caller, limit_s / 2)}
        return (await self._read(reads, limit_s)).get(caller, ())

    async def _read(
        self,
        reads: Mapping[K, Coroutine[Any, Any, tuple[Closing, ...]]],
        limit_s: float | None,
    ) -> dict[K, tuple[Closing, ...]]:
        """Return the results that are cached or that are read in time."""
        now = time.monotonic()
        self._cache = {key: kept for key, kept in self._cache.items() if now - kept[0] < CACHE_S}
        missing = {}
        for key, read in reads.items():
            if key in self._cache:
                read.close()
            else:
                missing[key] = read
        for key, closings in (await _finished(missing, limit_s)).items():
            self._cache[key] = now, closings
        return {key: self._cache[key][1] for key in reads if key in self._cache}


async def _finished(reads: Mapping[K, Coroutine[Any, Any, T]], limit_s: float | None) -> dict[K, T]:
    """Return the results of the reads that succeed within a limit, and cancel the other reads."""
    if not reads:
        return {}
    tasks = {key: asyncio.create_task(read) for key, read in reads.items()}
    try:
        await asyncio.wait(tasks.values(), timeout=limit_s)
    finally:
        for task in tasks.values():
            task.cancel()
        results = await asyncio.gather(*tasks.values(), return_exceptions=True)
    finished: dict[K, T] = {}
    for key, result in zip(tasks, results, strict=True):
        if isinstance(result, NexusError | asyncio.CancelledError):
            continue
        if isinstance(result, BaseException):
            raise result
        finished[key] = result
    return finished


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


def _wallet(package: PackageClient) -> Address | None:
    try:
        return package.client.address
    except NotAllowedError:  # `signer_missing`: the client is read-only
        return None


def _histories(
    closings: Sequence[Closing], own: Sequence[Closing], caller: Address | None
) -> LeaderHistories:
    """Return the histories from the closings of leaders and from the results of own requests.

    Both are sorted, newest first.
    """
    by_leader, own_by_leader = _by_leader(closings), _by_leader(own)
    used = defaultdict[Address, dict[Address, bool]](dict)
    # The closings of leaders include the steps of the caller's executions.
    for closing in (*closings, *own):
        if closing.requester == caller:
            used[closing.leader][closing.invocation] = closing.result is Result.SETTLED
    return LeaderHistories(
        {
            leader: _record(by_leader[leader], own_by_leader[leader])
            for leader in (*by_leader, *own_by_leader)
        },
        {
            leader: _smoothed_share([*results.values()], _OWN_DOUBT)
            for leader, results in used.items()
        },
    )


def _by_leader(closings: Iterable[Closing]) -> defaultdict[Address, list[Closing]]:
    by_leader = defaultdict[Address, list[Closing]](list)
    for closing in closings:
        by_leader[closing.leader].append(closing)
    return by_leader


def _latest(closings: Iterable[Closing]) -> list[Closing]:
    """Return the latest closing of each pair of requester and tool."""
    pairs: dict[tuple[Address, Address], Closing] = {}
    for closing in closings:
        pairs.setdefault((closing.tool, closing.requester), closing)
    return [*pairs.values()]


def _record(closings: Sequence[Closing], own: Sequence[Closing]) -> LeaderRecord:
    """Return the record of one leader."""
    pairs = _latest(closings)
    by_tool = defaultdict[Address, list[bool]](list)
    for closing in pairs:
        by_tool[closing.tool].append(closing.result is Result.SETTLED)
    counts = Counter(closing.result for closing in pairs)
    latencies = [found.latency_ms for found in pairs if found.latency_ms is not None]
    return LeaderRecord(
        counts[Result.SETTLED],
        counts[Result.FAILED],
        sum(closing.result is Result.MISSED for closing in _latest(own)),
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
