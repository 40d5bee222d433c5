"""Connections to the PostgreSQL server of a journal."""

import re
from collections.abc import Mapping
from contextlib import suppress
from time import monotonic
from typing import Any, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import PGconn

from nexus_tools.errors import (
    NexusError,
    NotAllowedError,
    NotFoundError,
    UnreachableError,
    UsageError,
)
from nexus_tools.leader.journal.postgres_url import PostgresUrl
from nexus_tools.sui.support.allowed_sources import is_loopback

# Both sides notice a connection that was lost without a message after about 11 seconds.
_KEEPALIVES = {"keepalives_idle": "5", "keepalives_interval": "2", "keepalives_count": "3"}
_DEFAULTS = {
    **_KEEPALIVES,
    "tcp_user_timeout": "10000",
    "connect_timeout": "5",
    # After a failover, the first host may be a standby, which does not accept writes.
    "target_session_attrs": "read-write",
}
# A statement takes milliseconds, after it has waited for locks. After this time, a process can
# still connect again before its lease ends.
_ANSWER_LIMIT_S = 5.0
_SETTINGS = {
    # Longer than the server keeps the locks of a process that is suspended.
    "lock_timeout": 3_000,
    # A process that is suspended in a transaction would otherwise stop all others. If the process
    # was only slow, it connects again and repeats the transaction.
    "idle_in_transaction_session_timeout": 2_000,
    "default_transaction_isolation": "read committed",
    # The server has settings of the same names for its side of the connection.
    **{f"tcp_{name}": value for name, value in _KEEPALIVES.items()},
    "tcp_user_timeout": _DEFAULTS["tcp_user_timeout"],
}


def session_settings(schema: str) -> tuple[str, list[str]]:
    """Return the statement that applies the settings of each session, and its values."""
    settings = {"search_path": schema} | _SETTINGS
    calls = ", ".join(["set_config(%s, %s, false)"] * len(settings))
    return f"SELECT {calls}", [str(part) for setting in settings.items() for part in setting]


T = TypeVar("T")


class _Connection(psycopg.Connection):
    """A connection that is closed if the server sends nothing for a while.

    TCP does not notice a proxy that confirms data without forwarding them. A long answer may take
    longer than the limit.
    """

    def wait(self, gen: PQGen[T], interval: float = 0.1, timeout: float | None = None) -> T:
        return super().wait(self._limited(gen), interval, timeout)

    def _limited(self, operation: PQGen[T]) -> PQGen[T]:
        """Continue an operation of psycopg, which yields when it waits for the server.

        Raises:
            OperationalError: The server has been silent for too long.
        """
        try:
            wanted = next(operation)
            active_at_s = monotonic()
            while True:
                ready = yield wanted
                if ready:
                    active_at_s = monotonic()
                elif monotonic() - active_at_s > _ANSWER_LIMIT_S:
                    self.close()
                    message = f"the server has not answered for {_ANSWER_LIMIT_S:.0f} s"
                    raise psycopg.OperationalError(message)
                wanted = operation.send(ready)
        except StopIteration as end:
            result: T = end.value
            return result


def connect(parameters: Mapping[str, Any], schema: str) -> psycopg.Connection:
    """Return a connection whose statements are transactions, unless a transaction is started."""
    connection = _Connection.connect(**parameters, autocommit=True)
    try:
        connection.execute(*session_settings(schema))
    except psycopg.Error:
        connection.close()
        raise
    return connection


def check_session(connection: psycopg.Connection, parameters: Mapping[str, Any]) -> None:
    """Check that no other connection shares the session of a connection.

    A connection pool in transaction mode would give each transaction another session, which lacks
    the settings, or has the search path of another journal.

    Raises:
        UsageError: `journal_invalid` if a pool shares sessions.
    """
    first = _session(connection)
    if first == connection.info.backend_pid:
        return  # this is a direct connection
    with (
        suppress(psycopg.errors.ProtocolViolation),  # transactions do not work in statement mode
        _Connection.connect(**parameters, autocommit=True) as other,
        other.transaction(),
    ):
        if _session(other) != first == _session(connection):
            return
    raise UsageError(
        "journal_invalid",
        "the connection pool in front of PostgreSQL is not in session mode",
        hint="Set `pool_mode = session` in the pool, or connect to PostgreSQL directly.",
    )


