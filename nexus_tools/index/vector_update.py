"""The vectors of tools in an index file, which the search by intent compares with queries.

The vectors have their own position: all tools up to the change number `identity.vector_change` have
a current vector. A sentence encoder takes much longer for a tool than the text index, so the
vectors are computed in small parts, and neither events nor words wait for them.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgspec import Struct

from nexus_tools.index.index_file import WritableIndex, connect_writer, reported_damage
from nexus_tools.index.queries.search import read_text_digests
from nexus_tools.index.tool_text import count_changes, read_tool_texts

if TYPE_CHECKING:
    from nexus_tools.index.search.intent_model import IntentModel

_TEXTS_AT_ONCE = 1_000
_DIGEST_BYTES = 16


class _Part(Struct, frozen=True):
    """Tools that changed up to a change number: new texts by tool, and tools without a vector."""

    change: int
    is_last: bool
    texts: Mapping[int, str]
    removed: Sequence[int]


class VectorUpdate:
    """The task that computes the vectors of tools. Only the writer of the index may run it.

    Without a model, the task deletes all vectors. Not thread-safe: only one thread at a time may
    call the methods.
    """

    def __init__(self, index: WritableIndex, model: "IntentModel | None" = None) -> None:
        self._index = index
        self._model = model
        self._connection = connect_writer(index.path)

    def run(self) -> None:
        """Compute all missing vectors. Raises the errors of `run_part`."""
        while self.run_part():
            pass

    def run_part(self) -> bool:
        """Compute the vectors of some tools, and return whether more tools may need one.

        If the process ends before the part is stored, the part is computed again.

        Raises:
            ValidationError: `index_invalid` if the index file cannot be read or written.
        """
        with reported_damage(self._index.path):
            generation, change = self._position()
            if self._model is None:
                return False
            part = self._read_part(self._model, change)
            if part.change == change:
                return False
            vectors = self._model.encode_all([*part.texts.values()])
            self._store(part, dict(zip(part.texts, vectors, strict=True)), generation)
            return not part.is_last

    def pending(self) -> int:
        """Return the maximum number of tools that need a new vector. Raises `index_invalid`."""
        if self._model is None:
            return 0
        with reported_damage(self._index.path):
            return count_changes(self._connection, self._position()[1])

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _position(self) -> tuple[str, int]:
        """Return the generation and the change number. Delete the vectors of another model."""
        digest = None if self._model is None else self._model.digest
        generation, stored, change = self._connection.execute(
            "SELECT generation, vector_model, vector_change FROM identity"
        ).fetchone()
        if stored == digest:
            return generation, change
        with self._transaction():
            self._connection.execute("DELETE FROM vectors")
            self._connection.execute(
                "UPDATE identity SET vector_model = ?, vector_change = 0", (digest,)
            )
        return generation, 0

    def _read_part(self, model: "IntentModel", change: int) -> _Part:
        """Read changed tools until enough of them have a text that was not encoded."""
        changed = read_tool_texts(self._connection, change, _TEXTS_AT_ONCE)
        digests = read_text_digests(self._connection, [tool.tool for tool in changed])
        texts: dict[int, str] = {}
        removed: list[int] = []
        for tool in changed:
            if len(texts) == model.tools_at_once:
                return _Part(change, is_last=False, texts=texts, removed=removed)
            change = tool.change
            if not tool.is_listed:
                removed.append(tool.tool)
                continue
            text = model.tool_text(tool)
            if digests.get(tool.tool) != _digest(text):
                texts[tool.tool] = text
        is_last = len(changed) < _TEXTS_AT_ONCE
        return _Part(change, is_last=is_last, texts=texts, removed=removed)

    def _store(self, part: _Part, vectors: Mapping[int, bytes], generation: str) -> None:
        """Store the vectors and the position, unless the file has other contents now."""
        removed = [(tool,) for tool in part.removed]
        added = [(tool, _digest(part.texts[tool]), vector) for tool, vector in vectors.items()]
        with self._transaction():
            moved = self._connection.execute(
                "UPDATE identity SET vector_change = ? WHERE generation = ?",
                (part.change, generation),
            )
            if moved.rowcount:
                self._connection.executemany("DELETE FROM vectors WHERE tool = ?", removed)
                self._connection.executemany(
                    "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", added
                )

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=_DIGEST_BYTES).digest()
