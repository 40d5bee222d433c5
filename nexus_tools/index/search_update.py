"""The files that a search needs beside the index: a text index, and vectors in the index file."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from nexus_tools.index.index_file import DAMAGE, WritableIndex, connect_writer, invalid_error
from nexus_tools.index.search import CatchUp, TextIndex, VectorUpdate, open_text_index
from nexus_tools.index.search.engines import source_name, text_folder
from nexus_tools.index.tool_text import read_tool_texts

if TYPE_CHECKING:
    from nexus_tools.index.search.intent_model import IntentModel


class SearchUpdate:
    """The task that makes changed tools findable. Only the writer of the index may run it.

    With an intent model, it also stores a vector for each tool. Not thread-safe: only one thread at
    a time may call `run` or `close`.
    """

    def __init__(self, index: WritableIndex, model: "IntentModel | None" = None) -> None:
        self._index = index
        self._model = model
        self._connection = connect_writer(index.path)
        self._source: str | None = None
        self._text_index: TextIndex | None = None
        self._catch_up: CatchUp | None = None

    def run(self) -> int:
        """Read the changed tools, and return their number. After a rebuild, read all tools.

        Raises:
            ValidationError: `index_invalid` if the index file cannot be read or written.
            UsageError: `text_index_locked` if another process writes the text index.
            WrongStateError: `text_index_unusable` if files of the text index are damaged. The next
                call creates them again.
        """
        try:
            with self._reported():
                return self._opened().run()
        except BaseException:
            self._close_text_index()
            raise

    def close(self) -> None:
        """Close the files."""
        self._close_text_index()
        self._connection.close()

    def _opened(self) -> CatchUp:
        """Open the text index of the current contents of the index file."""
        source = self._check_model()
        if self._catch_up is None or source != self._source:
            self._close_text_index()
            folder = text_folder(self._index.path)
            self._text_index = open_text_index(folder, source, is_writer=True)
            self._catch_up = CatchUp(
                lambda after, limit: read_tool_texts(self._connection, after, limit),
                self._text_index,
                on_update=self._vector_update(),
            )
            self._source = source
        return self._catch_up

    def _vector_update(self) -> VectorUpdate | None:
        if self._model is None:
            return None
        return VectorUpdate(self._model.encode_tool, self._store_vectors)

    def _check_model(self) -> str:
        """Delete the vectors of another model, and return the source of the text index."""
        digest = None if self._model is None else self._model.digest
        generation, stored = self._connection.execute(
            "SELECT generation, vector_model FROM identity"
        ).fetchone()
        if stored != digest:
            with self._transaction():
                self._connection.execute("DELETE FROM vectors")
                self._connection.execute("UPDATE identity SET vector_model = ?", (digest,))
        return source_name(generation, digest)

    def _store_vectors(self, vectors: Mapping[int, bytes | None]) -> None:
        removed = [(tool,) for tool, vector in vectors.items() if vector is None]
        added = [(tool, vector) for tool, vector in vectors.items() if vector is not None]
        with self._transaction():
            self._connection.executemany("DELETE FROM vectors WHERE tool = ?", removed)
            self._connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", added)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    @contextmanager
    def _reported(self) -> Iterator[None]:
        try:
            yield
        except DAMAGE as error:
            raise invalid_error(self._index.path, error) from error

    def _close_text_index(self) -> None:
        text_index, self._text_index, self._catch_up = self._text_index, None, None
        if text_index is not None:
            text_index.close()
