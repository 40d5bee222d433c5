"""The random choice of leaders for an invocation or an execution, at a cost with a fixed bound.

The candidates are random leaders, and leaders that answered the caller's newest requests. Other
accounts can register many leaders, but only the caller signs the caller's requests.
"""

import time
from collections.abc import Sequence
from random import SystemRandom
from typing import TypeVar

from msgspec import Struct

from nexus_tools.contracts import PackageClient, leader_id
from nexus_tools.contracts.move_bindings.leader import Leader
from nexus_tools.contracts.move_bindings.leader_registry import LeaderRegistry
from nexus_tools.registry.leaders.closings import Result
from nexus_tools.registry.leaders.records import (
    MAX_LEADERS_PER_INVOCATION,
    RecordReader,
    choose_leaders,
)
from nexus_tools.sui.types.address import Address

T = TypeVar("T")

MAX_RANDOM = 16
"""The maximum number of random leaders whose records are compared for a choice."""

MAX_KNOWN = 4
"""The maximum number of further candidates that answered the caller's newest requests."""

MAX_DRAWN = 200
"""The maximum number of leaders that are read to find `MAX_RANDOM` usable leaders."""

READ_LIMIT_S = 0.3
"""The time limit for reading closings, in seconds. Records that are not read count as unknown."""

_BATCH = 50  # The number of leaders in one request.


class LeaderChoice(Struct, frozen=True):
    """One or two leaders in order of preference, or none, and the evidence for the choice.

    The leaders were drawn at random from `candidates` leaders, whose records count `closings`
    closings. At most `MAX_RANDOM` candidates are random, and at most `MAX_KNOWN` answered the
    caller's newest requests. The records of `unread` candidates were not read in time and count as
    unknown. If the caller named the leaders, all three numbers are 0.
    """

    leaders: tuple[Address, ...]
    candidates: int = 0
    closings: int = 0
    unread: int = 0


class LeaderSelection:
    """A selection of leaders that keeps the closings that it read for a minute."""

    def __init__(self, package: PackageClient) -> None:
        self._package = package
        self._records = RecordReader(package)

    async def first_usable(self, named: Sequence[Address]) -> LeaderChoice:
        """Choose the first active leaders among leaders that the caller named."""
        found = await self._package.find_all(named, Leader)
        active = [leader.id for leader in found if leader is not None and leader.is_active]
        return LeaderChoice(tuple(active[:MAX_LEADERS_PER_INVOCATION]))

    async def draw(self, accepted: Sequence[Address] | None = None) -> LeaderChoice:
        """Choose from candidates among the accepted leaders, weighted by their records.

        None accepts each leader of the registry. The choice is empty if no known leader and none of
        the `MAX_DRAWN` leaders that were drawn is active and has a worker.
        """
        drawn = _drawn(accepted) if accepted is not None else await self._drawn_from_registry()
        start_s = time.monotonic()
        # If at most `MAX_RANDOM` leaders are drawn, the known leaders are among them.
        known = await self._known(accepted) if len(drawn) > MAX_RANDOM else []
        limit_s = READ_LIMIT_S - (time.monotonic() - start_s)
        candidates = await self._usable(known, MAX_KNOWN)
        familiar = {leader.id for leader in candidates}
        others = [leader for leader in drawn if leader not in familiar]
        candidates += await self._usable(others, MAX_RANDOM)
        if len(candidates) <= 1:
            return LeaderChoice(tuple(leader.id for leader in candidates), len(candidates))
        histories = await self._records.read(candidates, limit_s=limit_s)
        chosen = choose_leaders(candidates, histories)
        return LeaderChoice(chosen, len(candidates), histories.closings, histories.unread)

    async def _known(self, accepted: Sequence[Address] | None) -> list[Address]:
        """Return the accepted leaders that answered the caller's newest requests, newest first."""
        closings = await self._records.read_own(READ_LIMIT_S / 2)
        answered = dict.fromkeys(
            closing.leader for closing in closings if closing.result is Result.SETTLED
        )
        return [leader for leader in answered if accepted is None or leader in accepted]

    async def _usable(self, ids: Sequence[Address], limit: int) -> list[Leader]:
        """Return the first `limit` usable leaders among these leaders."""
        usable: list[Leader] = []
        for start in range(0, len(ids), _BATCH):
            found = await self._package.find_all(ids[start : start + _BATCH], Leader)
            usable += [leader for leader in found if leader is not None and _is_usable(leader)]
            if len(usable) >= limit:
                break
        return usable[:limit]

    async def _drawn_from_registry(self) -> list[Address]:
        """Return the IDs of random leaders. The ID of a leader derives from its index."""
        registry = self._package.deployment.leader_registry
        length = (await self._package.read(registry, LeaderRegistry)).length
        return [leader_id(registry, index) for index in _drawn(range(length))]


def _drawn(population: Sequence[T]) -> list[T]:
    return SystemRandom().sample(population, min(len(population), MAX_DRAWN))


def _is_usable(leader: Leader) -> bool:
    return leader.is_active and bool(leader.workers.entries)
