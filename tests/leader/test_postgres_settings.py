"""Opening a journal in PostgreSQL: the URL, TLS, privileges, and the extra `fleet`."""

import asyncio
import struct
import subprocess
import sys
import traceback
from contextlib import asynccontextmanager, nullcontext
from importlib import import_module
from types import SimpleNamespace

import psycopg
import pytest

from nexus_tools.errors import NexusError, NotAllowedError, UnreachableError, UsageError
from nexus_tools.leader import create_journal
from nexus_tools.leader.assembly import open_journal
from nexus_tools.leader.config import LeaderConfig
from nexus_tools.leader.journal import postgres_connection
from nexus_tools.leader.journal.lease import Member
from nexus_tools.leader.journal.postgres_connection import (
    check_session,
    connection_parameters,
)
from nexus_tools.leader.journal.postgres_tables import create_tables
from nexus_tools.leader.journal.postgres_url import PostgresUrl

pytestmark = pytest.mark.anyio

TIMEOUT_S = 60
IDENTITY = "chain package leader"
SECRET = "hush-hush"


@pytest.fixture(autouse=True)
def no_variables(monkeypatch):
    """Remove the variables that libpq reads."""
    for variable in ("PGHOST", "PGHOSTADDR", "PGSERVICE", "PGSSLMODE"):
        monkeypatch.delenv(variable, raising=False)


@pytest.mark.parametrize(
    ("text", "url", "schema"),
    [
        ("postgresql:///leader", "postgresql:///leader", "nexus_leader"),
        ("postgres://a:b@h:1/d?schema=two", "postgres://a:b@h:1/d", "two"),
        ("postgresql://h?a=1&schema=s_1&b=2%20", "postgresql://h?a=1&b=2%20", "s_1"),
        ("postgresql://u@h1:1,[::1]:2/d", "postgresql://u@h1:1,[::1]:2/d", "nexus_leader"),
        ("postgresql://u:%40%2F@%2Ftmp/d", "postgresql://u:%40%2F@%2Ftmp/d", "nexus_leader"),
    ],
)
def test_url_is_split_into_the_url_of_libpq_and_the_schema(text, url, schema):
    location = LeaderConfig(journal=text).journal
    assert (location.url, location.schema) == (url, schema)


@pytest.mark.parametrize(
    "url",
    [
        f"mysql://user:{SECRET}@host/db",
        f"postgresql://user:{SECRET}@b@host/db",
        f"postgresql://user:{SECRET}/b@host/db",
        f"postgresql://user:{SECRET}?b@host/db",
        f"postgresql://user:{SECRET}#b@host/db",
        f"postgresql://user: {SECRET}@host/db",
        f"postgresql://user:{SECRET}@host/db?schema=Upper",
        f"postgresql://user:{SECRET}@host/db?schema=a;drop",
        f"postgresql://user:{SECRET}@host/db?schema=a&schema=b",
    ],
)
def test_config_rejects_an_invalid_url_without_showing_its_password(url):
    with pytest.raises(UsageError) as caught:
        LeaderConfig.load({"NEXUS_TOOLS_LEADER_JOURNAL": url})
    assert caught.value.code == "config_invalid"
    assert "NEXUS_TOOLS_LEADER_JOURNAL: expected " in caught.value.message
    assert "hush" not in caught.value.message + caught.value.hint


def test_config_does_not_show_the_password():
    config = LeaderConfig(journal=f"postgresql://user:{SECRET}@host/db?password={SECRET}")
    assert SECRET in config.journal.url
    assert SECRET not in f"{config} {config!r} {config.journal}"


