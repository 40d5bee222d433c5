"""A journal in PostgreSQL while connections are cut, and while the server is away."""

import asyncio
from contextlib import asynccontextmanager
from types import SimpleNamespace
from urllib.parse import quote

import psycopg
import pytest
from psycopg.waiting import Ready, Wait

from nexus_tools.errors import NexusError
from nexus_tools.leader.assembly import open_journal
from nexus_tools.leader.chain.assignment import Assignment
from nexus_tools.leader.chain.closure import ClosureKind
from nexus_tools.leader.fleet import listener
from nexus_tools.leader.fleet.fleet_journal import FleetJournal
from nexus_tools.leader.fleet.listener import Listener
from nexus_tools.leader.journal import group_commit, postgres_connection
from nexus_tools.leader.journal.journal import AuthorAccount
from nexus_tools.leader.journal.lease import LeaseLostError, Member
from nexus_tools.leader.journal.postgres_connection import connection_parameters
from nexus_tools.leader.journal.postgres_url import PostgresUrl
from nexus_tools.leader.journal.schedule_rows import Naming, ScheduleChange
from nexus_tools.sui.client import Cursor
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Answer

pytestmark = pytest.mark.anyio

TIMEOUT_S = 60
IDENTITY = "chain package leader"
ONE, TWO, THREE = map(Address.of, (1, 2, 3))
TERMS = (Address.of(7), "xyz.example.math.add@1", 0, 1_000, 2_000, 3_000, 500, 100)
PLACE = Cursor(1, 0, 0)
ACCOUNT = AuthorAccount(1, 2)


@pytest.fixture(autouse=True)
def short_delays(monkeypatch):
    monkeypatch.setattr(group_commit, "_RETRY_DELAY_S", 0.01)


@pytest.fixture
def location(postgres):
    return postgres.new_location()


@asynccontextmanager
async def opened(location, identity=IDENTITY):
    journal = await open_journal(location, identity, Member())
    try:
        yield journal
    finally:
        await journal.close()


def assignments(*invocations):
    return [Assignment(invocation, *TERMS) for invocation in invocations]


def changes(naming):
    return [ScheduleChange(schedule, naming, Cursor(2, 0, 0)) for schedule in (ONE, THREE)]


async def state_of(journal):
    memory = await journal.recover()
    entries = {entry.assignment.invocation: entry for entry in memory.entries}
    executions, closed = set(memory.executions), set(await journal.closed_early(0))
    accounts = await journal.tool_accounts()
    return memory.cursor, entries, executions, memory.schedules, memory.searches, closed, accounts


async def prepare(journal):
    """Write rows that each operation changes."""
    named = [ScheduleChange(ONE, Naming.NAMED, PLACE)]
    await journal.record_events(assignments(ONE, TWO), {}, "c", 0, {ONE: True}, schedules=named)
    if isinstance(journal, FleetJournal):
        await journal.claim(10_000, 2, {}, 2)
    await journal.record_closed({TWO: ClosureKind.SETTLED}, 1)
    await journal.save_tool_accounts({ONE: ACCOUNT})
    await journal.finish_schedule_search({TWO: PLACE})


OPERATIONS = {
    "record_call": lambda journal: journal.record_call(ONE),
    "record_outcome": lambda journal: journal.record_outcome(ONE, Answer("ok", {})),
    "record_closed": lambda journal: journal.record_closed({ONE: ClosureKind.SETTLED}, 1),
    "record_events": lambda journal: journal.record_events(
        assignments(ONE, THREE), {ONE: ClosureKind.MISSED}, "d", 0, {ONE: False, TWO: True}
    ),
    "named": lambda journal: journal.record_events([], {}, "d", 0, schedules=changes(Naming.NAMED)),
    "reset": lambda journal: journal.record_events([], {}, "d", 0, schedules=changes(Naming.RESET)),
    "not_named": lambda journal: journal.record_events(
        [], {}, "d", 0, schedules=changes(Naming.NOT_NAMED)
    ),
    "save_executions": lambda journal: journal.save_executions({TWO: True}),
    "finish_execution_search": lambda journal: journal.finish_execution_search([TWO]),
    "finish_schedule_search": lambda journal: journal.finish_schedule_search({THREE: PLACE}),
    "reopen_schedule_search": lambda journal: journal.reopen_schedule_search(),
    "save_tool_accounts": lambda journal: journal.save_tool_accounts({ONE: AuthorAccount(3, 4)}),
    "closed_last": lambda journal: journal.closed_last(1, 50),
    "reopen": lambda journal: journal.reopen([TWO]),
    "prune": lambda journal: journal.prune(2),
}


