"""The leases of the processes that share a journal in PostgreSQL.

A process has a lease while its row is in the table `workers`. Each transaction of the process
renews the lease, and fails if the lease has ended. If a process does not renew its lease, another
process deletes the row. The rows of invocations that refer to the lease are then free. All times of
leases are times of the server.
"""

import os
import socket
import time
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from nexus_tools import __version__
from nexus_tools.errors import NexusError, UnreachableError
from nexus_tools.leader.journal.store import Connection
from nexus_tools.sui.types.address import Address

LEASE_S = 10.0
"""The time from the last renewal of a lease to its end, unless a `Member` has another one."""

MAX_CLAIMS = 5
"""The number of claims without a return after which no process claims an invocation again."""

TABLES = f"""
CREATE TABLE workers (
    worker uuid PRIMARY KEY,
    name text NOT NULL,
    version text NOT NULL,
    started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    seen_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    steady_since timestamptz NOT NULL DEFAULT clock_timestamp(),
    batch bigint NOT NULL DEFAULT 0,
    is_ready boolean NOT NULL DEFAULT true
);
CREATE TABLE worker_keys (
    address bytea PRIMARY KEY, worker uuid NOT NULL REFERENCES workers ON DELETE CASCADE
);
CREATE TABLE holder (
    "only" int PRIMARY KEY CHECK ("only" = 0),
    worker uuid REFERENCES workers ON DELETE SET NULL,
    until timestamptz NOT NULL DEFAULT '-infinity'
);
INSERT INTO holder ("only") VALUES (0);
INSERT INTO cursor VALUES (0, '');
ALTER TABLE invocations
    ADD COLUMN checkpoint bigint NOT NULL DEFAULT 0,
    ADD COLUMN holder_only boolean NOT NULL DEFAULT false,
    ADD COLUMN claims smallint NOT NULL DEFAULT 0,
    ADD COLUMN worker uuid REFERENCES workers ON DELETE SET NULL;
CREATE INDEX free ON invocations (opens_at_ms) WHERE worker IS NULL AND stage <> 'closed';
CREATE INDEX owned ON invocations (worker) WHERE worker IS NOT NULL;
CREATE INDEX closed_rows ON invocations (closed_at_ms) WHERE stage = 'closed';
CREATE INDEX poisonous ON invocations (expires_at_ms)
    WHERE claims >= {MAX_CLAIMS} AND stage <> 'closed';
"""  # noqa: S608 - constant numbers
"""The tables and columns that a journal in PostgreSQL has in addition to those in SQLite.

`is_ready` is set while a process can reach its node, and can pay for closings and sign them.
`claims` is the number of claims that did not end in a return. Only the holder may claim an
invocation with `holder_only`.
"""

# CLOCK_MONOTONIC stops while a virtual machine is suspended.
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def uptime_s() -> float:
    """Return the time since the start of the machine, which never goes back, in seconds."""
    return time.clock_gettime(_CLOCK)


@dataclass(frozen=True, slots=True)
class Member:
    """A process that shares a journal, and the addresses of the keys with which it signs.

    A process renews its lease at least every `beat_s` seconds. Other processes end the lease
    `lease_s` seconds after the last renewal. The holder remains it for `hold_s` seconds after each
    renewal.
    """

    addresses: tuple[Address, ...] = ()
    beat_s: float = 2.0
    lease_s: float = LEASE_S
    hold_s: float = 3.0
    name: str = field(default_factory=lambda: f"{socket.gethostname()}:{os.getpid()}")

    @property
    def tolerance(self) -> timedelta:
        """The longest time between two renewals of a process that can reach the server."""
        return timedelta(seconds=2 * self.beat_s)

    @property
    def duration(self) -> timedelta:
        """The time from the last renewal to the end of the lease."""
        return timedelta(seconds=self.lease_s)


class LeaseLostError(NexusError):
    """The lease of this process has ended, so other processes may own its invocations.

    The code is that of a failure of the journal, because no component can continue.
    """

    def __init__(self, reason: str) -> None:
        super().__init__("journal_failed", f"the lease of this process has ended: {reason}")


class RowLostError(Exception):
    """This process does not own the invocation, so it must not continue to work on it."""


class HoldingLostError(Exception):
    """Another process has recorded events, so this process does not hold the intake."""


