"""Opening a journal in PostgreSQL: the URL, TLS, privileges, and the extra `fleet`."""

import subprocess
import sys
import traceback
from importlib import import_module

import pytest

from nexus_tools.errors import NexusError, NotAllowedError, UsageError
from nexus_tools.leader import create_journal
from nexus_tools.leader.assembly import open_journal
from nexus_tools.leader.config import LeaderConfig
from nexus_tools.leader.journal.lease import Member
from nexus_tools.leader.journal.postgres_connection import connection_parameters
from nexus_tools.leader.journal.postgres_url import PostgresUrl

pytestmark = pytest.mark.anyio

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


def test_url_overrides_the_default_parameters():
    given = connection_parameters(PostgresUrl.parse("postgresql:///d?connect_timeout=60"))
    assert given["connect_timeout"] == "60"
    assert given["keepalives_idle"] == "5"


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
