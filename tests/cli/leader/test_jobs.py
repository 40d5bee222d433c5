"""The commands of an operator about the open invocations in a journal."""

import time
from dataclasses import replace
from urllib.parse import quote

import pytest

from nexus_tools.leader.chain.assignment import Assignment
from nexus_tools.leader.chain.closure import ClosureKind
from nexus_tools.leader.fleet.fleet_journal import FleetJournal
from nexus_tools.leader.journal.journal import Journal
from nexus_tools.leader.journal.lease import Member
from nexus_tools.leader.journal.postgres_url import PostgresUrl
from nexus_tools.sui.types.address import Address

pytestmark = pytest.mark.anyio

HOUR_MS = 3_600_000
NOW_MS = time.time_ns() // 1_000_000
IDENTITY = "chain package leader"
ONE, TWO, THREE, FOUR, UNKNOWN = map(Address.of, range(1, 6))
KEY, OTHER_KEY = Address.of(0xA), Address.of(0xB)
FQN = "xyz.example.math.add@1"


def job(invocation, opens_at_ms=NOW_MS - 1_000):
    """Return an assignment whose window lasts an hour, and which expires after two hours."""
    times = opens_at_ms, opens_at_ms + HOUR_MS, opens_at_ms + 2 * HOUR_MS
    return Assignment(invocation, Address.of(7), FQN, 0, *times, 500, 100)


class Fleet:
    """A journal in PostgreSQL, and its command line."""

    def __init__(self, server, home):
        self.url = server.new_url()
        self.location = PostgresUrl.parse(self.url)
        self.home = home
        self.journals = []
        self._server = server

    async def join(self, key, name):
        member = Member((key,), name=name)
        self.journals.append(await FleetJournal.join(self.location, IDENTITY, member))
        return self.journals[-1]

    def execute(self, statement):
        return self._server.execute(statement, schema=self.location.schema)

    def jobs(self, *options):
        rows = self.home.json("leader", "jobs", "list", "--journal", self.url, *options)
        return {Address.parse(row["invocation"]): row for row in rows}

    def state(self, invocation):
        return self.jobs()[invocation]["state"]

    def fails(self, *arguments):
        return self.home.fails("leader", "jobs", *arguments, "--journal", self.url)


@pytest.fixture
async def fleet(postgres, home):
    members = Fleet(postgres, home)
    yield members
    for journal in members.journals:
        await journal.close()


async def test_list_shows_why_each_invocation_waits(fleet):
    one = await fleet.join(KEY, "one")
    await one.recover()
    rows = [job(ONE, NOW_MS - 4_000), job(TWO, NOW_MS - 3_000), job(THREE, NOW_MS - 2_000)]
    await one.record_events(rows, {}, "c", 0, attempts=[THREE])
    await one.record_events([job(FOUR, NOW_MS + HOUR_MS)], {}, "d", 0)
    await one.claim(NOW_MS, 1, {}, 9)
    fleet.execute("UPDATE invocations SET claims = 5 WHERE worker IS NULL AND NOT holder_only")
    found = fleet.jobs()
    assert list(found) == [ONE, TWO, THREE, FOUR]
    assert found[ONE] == {
        "invocation": str(ONE),
        "tool": FQN,
        "place": 0,
        "stage": "assigned",
        "claims": 1,
        "opens_at_ms": NOW_MS - 4_000,
        "window_ends_at_ms": NOW_MS - 4_000 + HOUR_MS,
        "expires_at_ms": NOW_MS - 4_000 + 2 * HOUR_MS,
        "holder_only": False,
        "process": "one",
        "state": "claimed",
    }
    assert [row["state"] for row in found.values()] == [
        "claimed",
        "poisonous",
        "holder_only",
        "poisonous",
    ]
    fleet.execute("UPDATE invocations SET claims = 0 WHERE worker IS NULL")
    assert [row["state"] for row in fleet.jobs().values()][1::2] == ["free", "waiting"]
    fleet.execute("UPDATE workers SET seen_at = now() - interval '16 s'")
    assert fleet.state(ONE) == "orphaned"