class Proxy:
    """A proxy of the server's socket that can cut a connection at its next COMMIT.

    Either the server has executed the COMMIT and the answer is lost, or the COMMIT is lost.
    """

    def __init__(self, server, folder):
        self._target = str(server.folder / ".s.PGSQL.5432")
        self._folder = folder
        self._url = server.new_url()
        self._writers = []
        self._tasks = []
        self.lose = None
        self._has_forgotten = False
        self._silent = 0

    @property
    def location(self):
        """The location of a new journal behind the proxy."""
        host = quote(str(self._folder), safe="")
        _, _, rest = self._url.partition("@")
        return PostgresUrl.parse(f"postgresql://postgres@{host}/{rest.partition('/')[2]}")

    @asynccontextmanager
    async def running(self):
        path = self._folder / ".s.PGSQL.5432"
        async with await asyncio.start_unix_server(self._serve, path):
            yield self
            for writer in self._writers:
                writer.close()
        await asyncio.gather(*self._tasks)

    async def _serve(self, reader, writer):
        self._tasks.append(asyncio.current_task())
        number = len(self._tasks)
        server_reader, server_writer = await asyncio.open_unix_connection(self._target)
        self._writers += [writer, server_writer]
        answers = asyncio.create_task(_copy(server_reader, writer))
        while data := await reader.read(65_536):
            if number <= self._silent:
                continue
            if b"COMMIT" in data and self.lose is not None:
                lost, self.lose = self.lose, None
                answers.cancel()
                await asyncio.wait({answers})
                if lost == "answer":
                    server_writer.write(data)
                    await server_reader.read(65_536)
                break
            server_writer.write(data)
        writer.close()
        if not self._has_forgotten:
            server_writer.close()
        await asyncio.wait({answers})

    def fall_silent(self):
        """Stop forwarding on the present connections, but not on new ones."""
        self._silent = len(self._tasks)

    def forget(self):
        """Close the connections of clients, and keep those of the server."""
        self._has_forgotten = True
        for writer in self._writers[::2]:
            writer.close()


async def _copy(reader, writer):
    while data := await reader.read(65_536):
        writer.write(data)


@pytest.fixture
async def proxy(postgres, tmp_path):
    async with Proxy(postgres, tmp_path).running() as proxy:
        yield proxy


@pytest.mark.parametrize("lost", ["answer", "request"])
@pytest.mark.parametrize("name", OPERATIONS)
async def test_operation_is_executed_once_when_the_connection_is_lost(proxy, tmp_path, name, lost):
    async with opened(proxy.location) as journal, opened(tmp_path / "file") as undisturbed:
        await prepare(journal)
        await prepare(undisturbed)
        proxy.lose = lost
        async with asyncio.timeout(TIMEOUT_S):
            result = await OPERATIONS[name](journal)
        assert proxy.lose is None
        assert journal.trouble == ""
        assert result == await OPERATIONS[name](undisturbed)
        assert await state_of(journal) == await state_of(undisturbed)


async def test_journal_connects_again_if_it_gets_no_answer(proxy, monkeypatch):
    monkeypatch.setattr(postgres_connection, "_ANSWER_LIMIT_S", 0.3)
    async with asyncio.timeout(TIMEOUT_S), opened(proxy.location) as journal:
        proxy.fall_silent()
        await journal.save_executions({ONE: True})
        assert (await journal.recover()).executions == (ONE,)
        proxy.fall_silent()  # closing the journal ends, too


def test_each_part_of_an_answer_extends_the_time_limit(location, monkeypatch):
    clock = SimpleNamespace(now_s=0.0)
    monkeypatch.setattr(postgres_connection, "monotonic", lambda: clock.now_s)
    limit_s = postgres_connection._ANSWER_LIMIT_S

    def parts():
        while True:
            yield Wait.R

    with postgres_connection.connect(connection_parameters(location), "public") as connection:
        operation = connection._limited(parts())
        next(operation)
        for _ in range(3):
            clock.now_s += limit_s
            operation.send(Ready.NONE)
            operation.send(Ready.R)
        clock.now_s += limit_s + 0.1
        with pytest.raises(psycopg.OperationalError, match="has not answered for 5 s"):
            operation.send(Ready.NONE)
        assert connection.closed


