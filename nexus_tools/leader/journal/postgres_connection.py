"""Connections to the PostgreSQL server of a journal."""

from collections.abc import Mapping
from time import monotonic
from typing import Any, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import Conninfo

from nexus_tools.errors import NexusError, NotAllowedError, UnreachableError, UsageError
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
# A statement takes milliseconds, after it has waited for locks.
_ANSWER_LIMIT_S = 8.0
_SETTINGS = {
    # Longer than the server keeps the locks of a process that is suspended.
    "lock_timeout": 5_000,
    # A process that is suspended in a transaction would otherwise stop all others. If the process
    # was only slow, it connects again and repeats the transaction.
    "idle_in_transaction_session_timeout": 2_000,
    "default_transaction_isolation": "read committed",
    # The server has settings of the same names for its side of the connection.
    **{f"tcp_{name}": value for name, value in _KEEPALIVES.items()},
    "tcp_user_timeout": _DEFAULTS["tcp_user_timeout"],
}


def session_settings(schema: str) -> list[tuple[str, str]]:
    """Return the settings of each session as parameters of `set_config`."""
    return [(name, str(value)) for name, value in ({"search_path": schema} | _SETTINGS).items()]


SET_CONFIG = "SELECT set_config(%s, %s, false)"
"""The statement that applies one of the settings of a session."""


T = TypeVar("T")


class _Connection(psycopg.Connection):
    """A connection that is closed if the server does not answer in time.

    TCP does not notice a proxy that confirms data without forwarding them.
    """

    def wait(self, gen: PQGen[T], interval: float = 0.1, timeout: float | None = None) -> T:
        limit_s = _ANSWER_LIMIT_S if timeout is None else timeout
        started_at_s = monotonic()
        try:
            return super().wait(gen, interval, limit_s)
        except psycopg.OperationalError as error:
            if monotonic() - started_at_s < limit_s:
                raise
            self.close()
            message = f"the server has not answered for {limit_s:.0f} s"
            raise psycopg.OperationalError(message) from error


def connect(parameters: Mapping[str, Any], schema: str) -> psycopg.Connection:
    """Return a connection whose statements are transactions, unless a transaction is started."""
    connection = _Connection.connect(**parameters, autocommit=True)
    try:
        for setting in session_settings(schema):
            connection.execute(SET_CONFIG, setting)
    except psycopg.Error:
        connection.close()
        raise
    return connection


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


def opening_error(error: psycopg.Error, schema: str) -> NexusError:
    """Return the error for a journal that cannot be opened."""
    if isinstance(error, psycopg.OperationalError):
        return UnreachableError(
            "journal_unreachable",
            f"cannot open the journal in PostgreSQL: {error_reason(error)}",
            hint="Check the PostgreSQL server and the URL of the journal.",
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


def error_reason(error: psycopg.Error) -> str:
    """Return the first line of an error. Further lines may contain values of the journal."""
    return (error.diag.message_primary or str(error)).partition("\n")[0]
