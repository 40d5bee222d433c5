"""The part of a Leader that shares the work with other processes of the same leader."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from heapq import heapify, heappop, heappush

from nexus_tools.errors import NexusError
from nexus_tools.leader.chain.assignment import Assignment
from nexus_tools.leader.chain.chain import Chain
from nexus_tools.leader.chain.clock import ChainClock
from nexus_tools.leader.chain.closure import ClosureKind
from nexus_tools.leader.closing.workers import Workers
from nexus_tools.leader.config import LeaderConfig
from nexus_tools.leader.fleet.claim_loop import ClaimLoop
from nexus_tools.leader.fleet.fleet_journal import FleetJournal
from nexus_tools.leader.fleet.holding import Holding
from nexus_tools.leader.fleet.listener import Listener
from nexus_tools.leader.holder import Holder, OpenInvocations
from nexus_tools.leader.journal.invocation_rows import Entry
from nexus_tools.leader.journal.journal import Journal
from nexus_tools.leader.journal.postgres_url import PostgresUrl
from nexus_tools.leader.metrics import FleetMetrics
from nexus_tools.leader.workload import Workload
from nexus_tools.sui.types.address import Address


class FleetInvocations:
    """The open invocations of all processes, of which the holder learns from events."""

    def __init__(self, workload: Workload, clock: ChainClock) -> None:
        self._workload = workload
        self._clock = clock
        self._open: set[bytes] = set()
        self._expiries: list[tuple[int, bytes]] = []

    async def resume(self, entries: Iterable[Entry]) -> None:
        """Replace the invocations. The processes claim them from the journal."""
        self._expiries = [
            (entry.assignment.expires_at_ms, entry.assignment.invocation) for entry in entries
        ]
        heapify(self._expiries)
        self._open = {invocation for _, invocation in self._expiries}

    async def start(self, assignments: Iterable[Assignment]) -> None:
        """Add invocations, and forget those that have expired."""
        for assignment in assignments:
            self._open.add(assignment.invocation)
            heappush(self._expiries, (assignment.expires_at_ms, assignment.invocation))
        now_ms = self._clock.now_ms()
        while self._expiries and self._expiries[0][0] < now_ms:
            self._open.discard(heappop(self._expiries)[1])

    def drop(self, closed: Mapping[Address, ClosureKind]) -> None:
        """Forget closed invocations, and end their tasks in this process."""
        self._open -= closed.keys()
        self._workload.drop(closed)

    def is_tracked(self, subject: bytes) -> bool:
        """Return whether an ID is an open invocation."""
        return subject in self._open


class Fleet:
    """The lease, the claims and the holding of this process.

    `started` is set at the start, because a process need not be the holder. `resumed` is 0, because
    the claims do not distinguish new invocations from those of former processes.
    """

    def __init__(
        self,
        journal: FleetJournal,
        clock: ChainClock,
        holder: Holder,
        *,
        claims: ClaimLoop,
        holding: Holding,
        listener: Listener,
        metrics: FleetMetrics,
    ) -> None:
        self._journal = journal
        self._clock = clock
        self._holder = holder
        self._claims = claims
        self._holding = holding
        self._listener = listener
        self._metrics = metrics
        self._intake: list[asyncio.Task[None]] = []
        self._releasing: asyncio.Task[None] | None = None
        self.started = asyncio.Event()
        self.resumed = 0

    def problems(self) -> dict[str, str]:
        """Return the current problems by component."""
        return self._holder.problems() if self._holder.started.is_set() else {}

    async def run(self) -> None:
        """Renew the lease, claim invocations, and become the holder if possible."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._beat())
            group.create_task(self._listener.run())
            self._intake = [
                group.create_task(self._claims.run()),
                group.create_task(self._holding.run()),
            ]
            self.started.set()

    async def stop(self) -> None:
        """Stop claiming and holding, so that other processes continue at once."""
        for task in self._intake:
            task.cancel()
        if self._intake:
            await asyncio.wait(self._intake)
        # If PostgreSQL does not respond, the stop must not wait for it.
        self._releasing = asyncio.create_task(self._release())

    async def _release(self) -> None:
        with suppress(NexusError):
            await self._journal.release()

    async def _beat(self) -> None:
        while True:
            beat = await self._journal.beat(self._clock.now_ms())
            self._metrics.processes.set(beat.processes)
            self._metrics.poisonous.set(beat.poisonous)
            await asyncio.sleep(self._journal.member.beat_s)


def fleet_of(
    config: LeaderConfig,
    journal: Journal,
    workload: Workload,
    *,
    chain: Chain,
    clock: ChainClock,
    workers: Workers,
    metrics: FleetMetrics,
    holder_of: Callable[[OpenInvocations], Holder],
) -> Fleet:
    """Return the fleet of a journal in PostgreSQL."""
    assert isinstance(journal, FleetJournal)
    assert isinstance(config.journal, PostgresUrl)
    metrics.beat_age_seconds.set_function(lambda: journal.beat_age_s)
    journal.on_unowned_closed = workload.count_closed
    journal.is_ready = lambda: not chain.is_cut_off and workers.can_close
    holder = holder_of(FleetInvocations(workload, clock))
    claims = ClaimLoop(
        journal,
        workload,
        chain,
        clock,
        metrics,
        max_calls=config.max_concurrent,
        max_per_tool=config.max_concurrent_per_tool,
    )
    holding = Holding(journal, holder, metrics)
    listener = Listener(config.journal, journal.worker.hex, claims.wake.set)
    return Fleet(
        journal,
        clock,
        holder,
        claims=claims,
        holding=holding,
        listener=listener,
        metrics=metrics,
    )