async def test_list_is_limited_and_notes_that_there_are_more(fleet):
    one = await fleet.join(KEY, "one")
    await one.recover()
    await one.record_events([job(ONE, NOW_MS), job(TWO, NOW_MS - 5)], {}, "c", 0)
    command = ("leader", "jobs", "list", "--journal", fleet.url, "--limit")
    shown = fleet.home.run(*command, "1")
    assert str(TWO) in shown.stdout
    assert str(ONE) not in shown.stdout
    assert "waits for a process" in shown.stdout
    assert "showing only the first 1" in shown.stderr
    assert "showing only" not in fleet.home.run(*command, "2").stderr


async def test_list_stuck_omits_invocations_in_progress(fleet):
    one = await fleet.join(KEY, "one")
    await one.recover()
    overdue, expired = NOW_MS - HOUR_MS - 1, NOW_MS - 2 * HOUR_MS - 1
    rows = [job(ONE), job(TWO), job(THREE, overdue), job(FOUR, expired)]
    await one.record_events(rows, {}, "c", 0)
    id_of_one = f"'\\x{bytes(ONE).hex()}'"
    fleet.execute(f"UPDATE invocations SET claims = 5 WHERE invocation = {id_of_one}")
    states = {invocation: row["state"] for invocation, row in fleet.jobs("--stuck").items()}
    assert states == {FOUR: "expired", THREE: "free", ONE: "poisonous"}
    fleet.execute("UPDATE invocations SET claims = 0")
    await one.claim(NOW_MS, 9, {}, 9)
    assert list(fleet.jobs("--stuck")) == [FOUR, THREE]
    fleet.execute("UPDATE workers SET seen_at = now() - interval '16 s'")
    assert list(fleet.jobs("--stuck")) == [FOUR, THREE, ONE, TWO]


async def test_processes_shows_beats_claims_and_the_holder(fleet):
    command = ("leader", "jobs", "processes", "--journal", fleet.url)
    one, _ = await fleet.join(KEY, "one"), await fleet.join(OTHER_KEY, "two")
    await one.recover()
    await one.record_events([job(ONE), job(TWO)], {}, "c", 0)
    await one.claim(NOW_MS, 2, {}, 9)
    assert await one.hold(60)
    first, second = fleet.home.json(*command)
    assert (first["process"], first["workers"]) == ("one", [str(KEY)])
    assert (first["claimed"], first["ready"], first["holder"]) == (2, True, True)
    assert (second["process"], second["claimed"], second["holder"]) == ("two", 0, False)
    assert first["started_at_ms"] <= first["seen_at_ms"]
    fleet.execute("UPDATE workers SET seen_at = now() - interval '90 s' WHERE name = 'two'")
    assert "1 min 30 s ago" in fleet.home.run(*command).stdout


async def test_return_makes_a_poisonous_invocation_claimable(fleet):
    one = await fleet.join(KEY, "one")
    await one.recover()
    await one.record_events([job(ONE)], {}, "c", 0)
    fleet.execute("UPDATE invocations SET claims = 5")
    assert not (await one.claim(NOW_MS, 1, {}, 9)).entries
    done = fleet.home.json("leader", "jobs", "return", ONE, "--journal", fleet.url)
    assert done == {"invocation": str(ONE), "tool": FQN, "state": "returned"}
    assert [entry.assignment for entry in (await one.claim(NOW_MS, 1, {}, 9)).entries] == [job(ONE)]


async def test_return_from_a_living_process_needs_a_confirmation(fleet):
    one = await fleet.join(KEY, "one")
    await one.recover()
    await one.record_events([job(ONE)], {}, "c", 0)
    await one.claim(NOW_MS, 1, {}, 9)
    command = ("leader", "jobs", "return", ONE, "--journal", fleet.url)
    refused = fleet.home.run(*command)
    assert refused.code == 2
    assert "The process one works on" in refused.stderr
    assert fleet.state(ONE) == "claimed"
    fleet.home.json(*command, "--yes")
    assert fleet.state(ONE) == "free"


