"""The tables of a journal in PostgreSQL, and the connection of an operator to them."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import sql

from nexus_tools.errors import NotFoundError, UsageError
from nexus_tools.leader.journal import lease
from nexus_tools.leader.journal.journal import SCHEMA
from nexus_tools.leader.journal.postgres_connection import (
    check_session,
    connect,
    connection_parameters,
    opening_error,
)
from nexus_tools.leader.journal.postgres_url import PostgresUrl

_TYPES = {"BLOB": "bytea", "INTEGER": "bigint", " STRICT": ""}
_SCHEMA_VERSION = 6

# The keys of locks are numbers, and each database has its own locks.
_CREATION_KEY = "hashtextextended('nexus_tools creation of tables', 0)"

_GRANTS = (
    "GRANT USAGE ON SCHEMA {schema} TO {role}",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {role}",
)


class Adapter:
    """A connection that accepts the placeholder `?`."""

    def __init__(self, connection: psycopg.Connection) -> None:
        self._connection = connection

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> psycopg.Cursor:
        """Execute a statement."""
        return self._connection.execute(statement.replace("?", "%s"), values)

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]], /) -> None:
        """Execute a statement once for each row of values."""
        self._connection.cursor().executemany(statement.replace("?", "%s"), rows)


def create_tables(connection: psycopg.Connection, schema: str) -> bool:
    """Create the tables in a schema unless they exist, and return whether they are new.

    A role that may not create tables can open an existing journal.

    Raises:
        UsageError: `journal_format_unsupported` if the tables have another version.
    """
    # Processes that start together would otherwise create the same tables.
    connection.execute(f"SELECT pg_advisory_xact_lock({_CREATION_KEY})")
    # Functions such as `to_regclass` use a cache of the session, which the lock does not refresh.
    [has_tables, has_schema] = _row(
        connection,
        "SELECT EXISTS (SELECT FROM pg_tables WHERE schemaname = %s AND tablename = 'format'),"
        " EXISTS (SELECT FROM pg_namespace WHERE nspname = %s)",
        (schema, schema),
    )
    if has_tables:
        _check_version(connection, schema)
        return False
    if not has_schema:
        connection.execute(f"CREATE SCHEMA {schema}")
    tables = SCHEMA
    for sqlite_type, postgres_type in _TYPES.items():
        tables = tables.replace(sqlite_type, postgres_type)
    connection.execute(tables + lease.TABLES)
    connection.execute("CREATE TABLE format (version int NOT NULL)")
    connection.execute("INSERT INTO format VALUES (%s)", (_SCHEMA_VERSION,))
    return True


def _check_version(connection: psycopg.Connection, schema: str) -> None:
    [version] = _row(connection, f"SELECT version FROM {schema}.format")  # noqa: S608 - a checked name
    if version != _SCHEMA_VERSION:
        raise UsageError(
            "journal_format_unsupported",
            f"expected a journal of format {_SCHEMA_VERSION}, but the PostgreSQL schema"
            f" {schema} has format {version}",
            hint="Finish its work with the release of nexus-tools that wrote it, or name a"
            " new schema with ?schema=NAME in the URL.",
        )


def create(location: PostgresUrl, role: str | None) -> tuple[bool, list[str]]:
    """Create the tables unless they exist, and allow a role to use them.

    Return whether the tables are new, and the statements that granted privileges to the role.
    """
    with _connected(location) as connection, connection.transaction():
        is_new = create_tables(connection, location.schema)
        names = {"schema": sql.Identifier(location.schema), "role": sql.Identifier(role or "")}
        grants = [sql.SQL(grant).format(**names) for grant in _GRANTS] if role else []
        for grant in grants:
            connection.execute(grant)
        return is_new, [grant.as_string(connection) for grant in grants]


@contextmanager
def adapter(location: PostgresUrl) -> Iterator[Adapter]:
    """Connect to an existing journal. Each statement is a transaction."""
    with _connected(location) as connection:
        # A schema in the search path that the role may not use would look like an empty one.
        connection.execute(f"SELECT FROM {location.schema}.format LIMIT 0")
        yield Adapter(connection)


@contextmanager
def _connected(location: PostgresUrl) -> Iterator[psycopg.Connection]:
    """Connect for a block, and translate the errors of the block.

    Raises:
        UnreachableError: `journal_unreachable`.
        NotFoundError: `journal_missing` if the tables do not exist, or `role_missing` if the block
            grants privileges to a role that does not exist.
        NotAllowedError: `journal_denied` if the role lacks a privilege.
        UsageError: `journal_invalid`.
    """
    parameters = connection_parameters(location) | {"application_name": "nexus-tools jobs"}
    try:
        with connect(parameters, location.schema) as connection:
            check_session(connection, parameters)
            yield connection
    except psycopg.errors.UndefinedTable as error:
        raise NotFoundError(
            "journal_missing",
            f"the PostgreSQL schema {location.schema} does not contain a journal",
            hint="Check the database and `schema` in the URL.",
        ) from error
    except psycopg.Error as error:
        raise opening_error(error, location.schema) from error


def _row(connection: psycopg.Connection, query: str, values: Sequence[Any] = ()) -> Any:
    return connection.execute(query, values).fetchone()
