"""The interface between the journal and its database, which is SQLite or PostgreSQL."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

from nexus_tools.errors import UsageError


class Rows(Protocol):
    """The result of a statement."""

    @property
    def rowcount(self) -> int:
        """Return the number of rows that the statement wrote."""

    def fetchone(self) -> Any:
        """Return the next row, or None."""

    def fetchall(self) -> list[Any]:
        """Return all other rows."""

    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """A connection that accepts the SQL that both databases share, with the placeholder `?`."""

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> Rows:
        """Execute a statement."""

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]], /) -> Any:
        """Execute a statement once for each row of values."""


Operation = Callable[[Connection], Any]


class StoreAwayError(Exception):
    """The database is not available now, and the same operations can be committed later."""


class Store(Protocol):
    """An open database that one thread uses."""

    failure_hint: str
    """The hint of the error for a commit that failed."""

    def commit(self, operations: Sequence[Operation]) -> list[Any]:
        """Run all operations in one transaction, which an error rolls back completely.

        Raises `StoreAwayError` if the database is not available. The caller then has to call
        `commit` with the same operations before others. They are executed only once.
        """

    def close(self) -> None:
        """Close the database."""


def check_identity(connection: Connection, identity: str, place: str) -> None:
    """Write the identity into a new journal. `place` describes the journal in messages.

    Raises:
        UsageError: `journal_identity_mismatch` if the journal has another identity.
    """
    stored = connection.execute("SELECT value FROM identity").fetchone()
    if stored is None:
        connection.execute("INSERT INTO identity VALUES (?)", (identity,))
    elif stored[0] != identity:
        raise UsageError(
            "journal_identity_mismatch",
            f"the journal {place} belongs to another leader or chain: {stored[0]}",
            hint="Use a separate journal for each leader and each chain.",
        )


def extra_missing(error: ImportError) -> UsageError:
    """Return the error for a journal in PostgreSQL without the extra `fleet`."""
    return UsageError(
        "extra_not_installed",
        f"the extra `fleet` is required for a journal in PostgreSQL: {error}",
        hint="Run `pip install 'nexus-tools[fleet]'`.",
    )