async def test_return_from_a_silent_process_needs_no_confirmation(fleet):
    one = await fleet.join(KEY, "one")
    await one.recover()
    await one.record_events([job(ONE)], {}, "c", 0)
    await one.claim(NOW_MS, 1, {}, 9)
    fleet.execute("UPDATE workers SET seen_at = now() - interval '16 s'")
    fleet.home.json("leader", "jobs", "return", ONE, "--journal", fleet.url)
    assert fleet.state(ONE) == "free"


async def test_skipped_invocation_is_taken_from_its_process_for_good(fleet):
    one = await fleet.join(KEY, "one")
    await one.recover()
    await one.record_events([job(ONE), job(TWO)], {}, "c", 0)
    await one.claim(NOW_MS, 1, {}, 9)
    await one.record_call(ONE)
    command = ("leader", "jobs", "skip", ONE, "--journal", fleet.url)
    assert "may have answered" in fleet.home.run(*command).stderr
    assert fleet.home.json(*command, "--yes")["state"] == "skipped"
    assert list(fleet.jobs()) == [TWO]
    assert await one.owned() == set()
    assert await one.closures([ONE]) == {ONE: ClosureKind.MISSED}
    # The chain does not report it as closed, which must not look like a rollback.
    assert await one.closed_last(NOW_MS + HOUR_MS, 9) == ()
    assert await one.record_events([job(ONE)], {}, "d", 0) == ()
    assert fleet.fails("skip", ONE, "--yes") == (3, "invocation_not_open")


async def test_changes_of_an_unknown_invocation_fail(fleet):
    await fleet.join(KEY, "one")
    for verb in ("return", "skip"):
        assert fleet.fails(verb, UNKNOWN, "--yes") == (3, "invocation_not_open")


@pytest.fixture
async def file(home):
    """Return the default journal of a Leader that has stopped, with two open invocations."""
    path = home.data / "leaders" / f"{Address.of(9)}.sqlite"
    path.parent.mkdir(parents=True)
    journal = await Journal.open(path, IDENTITY)
    await journal.record_events([job(ONE), job(TWO, NOW_MS)], {}, "c", 0)
    await journal.close()
    return path


async def test_default_is_the_only_file_of_the_data_directory(home, file):
    rows = home.json("leader", "jobs", "list", "--limit", "1")
    assert [(row["invocation"], row["state"]) for row in rows] == [(str(ONE), "free")]
    assert home.json("leader", "jobs", "processes") == []
    other = file.with_name(f"{Address.of(8)}.sqlite")
    await (await Journal.open(other, IDENTITY)).close()
    assert home.fails("leader", "jobs", "list") == (2, "journal_ambiguous")
    assert len(home.json("leader", "jobs", "list", "--journal", file)) == 2
    variable = {"NEXUS_TOOLS_LEADER_JOURNAL": str(other)}
    assert home.json("leader", "jobs", "list", **variable) == []


async def test_skip_in_a_file_closes_the_invocation(home, file):
    home.json("leader", "jobs", "skip", ONE, "--yes")
    assert [row["invocation"] for row in home.json("leader", "jobs", "list")] == [str(TWO)]
    journal = await Journal.open(file, IDENTITY)
    assert [entry.assignment for entry in (await journal.recover()).entries] == [job(TWO, NOW_MS)]
    assert await journal.closed_early(NOW_MS) == ()
    await journal.close()


async def test_return_in_a_file_is_refused(home, file):
    assert home.fails("leader", "jobs", "return", ONE) == (2, "journal_not_shared")


async def test_file_of_a_running_leader_is_only_read(home, file):
    journal = await Journal.open(file, IDENTITY)
    for command in (("skip", ONE, "--yes"), ("return", ONE, "--yes")):
        assert home.fails("leader", "jobs", *command) == (2, "journal_locked")
    await journal.record_call(ONE)
    rows = home.json("leader", "jobs", "list")
    assert [(row["invocation"], row["stage"]) for row in rows] == [
        (str(ONE), "called"),
        (str(TWO), "assigned"),
    ]
    await journal.record_closed({ONE: ClosureKind.SETTLED}, NOW_MS)
    assert [row["invocation"] for row in home.json("leader", "jobs", "list")] == [str(TWO)]
    await journal.close()


