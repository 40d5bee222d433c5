"""Both text search engines."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nexus_tools.index.search import TextIndex, open_text_index
from nexus_tools.index.tool_text import ToolText

Opener = Callable[..., TextIndex]


@pytest.fixture(params=["tantivy", "fts5"])
def engine(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def open_index(engine: str, tmp_path: Path) -> Iterator[Opener]:
    """Return a function that opens an index, by default always the same one, and as the writer."""
    opened = []

    def open_(
        *, folder: Path = tmp_path / "index", source: str = "source", is_writer: bool = True
    ) -> TextIndex:
        index = open_text_index(folder, source, is_writer=is_writer, engine=engine)
        opened.append(index)
        return index

    yield open_
    for index in opened:
        index.close()


@pytest.fixture
def index(open_index: Opener) -> TextIndex:
    return open_index()


def tool_text(
    tool: int, fqn: str, description: str = "", words: str = "", *, change: int = 0, listed=True
) -> ToolText:
    return ToolText(tool, fqn, description, words, change or tool, listed)
