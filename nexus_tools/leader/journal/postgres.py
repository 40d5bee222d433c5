"""A journal in a schema of a PostgreSQL database."""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import Conninfo

from nexus_tools.errors import NexusError, UnreachableError, UsageError
from nexus_tools.leader.journal.postgres_url import PostgresUrl
from nexus_tools.leader.journal.store import Operation, StoreAwayError
from nexus_tools.sui.support.allowed_sources import is_loopback

_TYPES = {"BLOB": "bytea", "INTEGER": "bigint", " STRICT": ""}

# Both sides notice a connection that was lost without a message after about 11 seconds.
_KEEPALIVES = {"keepalives_idle": "5", "keepalives_interval": "2", "keepalives_count": "3"}
_DEFAULTS = {
    **_KEEPALIVES,
    "tcp_user_timeout": "10000",
    "connect_timeout": "5",
    # After a failover, the first host may be a standby, which does not accept writes.
    "target_session_attrs": "read-write",
}
# Longer than the server keeps the session of a machine that failed, and the session's lock.
_LOCK_TIMEOUT_MS = 15_000

# The keys of locks are numbers, and each database has its own locks.
_KEY = "hashtextextended('nexus_tools ' || %s, 0)"


class PostgresSchema:
    """The tables of a journal in PostgreSQL, which one process uses at a time.

    A session advisory lock excludes other processes. The server releases the lock when the process
    ends. If the machine of the process fails, the server keeps the session and its lock for about
    11 seconds, until TCP keepalive fails.

    A connection can be lost after the process sends COMMIT and before it receives the answer.
    Therefore, each transaction stores its number. After a new connection, the stored number shows
    whether the transaction was committed. Each transaction also fails if another process has opened
    the journal since, for example while this process was cut off from the server.
    """

    failure_hint = "Read the log of the PostgreSQL server, then start the Leader again."

    def __init__(self, location: PostgresUrl, schema: str, version: int) -> None:
        """Connect, create the tables if they do not exist, and lock the journal.

        Raises:
            UnreachableError: `journal_unreachable` if the server does not accept connections.
            UsageError: `journal_locked`, `journal_format_unsupported` if the tables have another
                `version` of the schema, or `journal_invalid` if they cannot be used.
        """
        self._schema = location.schema
        self._process = secrets.token_hex(16)
        name = {"application_name": f"nexus-tools {self._process}"}
        self._parameters = _connection_parameters(location) | name
        self._batch = 0
        self._unconfirmed: list[Any] = []
        self._connection: psycopg.Connection | None = None
        try:
            self._connection = self._open(schema, version)
        except psycopg.Error as error:
            raise _opening_error(error, self._schema) from error

    def commit(self, operations: Sequence[Operation]) -> list[Any]:
        """Run all operations in one transaction, which an error rolls back completely.

        Raises `StoreAwayError` if the database is not available. The next call must repeat the same
        operations. If the first transaction was committed, the call returns its results.
        """
        try:
            if self._connection is None:
                self._connection, stored_batch = self._reopen()
                if stored_batch > self._batch:
                    return self._confirm()
            return self._commit(self._connection, operations)
        except (psycopg.OperationalError, psycopg.errors.ReadOnlySqlTransaction) as error:
            self.close()
            raise StoreAwayError(f"PostgreSQL does not accept writes: {_reason(error)}") from error
        except psycopg.Error as error:
            raise psycopg.DatabaseError(_reason(error)) from error

    def close(self) -> None:
        """Close the connection, which unlocks the journal."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def _commit(self, connection: psycopg.Connection, operations: Sequence[Operation]) -> list[Any]:
        try:
            connection.execute("BEGIN")
            self._number(connection)
            adapter = _Adapter(connection)
            self._unconfirmed = [operation(adapter) for operation in operations]
            connection.execute("COMMIT")
        except Exception:
            with suppress(psycopg.OperationalError):
                connection.execute("ROLLBACK")
            raise
        return self._confirm()

    def _number(self, connection: psycopg.Connection) -> None:
        """Store the number of the transaction, or raise if the journal has another process."""
        statement = "UPDATE format SET batch = %s WHERE process = %s"
        if connection.execute(statement, (self._batch + 1, self._process)).rowcount != 1:
            raise _taken_over()

    def _confirm(self) -> list[Any]:
        """Return the results of the last transaction, which was committed."""
        results, self._unconfirmed = self._unconfirmed, []
        self._batch += 1
        return results

    def _open(self, schema: str, version: int) -> psycopg.Connection:
        with ExitStack() as stack:
            connection = stack.enter_context(self._connect())
            self._create(connection, schema, version)
            [stored_version] = _row(connection, "SELECT version FROM format")
            if stored_version != version:
                raise UsageError(
                    "journal_format_unsupported",
                    f"expected a journal of format {version}, but the PostgreSQL schema"
                    f" {self._schema} has format {stored_version}",
                    hint="Finish its work with the release of nexus-tools that wrote it, or name a"
                    " new schema with ?schema=NAME in the URL.",
                )
            connection.execute(f"SELECT pg_advisory_lock({_KEY})", (self._schema,))
            connection.execute("UPDATE format SET process = %s, batch = 0", (self._process,))
            stack.pop_all()
            return connection

    def _create(self, connection: psycopg.Connection, schema: str, version: int) -> None:
        """Create the tables unless they exist. An existing journal needs no right to create."""
        with connection.transaction():
            # Processes that start together would otherwise create the same tables.
            connection.execute(f"SELECT pg_advisory_xact_lock({_KEY})", ("creation of tables",))
            names = (f"{self._schema}.format", self._schema)
            [has_tables, has_schema] = _row(
                connection,
                "SELECT to_regclass(%s) IS NOT NULL, to_regnamespace(%s) IS NOT NULL",
                names,
            )
            if has_tables:
                return
            if not has_schema:
                connection.execute(f"CREATE SCHEMA {self._schema}")
            for sqlite_type, postgres_type in _TYPES.items():
                schema = schema.replace(sqlite_type, postgres_type)
            connection.execute(schema)
            connection.execute(
                "CREATE TABLE format"
                " (version int NOT NULL, process text NOT NULL, batch bigint NOT NULL)"
            )
            connection.execute("INSERT INTO format VALUES (%s, '', 0)", (version,))

    def _reopen(self) -> tuple[psycopg.Connection, int]:
        """Connect again, and return the number of the last committed transaction."""
        with ExitStack() as stack:
            connection = stack.enter_context(self._connect())
            # The server may not have noticed that the former connection of this process is lost.
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE application_name = %s AND pid != pg_backend_pid()",
                (self._parameters["application_name"],),
            )
            [is_locked] = _row(connection, f"SELECT pg_try_advisory_lock({_KEY})", (self._schema,))
            [process, batch] = _row(connection, "SELECT process, batch FROM format")
            if process != self._process:
                raise _taken_over()
            if not is_locked:
                raise psycopg.OperationalError("the former connection still locks the journal")
            if batch not in (self._batch, self._batch + bool(self._unconfirmed)):
                raise NexusError(
                    "journal_failed",
                    "PostgreSQL lost committed transactions of the journal",
                    hint="Start the Leader again. It reads the lost events again.",
                )
            stack.pop_all()
            return connection, batch

    def _connect(self) -> psycopg.Connection:
        connection = psycopg.connect(**self._parameters, autocommit=True)
        settings = {"search_path": self._schema, "lock_timeout": _LOCK_TIMEOUT_MS}
        # The server has settings of the same names for its side of the connection.
        settings |= {f"tcp_{name}": value for name, value in _KEEPALIVES.items()}
        settings["tcp_user_timeout"] = _DEFAULTS["tcp_user_timeout"]
        try:
            for name, value in settings.items():
                connection.execute("SELECT set_config(%s, %s, false)", (name, str(value)))
        except psycopg.Error:
            connection.close()
            raise
        return connection


class _Adapter:
    """A connection that accepts the placeholder `?`."""

    def __init__(self, connection: psycopg.Connection) -> None:
        self._connection = connection

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> psycopg.Cursor:
        return self._connection.execute(statement.replace("?", "%s"), values)

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]], /) -> None:
        self._connection.cursor().executemany(statement.replace("?", "%s"), rows)


def _connection_parameters(location: PostgresUrl) -> dict[str, Any]:
    try:
        given = conninfo_to_dict(location.url)
    except psycopg.Error:
        # The error may contain a part of the password.
        raise UsageError(
            "journal_invalid",
            "the URL of the journal has an unknown parameter or an invalid %-encoding",
            hint="Use only parameters of libpq and `schema`, and encode % as %25.",
        ) from None
    # libpq reads environment variables and the service file that a variable names.
    preset = {
        option.keyword.decode(): option.val.decode()
        for option in Conninfo.get_defaults()
        if option.val not in (None, option.compiled)
    }
    all_parameters = preset | given
    if "sslmode" not in all_parameters and not _is_local(all_parameters):
        given["sslmode"] = "verify-full"
    return _DEFAULTS | given


def _is_local(parameters: Mapping[str, Any]) -> bool:
    """Return whether all hosts are this machine. The hosts of a service are not known here."""
    hosts = [
        host
        for name in ("host", "hostaddr")
        for host in str(parameters.get(name, "")).split(",")
        # An empty name and a path mean a Unix socket.
        if host and not host.startswith(("/", "@"))
    ]
    return "service" not in parameters and all(map(is_loopback, hosts))


def _row(connection: psycopg.Connection, query: str, values: Sequence[Any] = ()) -> Any:
    return connection.execute(query, values).fetchone()


def _opening_error(error: psycopg.Error, schema: str) -> NexusError:
    if isinstance(error, psycopg.errors.LockNotAvailable):
        return UsageError(
            "journal_locked",
            f"another process uses the journal in the PostgreSQL schema {schema}",
            hint="Stop the other Leader, or name another schema with ?schema=NAME in the URL.",
        )
    if isinstance(error, psycopg.OperationalError):
        return UnreachableError(
            "journal_unreachable",
            f"cannot open the journal in PostgreSQL: {_reason(error)}",
            hint="Check the PostgreSQL server and the URL of the journal.",
        )
    return UsageError(
        "journal_invalid",
        f"cannot use the PostgreSQL schema {schema} for the journal: {_reason(error)}",
        hint="Check the role's privileges, or name another schema with ?schema=NAME in the URL.",
    )


def _taken_over() -> NexusError:
    return NexusError(
        "journal_failed",
        "another process has opened the journal in PostgreSQL",
        hint="Run one Leader per journal, and stop the others.",
    )


def _reason(error: psycopg.Error) -> str:
    """Return the first line of an error. Further lines may contain values of the journal."""
    return (error.diag.message_primary or str(error)).partition("\n")[0]
