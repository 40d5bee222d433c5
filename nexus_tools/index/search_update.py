"""The update of the text index that belongs to an index file."""

from nexus_tools.index.index_file import WritableIndex, connect_writer, reported_damage
from nexus_tools.index.search import CatchUp, TextIndex, open_text_index
from nexus_tools.index.search.engines import text_folder
from nexus_tools.index.tool_text import read_tool_texts


class SearchUpdate:
    """The task that makes the words of changed tools findable.

    Only the writer of the index may run it. Not thread-safe: only one thread at a time may call
    `run` or `close`.
    """

    def __init__(self, index: WritableIndex) -> None:
        self._index = index
        self._connection = connect_writer(index.path)
        self._generation: str | None = None
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
            with reported_damage(self._index.path):
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
        ((generation,),) = self._connection.execute("SELECT generation FROM identity")
        if self._catch_up is None or generation != self._generation:
            self._close_text_index()
            folder = text_folder(self._index.path)
            self._text_index = open_text_index(folder, generation, is_writer=True)
            self._catch_up = CatchUp(
                lambda after, limit: read_tool_texts(self._connection, after, limit),
                self._text_index,
            )
            self._generation = generation
        return self._catch_up

    def _close_text_index(self) -> None:
        text_index, self._text_index, self._catch_up = self._text_index, None, None
        if text_index is not None:
            text_index.close()