async def test_missing_journal_is_reported(home, postgres, tmp_path):
    missing = home.run("leader", "jobs", "list", "--json")
    assert (missing.code, missing.error["code"]) == (3, "journal_missing")
    assert "NEXUS_TOOLS_LEADER_JOURNAL" in missing.error["hint"]
    for journal in (tmp_path / "absent.sqlite", postgres.new_url()):
        failed = home.fails("leader", "jobs", "list", "--journal", journal)
        assert failed == (3, "journal_missing")
    assert not (tmp_path / "absent.sqlite").exists()
    (tmp_path / "text").write_text("not a journal, but longer than the header of SQLite" * 9)
    failed = home.fails("leader", "jobs", "list", "--journal", tmp_path / "text")
    assert failed == (2, "journal_invalid")


@pytest.mark.parametrize("command", [("jobs", "list", "--journal"), ("journal", "create")])
async def test_errors_do_not_show_the_password(home, tmp_path, command):
    host = quote(str(tmp_path), safe="")
    for rest in (f"hush@{host}/d", f"hu/sh@{host}/d", f"hush@{host}/d?unknown=1"):
        failed = home.run("leader", *command, f"postgresql://leader:{rest}")
        assert failed.code in (2, 6)
        assert "hu" not in failed.stderr.replace("unknown", "") + failed.stdout


async def test_journal_create_grants_a_role_the_use_of_the_tables(home, postgres):
    owner, worker = postgres.new_role(), postgres.new_role()
    url = postgres.new_url(owner)
    postgres.execute(f"REVOKE CREATE ON DATABASE postgres FROM {worker}")
    location = PostgresUrl.parse(url)
    of_worker = replace(location, url=location.url.replace(owner, worker))
    as_worker = url.replace(owner, worker)
    assert home.fails("leader", "journal", "create", as_worker) == (8, "journal_denied")

    created = home.json("leader", "journal", "create", url)
    assert created == {"schema": location.schema, "created": True, "grants": []}
    assert home.fails("leader", "jobs", "list", "--journal", as_worker) == (8, "journal_denied")

    granted = home.json("leader", "journal", "create", url, "--grant", worker)
    assert granted["created"] is False
    assert len(granted["grants"]) == 2
    assert all(f'TO "{worker}"' in grant for grant in granted["grants"])
    journal = await FleetJournal.join(of_worker, IDENTITY, Member((KEY,)))
    await journal.recover()
    await journal.record_events([job(ONE)], {}, "c", 0)
    await journal.claim(NOW_MS, 1, {}, 9)
    await journal.prune(NOW_MS)
    await journal.close()
    assert len(home.json("leader", "jobs", "list", "--journal", as_worker)) == 1


async def test_journal_create_refuses_files_and_unknown_roles(home, postgres, tmp_path):
    assert home.fails("leader", "journal", "create", tmp_path / "file") == (2, "journal_not_shared")
    url = postgres.new_url()
    failed = home.run("leader", "journal", "create", url, "--grant", "nobody-here", "--json")
    assert (failed.code, failed.error["code"]) == (3, "role_missing")
    assert "CREATE ROLE" in failed.error["hint"]
    # The transaction created nothing.
    assert home.fails("leader", "jobs", "list", "--journal", url) == (3, "journal_missing")


@pytest.mark.long
def test_leader_runs_with_a_role_that_may_not_create_tables(author, postgres):
    author.json("leader", "register", "--yes")
    owner, worker = postgres.new_role(), postgres.new_role()
    postgres.execute(f"REVOKE CREATE ON DATABASE postgres FROM {worker}")
    url = postgres.new_url(owner)
    command = ("leader", "run", "--journal", url.replace(owner, worker))
    refused = author.spawn(*command, "--json")
    assert (refused.code, refused.error["code"]) == (8, "journal_denied")
    assert "nexus-tools leader journal create URL --grant ROLE" in refused.error["hint"]

    author.json("leader", "journal", "create", url, "--grant", worker)
    daemon = author.daemon("works", *command)
    processes = ("leader", "jobs", "processes", "--journal", url.replace(owner, worker))
    [process] = author.json(*processes)
    assert process["workers"] == [author.json("wallet", "show")["address"]]
    assert daemon.end().code == 0
    assert author.json(*processes) == []