@pytest.mark.parametrize(
    ("code", "rest"),
    [
        ("journal_invalid", "@host/db?unknown=1"),
        ("journal_invalid", "%zz@host/db"),
        ("journal_unreachable", "@%2Fnone/db"),
        ("journal_unreachable", "@localhost:1/db"),
        ("journal_unreachable", "@localhost:99999/db"),
        ("journal_unreachable", "@localhost:1/db?sslmode=none"),
    ],
)
async def test_opening_errors_do_not_show_the_password(code, rest):
    location = PostgresUrl.parse(f"postgresql://user:{SECRET}{rest}")
    with pytest.raises(NexusError) as caught:
        await open_journal(location, IDENTITY, Member())
    assert caught.value.code == code
    assert "hush" not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    ("url", "environment", "expected"),
    [
        ("postgresql:///d", {}, None),
        ("postgresql://%2Frun%2Fpostgresql/d", {}, None),
        ("postgresql://localhost/d", {}, None),
        ("postgresql://127.0.0.1,[::1]:5/d", {}, None),
        ("postgresql://db.example/d", {}, "verify-full"),
        ("postgresql://localhost,db.example/d", {}, "verify-full"),
        ("postgresql:///d?host=db.example", {}, "verify-full"),
        ("postgresql://localhost/d?hostaddr=10.0.0.7", {}, "verify-full"),
        ("postgresql:///d", {"PGHOST": "db.example"}, "verify-full"),
        ("postgresql://localhost/d", {"PGHOSTADDR": "10.0.0.7"}, "verify-full"),
        ("postgresql:///?service=leader", {}, "verify-full"),
        ("postgresql:///d", {"PGSERVICE": "leader"}, "verify-full"),
        ("postgresql://db.example/d?sslmode=require", {}, "require"),
        ("postgresql://db.example/d", {"PGSSLMODE": "require"}, None),
    ],
)
def test_connection_verifies_the_server_unless_it_is_local(monkeypatch, url, environment, expected):
    for variable, value in environment.items():
        monkeypatch.setenv(variable, value)
    assert connection_parameters(PostgresUrl.parse(url)).get("sslmode") == expected


@pytest.mark.parametrize(
    ("service", "expected"),
    [
        ("host=127.0.0.1", None),
        ("host=127.0.0.1\nsslmode=require", None),
        ("host=db.example", "verify-full"),
        ("host=db.example\nsslmode=disable", None),
        ("dbname=d", None),
    ],
)
def test_service_file_decides_whether_the_server_is_verified(
    monkeypatch, tmp_path, service, expected
):
    file = tmp_path / "services"
    file.write_text(f"[leader]\n{service}\n")
    monkeypatch.setenv("PGSERVICEFILE", str(file))
    given = connection_parameters(PostgresUrl.parse("postgresql:///?service=leader"))
    assert given.get("sslmode") == expected


async def test_hint_names_sslmode_if_the_server_does_not_support_tls():
    async def refuse(reader, writer):
        await reader.readexactly(8)  # SSLRequest
        writer.write(b"N")
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        url = f"postgresql://127.0.0.1:{port}/d?sslmode=require&gssencmode=disable"
        location = PostgresUrl.parse(url)
        with pytest.raises(UnreachableError, match="SSL") as caught:
            await open_journal(location, IDENTITY, Member())
    assert "?sslmode=disable" in caught.value.hint


def test_url_overrides_the_default_parameters():
    given = connection_parameters(PostgresUrl.parse("postgresql:///d?connect_timeout=60"))
    assert given["connect_timeout"] == "60"
    assert given["keepalives_idle"] == "5"


@asynccontextmanager
async def password_server():
    """Run a server that requests a password and rejects it, and yield its port."""

    async def authenticate(reader, writer):
        await reader.readexactly(struct.unpack("!I", await reader.readexactly(4))[0] - 4)
        writer.write(b"R" + struct.pack("!II", 8, 3))  # AuthenticationCleartextPassword
        if await reader.read(1):
            fields = b"SFATAL\0VFATAL\0C28P01\0Mpassword authentication failed\0\0"
            writer.write(b"E" + struct.pack("!I", 4 + len(fields)) + fields)
        writer.close()

    async with await asyncio.start_server(authenticate, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]


@pytest.mark.parametrize(
    ("password", "message", "hint"),
    [
        ("", "no password supplied", "HOST:PORT:DATABASE:USER:PASSWORD into the file ~/.pgpass"),
        (f":{SECRET}", "password authentication failed", "the password in ~/.pgpass"),
    ],
)
async def test_hint_names_the_password_file(monkeypatch, tmp_path, password, message, hint):
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "absent"))
    monkeypatch.delenv("PGPASSWORD", raising=False)
    async with password_server() as port:
        url = f"postgresql://user{password}@127.0.0.1:{port}/db?sslmode=disable&gssencmode=disable"
        with pytest.raises(UnreachableError, match=message) as caught:
            await open_journal(PostgresUrl.parse(url), IDENTITY, Member())
    assert caught.value.code == "journal_unreachable"
    assert hint in caught.value.hint


async def test_open_rejects_another_format(postgres):
    location = postgres.new_location()
    await (await open_journal(location, IDENTITY, Member())).close()
    postgres.execute("UPDATE format SET version = 7", schema=location.schema)
    with pytest.raises(UsageError, match="format 7") as caught:
        await open_journal(location, IDENTITY, Member())
    assert caught.value.code == "journal_format_unsupported"
    assert "?schema=" in caught.value.hint