def join(connection: Connection, worker: UUID, member: Member) -> None:
    """Create a lease.

    Raises:
        UnreachableError: `worker_key_in_use` if another process with a lease has a key.
    """
    keys = [bytes(address) for address in member.addresses]
    # A process with the same key that does not renew its lease was probably this one.
    connection.execute(
        "DELETE FROM workers WHERE seen_at < clock_timestamp() - ?"
        " AND worker IN (SELECT worker FROM worker_keys WHERE address = ANY(?))",
        (member.tolerance, keys),
    )
    connection.execute(
        "INSERT INTO workers (worker, name, version) VALUES (?, ?, ?)",
        (worker, member.name, __version__),
    )
    connection.executemany(
        "INSERT INTO worker_keys VALUES (?, ?) ON CONFLICT DO NOTHING",
        [(key, worker) for key in keys],
    )
    others = connection.execute(
        "SELECT name FROM workers JOIN worker_keys USING (worker)"
        " WHERE address = ANY(?) AND worker <> ?",
        (keys, worker),
    ).fetchall()
    if others:
        raise UnreachableError(
            "worker_key_in_use",
            f"the process {others[0][0]} uses the same worker key",
            hint="Create another key with `nexus-tools wallet new`, add it with `nexus-tools leader"
            " worker add`, and pass it with --worker.",
        )


def renew(connection: Connection, worker: UUID, batch: int, member: Member) -> None:
    """Renew a lease, store the number of the transaction, and lock the row.

    Raises:
        LeaseLostError: The lease has ended.
    """
    statement = (
        "UPDATE workers SET batch = ?, seen_at = clock_timestamp(), steady_since ="
        " CASE WHEN seen_at < clock_timestamp() - ? THEN clock_timestamp() ELSE steady_since END"
        " WHERE worker = ?"
    )
    if connection.execute(statement, (batch, member.tolerance, worker)).rowcount != 1:
        raise LeaseLostError("it was not renewed in time")


def set_ready(connection: Connection, worker: UUID, *, is_ready: bool) -> None:
    """Record whether a process is ready to close invocations."""
    connection.execute("UPDATE workers SET is_ready = ? WHERE worker = ?", (is_ready, worker))


def committed_batch(connection: Connection, worker: UUID) -> int | None:
    """Return the number of the last transaction, or None if the lease has ended.

    If a former connection still executes a transaction, wait until that transaction ends.
    """
    row = connection.execute(
        "SELECT batch FROM workers WHERE worker = ? FOR NO KEY UPDATE", (worker,)
    ).fetchone()
    return None if row is None else int(row[0])


def end_old_leases(connection: Connection, worker: UUID, member: Member) -> int:
    """End the leases that were not renewed in time, and return their number.

    A process that could not reach the server for a while ends no leases. The other processes
    probably could not reach the server either.
    """
    # A lease in a transaction is being renewed.
    count = connection.execute(
        "DELETE FROM workers WHERE worker IN (SELECT worker FROM workers"
        " WHERE seen_at < clock_timestamp() - ? FOR UPDATE SKIP LOCKED)"
        " AND EXISTS"
        " (SELECT FROM workers WHERE worker = ? AND steady_since < clock_timestamp() - ?)",
        (member.duration, worker, member.duration),
    ).rowcount
    if count:
        notify(connection)
    return count


def leave(connection: Connection, worker: UUID) -> None:
    """Return all invocations of a process, and end its lease."""
    give_back(connection, worker)
    connection.execute("DELETE FROM workers WHERE worker = ?", (worker,))
    notify(connection)


def give_back(
    connection: Connection,
    worker: UUID,
    invocation: Address | None = None,
    *,
    holder_only: bool = False,
) -> None:
    """Return one or all invocations of a process, so that their claims do not count."""
    statement = (
        "UPDATE invocations SET worker = NULL, claims = claims - 1,"
        " holder_only = holder_only OR ? WHERE worker = ?"
    )
    values: tuple[object, ...] = (holder_only, worker)
    if invocation is not None:
        statement += " AND invocation = ?"
        values += (bytes(invocation),)
    connection.execute(statement, values)


def hold(connection: Connection, worker: UUID, duration: timedelta) -> bool:
    """Hold the intake for a time, and return whether no other process holds it."""
    statement = (
        'UPDATE holder SET worker = ?, until = clock_timestamp() + ? WHERE "only" IN'
        ' (SELECT "only" FROM holder'
        " WHERE worker IS NULL OR worker = ? OR until < clock_timestamp() FOR UPDATE SKIP LOCKED)"
    )
    return connection.execute(statement, (worker, duration, worker)).rowcount == 1


def release(connection: Connection, worker: UUID) -> None:
    """Stop holding the intake, so that another process can hold it at once."""
    connection.execute("UPDATE holder SET worker = NULL WHERE worker = ?", (worker,))


def notify(connection: Connection) -> None:
    """Wake the processes that wait for free invocations when the transaction is committed."""
    # PostgreSQL has one name space for channels in each database.
    connection.execute("SELECT pg_notify(current_schema(), '')")