def _session(connection: psycopg.Connection) -> Any:
    [session] = connection.execute("SELECT pg_backend_pid()").fetchone() or (None,)
    return session


def connection_parameters(location: PostgresUrl) -> dict[str, Any]:
    """Return the parameters of libpq.

    Raises:
        UsageError: `journal_invalid` if the URL is invalid.
    """
    try:
        given = conninfo_to_dict(location.url)
    except psycopg.Error:
        # The error may contain a part of the password.
        raise UsageError(
            "journal_invalid",
            "the URL of the journal has an unknown parameter or an invalid %-encoding",
            hint="Use only parameters of libpq and `schema`, and encode % as %25.",
        ) from None
    resolved = _resolved(given)
    # The parameters of a service that does not exist are unknown.
    if "sslmode" not in {**given, **resolved} and not (resolved and _is_local(resolved)):
        given["sslmode"] = "verify-full"
    return _DEFAULTS | given


def _resolved(given: Mapping[str, Any]) -> dict[str, str]:
    """Return parameters with those of environment variables and of the service file.

    Omit parameters with the default value of libpq. Return nothing if the service does not exist.
    """
    # Only a connection reads the service that the URL names. libpq rejects this value before it
    # connects to a server.
    rejected = {**given, "target_session_attrs": "none"}
    connection = PGconn.connect_start(make_conninfo("", **rejected).encode())
    try:
        return {
            option.keyword.decode(): option.val.decode()
            for option in connection.info
            if option.val not in (None, option.compiled)
        }
    finally:
        connection.finish()


def _is_local(parameters: Mapping[str, Any]) -> bool:
    """Return whether all hosts are this machine."""
    hosts = [
        host
        for name in ("host", "hostaddr")
        for host in str(parameters.get(name, "")).split(",")
        # An empty name and a path mean a Unix socket.
        if host and not host.startswith(("/", "@"))
    ]
    return all(map(is_loopback, hosts))


def opening_error(error: psycopg.Error, schema: str) -> NexusError:
    """Return the error for a journal that cannot be opened."""
    if isinstance(error, psycopg.OperationalError):
        return UnreachableError(
            "journal_unreachable",
            f"cannot open the journal in PostgreSQL: {error_reason(error)}",
            hint=_opening_hint(error),
        )
    if isinstance(error, psycopg.errors.UndefinedObject):
        return NotFoundError(
            "role_missing",
            f"cannot grant privileges on the journal: {error_reason(error)}",
            hint="Check the name of the role, or create the role with CREATE ROLE in `psql`.",
        )
    message = f"cannot use the PostgreSQL schema {schema} for the journal: {error_reason(error)}"
    if isinstance(error, psycopg.errors.InsufficientPrivilege):
        return NotAllowedError(
            "journal_denied",
            message,
            hint="Run `nexus-tools leader journal create URL --grant ROLE`, where ROLE is the role"
            " of the Leader, and the URL names a role that may create tables.",
        )
    return UsageError(
        "journal_invalid",
        message,
        hint="Check the database, or name another schema with ?schema=NAME in the URL.",
    )


def _opening_hint(error: psycopg.OperationalError) -> str:
    """Return the hint for a failed connection, whose message libpq may have translated."""
    if error.pgconn is not None and error.pgconn.needs_password:
        return (
            "Write the line HOST:PORT:DATABASE:USER:PASSWORD into the file ~/.pgpass, and set its"
            " mode to 0600."
        )
    if error.pgconn is not None and error.pgconn.used_password:
        return "Check the PostgreSQL server, the URL of the journal, and the password in ~/.pgpass."
    if re.search("SSL|certificate", str(error)):
        return (
            "Enable TLS on the PostgreSQL server, and save the certificate of its authority in"
            " ~/.postgresql/root.crt. To override the check on a network that you trust, set"
            " `sslmode` in the URL or in the service file, for example ?sslmode=disable."
        )
    return "Check the PostgreSQL server and the URL of the journal."


def error_reason(error: psycopg.Error) -> str:
    """Return the first line of an error. Further lines may contain values of the journal."""
    return (error.diag.message_primary or str(error)).partition("\n")[0]