async def test_role_without_privileges_is_rejected(postgres):
    owner, guest = postgres.new_role(), postgres.new_role()
    location = PostgresUrl.parse(postgres.new_url(owner))
    await (await open_journal(location, IDENTITY, Member())).close()
    url = location.url.replace(owner, guest)
    with pytest.raises(NotAllowedError, match="permission denied") as caught:
        await open_journal(PostgresUrl(url, location.schema), IDENTITY, Member())
    assert caught.value.code == "journal_denied"


async def test_role_that_cannot_create_learns_who_creates_the_tables(postgres):
    worker = postgres.new_role()
    postgres.execute(f"REVOKE CREATE ON DATABASE postgres FROM {worker}")
    location = PostgresUrl.parse(postgres.new_url(worker))
    with pytest.raises(NotAllowedError, match="permission denied") as caught:
        await open_journal(location, IDENTITY, Member())
    assert caught.value.code == "journal_denied"
    assert "leader journal create" in caught.value.hint


async def test_tables_are_not_created_again_by_a_process_that_waited(postgres):
    """A session that a pool has used before keeps the results of look-ups in a cache."""
    other, location = postgres.new_location().schema, postgres.new_location()
    waits = "SELECT 1 FROM pg_locks WHERE pid = %s AND locktype = 'advisory' AND NOT granted"

    def create(connection, schema):
        connection.execute("SELECT set_config('search_path', %s, false)", (schema,))
        with connection.transaction():
            return create_tables(connection, schema)

    # These connections lack the time limits of a Leader, so the test may be slow.
    parameters = connection_parameters(location)
    first, second = (psycopg.connect(**parameters, autocommit=True) for _ in range(2))
    with first, second:
        assert create(second, other)
        with first.transaction():
            assert create(first, location.schema)
            creating = asyncio.create_task(asyncio.to_thread(create, second, location.schema))
            async with asyncio.timeout(TIMEOUT_S):
                while not postgres.execute(waits, (second.info.backend_pid,)):  # noqa: ASYNC110
                    await asyncio.sleep(0)
        assert not await creating


class PooledConnection:
    """A connection through a pool, which executes each transaction in the next session."""

    info = SimpleNamespace(backend_pid=1)

    def __init__(self, sessions):
        self._sessions = sessions

    def execute(self, _):
        return SimpleNamespace(fetchone=lambda: (next(self._sessions),))

    def transaction(self):
        return nullcontext()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


@pytest.mark.parametrize("sessions", [[1], [7, 8, 7]])
def test_connection_may_keep_its_session(monkeypatch, sessions):
    connection = PooledConnection(iter(sessions))
    monkeypatch.setattr(postgres_connection._Connection, "connect", lambda **_: connection)
    check_session(connection, {})


@pytest.mark.parametrize("sessions", [[7, 7, 7], [7, 7, 8], [7, 8, 9]])
def test_pool_that_changes_the_session_is_rejected(monkeypatch, sessions):
    connection = PooledConnection(iter(sessions))
    monkeypatch.setattr(postgres_connection._Connection, "connect", lambda **_: connection)
    with pytest.raises(UsageError, match="not in session mode") as caught:
        check_session(connection, {})
    assert caught.value.code == "journal_invalid"
    assert "pool_mode = session" in caught.value.hint


async def test_two_schemas_of_a_database_are_two_journals(postgres):
    journals = [
        await open_journal(postgres.new_location(), name, Member()) for name in ("one", "two")
    ]
    for journal in journals:
        await journal.close()


async def test_missing_extra_is_named_with_its_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    for module in (
        "journal.postgres",
        "journal.postgres_connection",
        "journal.postgres_tables",
        "fleet.fleet_journal",
    ):
        package, _, name = module.partition(".")
        monkeypatch.delitem(sys.modules, f"nexus_tools.leader.{module}", raising=False)
        package = import_module(f"nexus_tools.leader.{package}")
        monkeypatch.delattr(package, name, raising=False)
    with pytest.raises(UsageError) as caught:
        await open_journal(PostgresUrl.parse("postgresql:///d"), IDENTITY, Member())
    assert caught.value.code == "extra_not_installed"
    assert "pip install 'nexus-tools[fleet]'" in caught.value.hint
    with pytest.raises(UsageError, match="extra `fleet`"):
        create_journal(PostgresUrl.parse("postgresql:///d"), None)


def test_leader_without_postgresql_does_not_import_psycopg():
    program = (
        "import sys; import nexus_tools.leader as leader;"
        "leader.LeaderConfig(journal='postgresql:///d'); sys.exit('psycopg' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
