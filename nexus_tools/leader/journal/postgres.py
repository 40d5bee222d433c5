"""A journal in a schema of a PostgreSQL database, which several processes share."""

from collections.abc import Sequence
from contextlib import ExitStack, suppress
from typing import Any
from uuid import uuid4

import psycopg

from nexus_tools.leader.journal import lease
from nexus_tools.leader.journal.lease import LeaseLostError, Member, uptime_s
from nexus_tools.leader.journal.postgres_connection import (
    check_session,
    connect,
    connection_parameters,
    error_reason,
    opening_error,
)
from nexus_tools.leader.journal.postgres_tables import Adapter, create_tables
from nexus_tools.leader.journal.postgres_url import PostgresUrl
from nexus_tools.leader.journal.store import Operation, StoreAwayError, check_identity


class PostgresSchema:
    """The tables of a journal in PostgreSQL, and the lease of this process.

    A connection can be lost after the process sends COMMIT and before it receives the answer.
    Therefore, each transaction stores its number in the row of the lease. After a new connection,
    the stored number shows whether the transaction was committed. A transaction fails if the lease
    has ended, for example because this process was cut off from the server.

    `worker` is the ID of the lease. `renewed_at_s` is a time of `uptime_s` before the last renewal.
    """

    failure_hint = "Read the log of the PostgreSQL server, then start the Leader again."

    def __init__(self, location: PostgresUrl, identity: str, member: Member) -> None:
        """Connect, create the tables if they do not exist, and join the other processes.

        Raises:
            UnreachableError: `journal_unreachable` if the server does not accept connections, or
                `worker_key_in_use` if another process has the same key.
            NotAllowedError: `journal_denied` if the role lacks a privilege.
            UsageError: `journal_format_unsupported` if the tables have another version,
                `journal_identity_mismatch`, or `journal_invalid` if they cannot be used.
        """
        self.worker = uuid4()
        self.renewed_at_s = 0.0
        self.schema = location.schema
        self._member = member
        name = {"application_name": f"nexus-tools {self.worker.hex}"}
        self._parameters = connection_parameters(location) | name
        self._batch = 0
        self._unconfirmed: list[Any] = []
        self._connection: psycopg.Connection | None = None
        try:
            self._connection = self._open(identity)
        except psycopg.Error as error:
            raise opening_error(error, self.schema) from error

    def commit(self, operations: Sequence[Operation]) -> list[Any]:
        """Run all operations in one transaction, which an error rolls back completely.

        Raises `StoreAwayError` if the database is not available. The next call must repeat the same
        operations. If the first transaction was committed, the call returns its results. Raises
        `LeaseLostError` if the lease has ended.
        """
        try:
            if self._connection is None:
                self._connection, stored_batch = self._reopen()
                if stored_batch > self._batch:
                    return self._confirm()
            return self._commit(self._connection, operations)
        except psycopg.Error as error:
            if self._is_away(error):
                self._disconnect()
                message = f"PostgreSQL does not accept writes: {error_reason(error)}"
                raise StoreAwayError(message) from error
            raise psycopg.DatabaseError(error_reason(error)) from error

    def close(self) -> None:
        """End the lease if the server responds, and close the connection."""
        if self._connection is not None:
            try:
                self._leave(self._connection)
            except (psycopg.Error, LeaseLostError):
                with suppress(psycopg.Error, LeaseLostError):
                    self._connection, _ = self._reopen()
                    self._leave(self._connection)
        self._disconnect()

    def _leave(self, connection: psycopg.Connection) -> None:
        with connection.transaction():
            lease.leave(Adapter(connection), self.worker)

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def _is_away(self, error: psycopg.Error) -> bool:
        is_broken = self._connection is not None and self._connection.broken
        return is_broken or isinstance(
            error, psycopg.OperationalError | psycopg.errors.ReadOnlySqlTransaction
        )

    def _commit(self, connection: psycopg.Connection, operations: Sequence[Operation]) -> list[Any]:
        started_at_s = uptime_s()
        try:
            connection.execute("BEGIN")
            adapter = Adapter(connection)
            lease.renew(adapter, self.worker, self._batch + 1, self._member)
            self._unconfirmed = [operation(adapter) for operation in operations]
            connection.execute("COMMIT")
        except Exception:
            with suppress(psycopg.OperationalError):
                connection.execute("ROLLBACK")
            raise
        self.renewed_at_s = started_at_s
        return self._confirm()

    def _confirm(self) -> list[Any]:
        """Return the results of the last transaction, which was committed."""
        results, self._unconfirmed = self._unconfirmed, []
        self._batch += 1
        return results

    def _open(self, identity: str) -> psycopg.Connection:
        with ExitStack() as stack:
            connection = stack.enter_context(connect(self._parameters, self.schema))
            check_session(connection, self._parameters)
            with connection.transaction():
                create_tables(connection, self.schema)
                check_identity(Adapter(connection), identity, f"in the schema {self.schema}")
            self.renewed_at_s = uptime_s()
            with connection.transaction():
                lease.join(Adapter(connection), self.worker, self._member)
            stack.pop_all()
            return connection

    def _reopen(self) -> tuple[psycopg.Connection, int]:
        """Connect again, and return the number of the last committed transaction."""
        with ExitStack() as stack:
            connection = stack.enter_context(connect(self._parameters, self.schema))
            # The server may not have noticed that the former connection of this process is lost.
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE application_name = %s AND pid != pg_backend_pid()",
                (self._parameters["application_name"],),
            )
            batch = lease.committed_batch(Adapter(connection), self.worker)
            if batch is None:
                raise LeaseLostError("it was not renewed in time")
            if batch not in (self._batch, self._batch + bool(self._unconfirmed)):
                raise LeaseLostError("PostgreSQL lost committed transactions")
            stack.pop_all()
            return connection, batch
