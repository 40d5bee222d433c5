"""Fixtures for tests of several processes that share a journal in PostgreSQL."""

import asyncio
import json
from collections import Counter
from contextlib import AsyncExitStack
from itertools import count

import pytest

from nexus_tools.leader import Leader
from nexus_tools.leader import leader as leader_module
from nexus_tools.leader.chain.assignment import Assignment
from nexus_tools.leader.fleet.fleet_journal import FleetJournal
from nexus_tools.leader.journal import group_commit
from nexus_tools.leader.journal.lease import Member
from nexus_tools.sui.types.address import Address

TIMEOUT_S = 60
IDENTITY = "chain package leader"
TOOL = Address.of(0x7001)


@pytest.fixture(autouse=True)
def short_delays(monkeypatch):
    monkeypatch.setattr(group_commit, "_RETRY_DELAY_S", 0.01)


class Fleet:
    """Journals of several processes in one schema."""

    def __init__(self, server):
        self.server = server
        self.location = server.new_location()
        self.journals = []

    async def join(self, *keys, identity=IDENTITY, **terms):
        member = Member(keys, **terms)
        self.journals.append(await FleetJournal.join(self.location, identity, member))
        return self.journals[-1]

    def execute(self, statement, values=()):
        return self.server.execute(statement, values, schema=self.location.schema)

    def age(self, worker, seconds, column="seen_at"):
        """Set a time of a lease to `seconds` ago."""
        statement = f"UPDATE workers SET {column} = now() - make_interval(secs => %s)"
        self.execute(f"{statement} WHERE worker = %s", (seconds, worker))

    def leases(self):
        return {worker for (worker,) in self.execute("SELECT worker FROM workers")}

    def owners(self):
        """Return the lease that owns each invocation, by the number of the invocation."""
        rows = self.execute("SELECT invocation, worker FROM invocations")
        return {int.from_bytes(invocation, "big"): worker for invocation, worker in rows}

    def column(self, name):
        """Return a column by the number of the invocation."""
        rows = self.execute(f"SELECT invocation, {name} FROM invocations")
        return {int.from_bytes(invocation, "big"): value for invocation, value in rows}


@pytest.fixture
async def fleet(postgres):
    members = Fleet(postgres)
    yield members
    for journal in members.journals:
        await journal.close()
    assert members.journals == [] or members.leases() == set()


def make_assignment(number, *, tool=TOOL, opens_at_ms=1_000):
    window = (opens_at_ms, opens_at_ms + 1_000, opens_at_ms + 2_000)
    return Assignment(Address.of(number), tool, "xyz.example.math.add@1", 0, *window, 500, 100)


@pytest.fixture
def assignment_of():
    return make_assignment


@pytest.fixture
def claim():
    """Return a function that claims invocations and returns their numbers."""

    async def claim(journal, now_ms=1_000, *, limit=1_000, held=None, most=1_000):
        claimed = await journal.claim(now_ms, limit, held or {}, most)
        return [int.from_bytes(entry.assignment.invocation, "big") for entry in claimed.entries]

    return claim


# --- Whole processes


class Calls:
    """An application that adds two numbers. It counts requests by the first one, and can wait."""

    def __init__(self):
        self.counts = Counter()
        self.gate = asyncio.Event()
        self.gate.set()
        self._changed = asyncio.Condition()

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            return
        body = json.loads((await receive())["body"])
        async with self._changed:
            self.counts[body["a"]] += 1
            self._changed.notify_all()
        await self.gate.wait()
        answer = json.dumps({"ok": {"result": body["a"] + body["b"]}}).encode()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": answer})

    async def wait_for(self, count):
        async with asyncio.timeout(TIMEOUT_S), self._changed:
            await self._changed.wait_for(lambda: self.counts.total() >= count)


@pytest.fixture
def calls():
    return Calls()


@pytest.fixture
async def registered(world, serve_app, calls, add_definition):
    yield await world.register_tool(add_definition(await serve_app(calls)))
    calls.gate.set()


@pytest.fixture(autouse=True)
def short_times(monkeypatch):
    """Make processes renew often, hold until a test changes it, and have different names."""
    names = (f"machine:{number}" for number in count(1))

    def member(addresses):
        return Member(addresses, beat_s=1.0, hold_s=TIMEOUT_S, name=next(names))

    monkeypatch.setattr(leader_module, "Member", member)


class Process:
    """A Leader that may be stopped or killed."""

    def __init__(self, leader):
        self.leader = leader
        self.task = asyncio.create_task(leader.run())

    @property
    def journal(self):
        return self.leader._parts.journal

    @property
    def worker(self):
        return self.journal.worker

    def metric(self, name, labels=None):
        return self.leader.metrics.registry.get_sample_value(f"nexus_leader_{name}", labels)

    async def stop(self):
        self.leader.stop()
        await self.task

    async def kill(self):
        """End all tasks and the connection, without ending the lease. Return the lease."""
        worker = self.worker
        self.journal._store._leave = lambda _: None
        self.task.cancel()
        await asyncio.wait({self.task})
        return worker


class Processes:
    """The processes of one leader, each with its own worker."""

    def __init__(self, world, fleet, identity, stack):
        self.world = world
        self.fleet = fleet
        self.identity = identity
        self._stack = stack
        self._running = []

    async def start(self, key=None, **changes):
        key = key or await self.world.new_worker(self.identity)
        process = await self.begin(key, **changes)
        async with asyncio.timeout(TIMEOUT_S):
            await process.leader.ready.wait()
        return process

    async def begin(self, key, *, url=None, **changes):
        """Start a process, but do not wait until it is ready."""
        connecting = self.world.client_at(url or self.world.localnet.url)
        client = await self._stack.enter_async_context(connecting)
        settings = {
            "journal": self.fleet.location,
            "heartbeat_interval_ms": 20,
            "check_meta": False,
        }
        config = self.world.config(self.identity, **settings, **changes)
        leader = Leader(config, client, [key], self.world.deployment, self.identity.id)
        self._running.append(Process(leader))
        return self._running[-1]

    async def stop(self):
        for process in self._running:
            if not process.task.done():
                await process.stop()

    async def wait_for_holder(self, log):
        """Wait until a process holds the intake, and return it."""
        await log.wait_for("holding_started", len(log.named("holding_ended")) + 1)
        name = log.named("holding_started")[-1]["process"]
        running = [process for process in self._running if process.leader._parts is not None]
        return next(process for process in running if process.journal.member.name == name)

    def make_holder(self, worker):
        """Make the other processes stop holding the intake."""
        statement = "UPDATE holder SET worker = %s, until = now() + interval '1 minute'"
        self.fleet.execute(statement, (worker,))

    def declare_dead(self, worker):
        """Make the other processes end a lease, as if it were old."""
        self.fleet.execute("UPDATE workers SET steady_since = now() - interval '1 minute'")
        self.fleet.age(worker, 60)
        self.fleet.execute(
            "UPDATE holder SET until = now() - interval '1 minute' WHERE worker = %s", (worker,)
        )


@pytest.fixture
async def processes(world, fleet):
    async with AsyncExitStack() as stack:
        processes = Processes(world, fleet, await world.new_leader(), stack)
        yield processes
        await processes.stop()