async def test_listener_connects_again_if_it_gets_no_answer(proxy, monkeypatch):
    monkeypatch.setattr(listener, "_CHECK_INTERVAL_S", 0.05)
    monkeypatch.setattr(listener, "_CHECK_LIMIT_S", 0.3)
    monkeypatch.setattr(listener, "_RETRY_DELAY_S", 0.01)
    connected = asyncio.Semaphore(0)
    task = asyncio.create_task(Listener(proxy.location, "test", connected.release).run())
    async with asyncio.timeout(TIMEOUT_S):
        await connected.acquire()
        proxy.fall_silent()
        await connected.acquire()
    task.cancel()
    await asyncio.wait({task})


async def test_writes_of_many_tasks_survive_cut_connections(postgres, location):
    async with opened(location) as journal:

        async def write(number):
            invocation = Address.of(number)
            assigned = await journal.record_events(assignments(invocation), {}, "c", 0)
            await journal.claim(10_000, 1_000, {}, 1_000)
            await journal.record_call(invocation)
            await journal.record_outcome(invocation, Answer("ok", {"n": number}))
            return assigned

        for first in range(1, 301, 60):
            numbers = range(first, first + 60)
            async with asyncio.timeout(TIMEOUT_S), asyncio.TaskGroup() as group:
                tasks = [group.create_task(write(number)) for number in numbers]
                group.create_task(asyncio.to_thread(postgres.cut_sessions))
            assert [task.result() for task in tasks] == [
                tuple(assignments(Address.of(number))) for number in numbers
            ]
        outcomes = [entry.outcome for entry in (await journal.recover()).entries]
        assert sorted(outcome.ports["n"] for outcome in outcomes) == list(range(1, 301))


async def in_trouble(journal, reason):
    """Wait until the journal reports a reason why writes wait."""
    async with asyncio.timeout(TIMEOUT_S):
        while reason not in journal.trouble:  # noqa: ASYNC110 - another thread sets it
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("mode", ["fast", "immediate"])
async def test_writes_wait_while_the_server_is_away(postgres, location, mode):
    async with opened(location) as journal:
        await prepare(journal)
        await asyncio.to_thread(postgres.stop, mode)
        try:
            writing = asyncio.create_task(journal.record_events(assignments(THREE), {}, "d", 0))
            calling = asyncio.create_task(journal.record_call(ONE))
            await in_trouble(journal, "PostgreSQL does not accept writes: ")
        finally:
            await asyncio.to_thread(postgres.start)
        async with asyncio.timeout(TIMEOUT_S):
            assert await writing == tuple(assignments(THREE))
            await calling
        assert journal.trouble == ""
    async with opened(location) as journal:
        memory = await journal.recover()
        assert {entry.assignment.invocation for entry in memory.entries} == {ONE, THREE}
        assert memory.cursor == "d"


async def test_close_ends_while_the_server_is_away(postgres, location):
    journal = await open_journal(location, IDENTITY, Member())
    await asyncio.to_thread(postgres.stop)
    try:
        calling = asyncio.create_task(journal.record_call(ONE))
        await in_trouble(journal, "PostgreSQL")
        async with asyncio.timeout(TIMEOUT_S):
            await journal.close()
        with pytest.raises(NexusError) as caught:
            await calling
        assert caught.value.code == "journal_failed"
    finally:
        await asyncio.to_thread(postgres.start)


async def test_writes_wait_while_the_session_is_read_only(postgres):
    """After a failover, the former primary is read-only."""
    role = postgres.new_role()
    setting = f"ALTER ROLE {role} SET default_transaction_read_only = "
    async with opened(PostgresUrl.parse(postgres.new_url(role))) as journal:
        postgres.execute(f"{setting} on")
        postgres.cut_sessions()
        writing = asyncio.create_task(journal.save_executions({ONE: True}))
        await in_trouble(journal, "session is read-only")
        postgres.execute(f"{setting} off")
        async with asyncio.timeout(TIMEOUT_S):
            await writing


async def test_commit_fails_when_the_server_lost_transactions(postgres, location):
    async with opened(location) as journal:
        await prepare(journal)
        postgres.cut_sessions()
        postgres.execute("UPDATE workers SET batch = batch - 1", schema=location.schema)
        with pytest.raises(LeaseLostError, match="lost committed transactions") as caught:
            await journal.record_call(ONE)
        assert caught.value.code == "journal_failed"


async def test_journal_reconnects_while_the_server_keeps_the_former_session(postgres, proxy):
    async with opened(proxy.location) as journal:
        await prepare(journal)
        proxy.forget()
        assert postgres.sessions() == 1
        async with asyncio.timeout(TIMEOUT_S):
            await journal.record_call(ONE)
        assert journal.trouble == ""
        assert postgres.sessions() == 1
