"""The index that a server reads, which its writer may change, replace or delete at any time."""

import os
import sqlite3
from hashlib import blake2b
from pathlib import Path

from msgspec import Struct

from nexus_tools import __version__
from nexus_tools.index.index import Index
from nexus_tools.index.index_file import DAMAGE, IndexIdentity, invalid_error, open_reader


class IndexState(Struct, frozen=True):
    """The state of an index when a request arrives.

    `version` is different after each change. `newest_ms` is the time of the newest request or
    closing, or 0.
    """

    generation: str
    complete_since: int
    checkpoint: int
    last_seq: int
    newest_ms: int
    version: bytes


class IndexSource:
    """An open index. If the file is replaced by another one, the next request reads the new file.

    The methods raise the errors of `open_reader`.
    """

    def __init__(
        self, path: Path, identity: IndexIdentity, intent_model: str | None = None
    ) -> None:
        """Take the arguments of `Index`."""
        self._path = path
        self._identity = identity
        self._intent_model = intent_model
        self._file: tuple[int, int] | None = None
        self._index: Index | None = None
        self._connection: sqlite3.Connection | None = None

    @property
    def path(self) -> Path:
        """The path of the file."""
        return self._path

    @property
    def identity(self) -> IndexIdentity:
        """The chain and package of the index."""
        return self._identity

    @property
    def index(self) -> Index:
        """The current index."""
        if self._index is None or self._file != self._file_number():
            self.close()
            self._connection = open_reader(self._path, self._identity)
            self._index = Index(self._path, self._identity, intent_model=self._intent_model)
            self._file = self._file_number()
        return self._index

    @property
    def connection(self) -> sqlite3.Connection:
        """A connection to the current index, for queries that `Index` does not have."""
        assert self.index is not None
        assert self._connection is not None
        return self._connection

    def state(self) -> IndexState:
        """Return the current state."""
        try:
            row = self.connection.execute(
                "SELECT generation, complete_since, checkpoint, last_seq, value, last_change,"
                " newest_ms FROM identity, cursor"
            ).fetchone()
        except DAMAGE as error:
            raise invalid_error(self._path, error) from error
        version = blake2b(repr((__version__, *row)).encode(), digest_size=12).digest()
        generation, complete_since, checkpoint, last_seq, _, _, newest_ms = row
        return IndexState(generation, complete_since, checkpoint, last_seq, newest_ms, version)

    def close(self) -> None:
        """Close the file."""
        if self._index is not None:
            self._index.close()
        if self._connection is not None:
            self._connection.close()
        self._index = self._connection = None

    def _file_number(self) -> tuple[int, int] | None:
        try:
            status = os.stat(self._path)  # noqa: PTH116 - `Path.stat` takes twice as long
        except OSError:
            return None
        return status.st_dev, status.st_ino
