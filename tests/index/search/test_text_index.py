"""Updates and searches of both engines."""

import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from nexus_tools.errors import UsageError, WrongStateError
from nexus_tools.index.search import TextIndex, open_text_index
from nexus_tools.index.search.text_index import EXACT_SCORE, MAX_RESULTS
from nexus_tools.index.tool_text import ToolText
from tests.index.search.conftest import tool_text

CONVERT = tool_text(1, "xyz.pictures.convertImage@1", "Convert images to PNG.", "file The image.")
WEATHER = tool_text(2, "xyz.meteo.weather-forecast@1", "Humidity and wind of a city.", "city Name.")
TRANSLATE = tool_text(3, "xyz.language.translate_text@2", "Übersetzt Texte.", "text Der Text.")
TOOLS = [CONVERT, WEATHER, TRANSLATE]


def found(index: TextIndex, query: str, limit: int = 10) -> list[int]:
    return [match.tool for match in index.search(query, limit)]


def test_index_is_empty_when_created(index):
    assert index.latest_change == 0
    assert found(index, "convert") == []


def test_update_advances_the_change_number(index):
    index.update(TOOLS)
    assert index.latest_change == 3
    index.update([])
    assert index.latest_change == 3


@pytest.mark.parametrize(
    ("query", "tool"),
    [
        ("convert", 1),
        ("image", 1),
        ("IMAGES", 1),
        ("converting", 1),
        ("pictures", 1),
        ("meteo", 2),
        ("city", 2),
        ("forec", 2),
        ("wind of the city", 2),
        ("ubersetzt", 3),
        ("ÜBERSETZT", 3),
        ("text", 3),
        ("hmidity", 2),
        ("humidiyt", 2),
        ("tranlsate", 3),
        ("the conver", 1),
    ],
)
def test_search_finds_words_stems_prefixes_and_typos(index, query, tool):
    index.update(TOOLS)
    assert found(index, query) == [tool]


def test_search_uses_only_the_last_word_as_a_prefix(index):
    index.update(TOOLS)
    assert found(index, "forec city") == [2]
    assert found(index, "fore image") == [1]


def test_search_ignores_stop_words_unless_there_are_no_others(index):
    index.update([tool_text(1, "xyz.aa.cat@1", "and for the"), tool_text(2, "xyz.bb.dog@1")])
    assert found(index, "and for the dog") == [2]
    assert found(index, "for the") == [1]


def test_search_finds_single_ideographs(index):
    index.update([tool_text(1, "xyz.aa.translate@1", "翻译文本")])
    assert found(index, "文本") == [1]


@pytest.mark.parametrize("query", ["xyz.aa.sum@1", "xyz.aa.sum", "sum", " SUM "])
def test_search_returns_an_exact_name_first(index, query):
    stuffed = tool_text(1, "xyz.sum.sum-sum-sum@1", "sum " * 200, "xyz aa sum " * 50)
    index.update([stuffed, tool_text(2, "xyz.aa.sum@1", "Add.")])
    matches = index.search(query, 10)
    assert matches[0].tool == 2
    assert matches[0].score >= EXACT_SCORE > matches[1].score


def test_search_ranks_a_name_above_a_stuffed_description(index):
    stuffed = tool_text(1, "xyz.aa.offer@1", "convert " * 2_000, "convert " * 2_000)
    index.update([stuffed, tool_text(2, "xyz.bb.convert-file@1", "Change the format of a file.")])
    assert found(index, "convert") == [2, 1]


def test_search_ranks_tools_with_more_of_the_words_higher(index):
    tools = [tool_text(tool, f"xyz.aa.filler{tool}@1", "resize video") for tool in range(10, 40)]
    tools += [
        tool_text(1, "xyz.aa.one@1", "resize photo"),
        tool_text(2, "xyz.aa.two@1", "photo album"),
    ]
    index.update(tools)
    assert found(index, "resize photo")[:2] == [1, 2]


def test_search_returns_the_best_matches_when_limited(index):
    index.update([tool_text(tool, f"xyz.aa.same{tool}@1", "same") for tool in range(1, 1_501)])
    assert len(index.search("same", 7)) == 7
    assert index.search("same", 7) == index.search("same", MAX_RESULTS)[:7]
    assert len(index.search("same", 10**9)) == MAX_RESULTS
    assert index.search("same", 0) == index.search("same", -1) == []


def test_update_replaces_the_text_of_a_tool(index):
    index.update(TOOLS)
    index.update([tool_text(1, "xyz.pictures.rotate@1", "Turn.", change=4)])
    assert found(index, "convert") == []
    assert found(index, "rotate") == [1]
    assert index.latest_change == 4


def test_update_keeps_the_latest_text_when_a_tool_occurs_twice(index):
    first = tool_text(1, "xyz.aa.earlier@1", change=1)
    index.update([first, tool_text(1, "xyz.aa.later@1", change=2)])
    assert found(index, "earlier") == []
    assert found(index, "later") == [1]


def test_update_removes_tools_that_are_not_listed(index):
    index.update(TOOLS)
    index.update([tool_text(1, "xyz.pictures.convertImage@1", change=4, listed=False)])
    assert found(index, "convert") == found(index, "xyz.pictures.convertImage@1") == []
    assert index.latest_change == 4
    index.update([tool_text(9, "xyz.aa.unknown@1", change=5, listed=False)])
    assert index.latest_change == 5


def test_repeated_update_changes_nothing(index):
    index.update(TOOLS)
    before = [index.search(text.description, 10) for text in TOOLS]
    index.update(TOOLS[:2])
    index.update(TOOLS)
    assert [found(index, text.description) for text in TOOLS] == [
        [match.tool for match in matches] for matches in before
    ]
    assert index.latest_change == 3


class _Interrupted(Sequence[ToolText]):
    """Texts whose reading fails after the first text."""

    def __len__(self) -> int:
        return 2

    def __getitem__(self, index):
        raise IndexError

    def __iter__(self) -> Iterator[ToolText]:
        yield tool_text(1, "xyz.aa.rotate@1", change=7)
        raise KeyboardInterrupt


def test_interrupted_update_keeps_texts_and_change_number(index, open_index):
    index.update(TOOLS)
    with pytest.raises(KeyboardInterrupt):
        index.update(_Interrupted())
    for current in (index, open_index(is_writer=False)):
        assert current.latest_change == 3
        assert found(current, "rotate") == []
        assert found(current, "convert") == [1]
    index.update([tool_text(4, "xyz.aa.four@1")])
    assert found(index, "rotate") == []
    assert index.latest_change == 4


_KILLED = """
import os, signal, sys
from pathlib import Path
from nexus_tools.index.search import open_text_index
from nexus_tools.index.tool_text import ToolText

def text(tool, name):
    return ToolText(tool, f"xyz.aa.{name}@1", "", "", tool, True)

class Texts(list):
    def __iter__(self):
        yield text(1, "rotate")
        yield text(8, "rotate")
        os.kill(os.getpid(), signal.SIGKILL)

index = open_text_index(Path(sys.argv[1]), "source", is_writer=True, engine=sys.argv[2])
index.update([text(1, "convert"), text(2, "resize")])
index.update(Texts([text(9, "rotate")]))
"""


def test_killed_update_keeps_texts_and_change_number(open_index, engine, tmp_path):
    folder = tmp_path / "killed"
    command = [sys.executable, "-c", _KILLED, str(folder), engine]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    for is_writer in (False, True):
        index = open_index(folder=folder, is_writer=is_writer)
        assert index.latest_change == 2
        assert found(index, "convert") == [1]
        assert found(index, "rotate") == []
    index.update([tool_text(3, "xyz.aa.rotate@1")])
    assert found(index, "rotate") == [3]


def test_threads_search_during_updates(index):
    index.update(TOOLS)

    def search_often(_):
        return {tuple(found(index, "convert")) for _ in range(50)}

    with ThreadPoolExecutor(3) as threads:
        results = threads.map(search_often, range(3))
        for change in range(4, 24):
            index.update([tool_text(change, f"xyz.aa.other{change}@1", change=change)])
        assert set().union(*results) == {(1,)}
    assert index.latest_change == 23


def test_index_keeps_its_content_when_reopened(open_index):
    index = open_index()
    index.update(TOOLS)
    index.close()
    reopened = open_index()
    assert reopened.latest_change == 3
    assert found(reopened, "convert") == [1]


def test_reader_sees_the_updates_of_the_writer(open_index):
    writer = open_index()
    reader = open_index(is_writer=False)
    writer.update(TOOLS)
    assert reader.latest_change == 3
    assert found(reader, "convert") == [1]


def test_reader_refuses_a_missing_index(open_index):
    with pytest.raises(WrongStateError) as caught:
        open_index(is_writer=False)
    assert caught.value.code == "text_index_unusable"
    assert "nexus-tools index run" in caught.value.hint


def test_index_of_another_source_is_replaced_by_the_writer_only(open_index):
    index = open_index(source="first")
    index.update(TOOLS)
    index.close()
    with pytest.raises(WrongStateError):
        open_index(source="second", is_writer=False)
    replaced = open_index(source="second")
    assert replaced.latest_change == 0
    assert found(replaced, "convert") == []


@pytest.mark.parametrize("kept_share", [0, 0.5])
def test_damaged_index_is_replaced_by_the_writer(open_index, tmp_path, kept_share):
    open_index().update(TOOLS)
    damaged = tmp_path / "damaged"
    for file in _files(tmp_path / "index"):
        data = file.read_bytes()
        _write(damaged / file.relative_to(tmp_path / "index"), data[: int(len(data) * kept_share)])
    with pytest.raises(WrongStateError):
        open_index(folder=damaged, is_writer=False)
    replaced = open_index(folder=damaged)
    assert replaced.latest_change == 0
    replaced.update(TOOLS)
    assert found(replaced, "convert") == [1]


def test_each_damaged_file_is_reported_or_harmless(open_index, tmp_path):
    index = open_index()
    index.update(TOOLS)
    index.close()
    files = {file: file.read_bytes() for file in _files(tmp_path / "index")}
    for number, damaged in enumerate(files):
        folder = tmp_path / f"damaged{number}"
        for file, data in files.items():
            half = len(data) // 2 if file == damaged else 0
            changed = bytes(byte ^ 0x55 for byte in data[:half]) + data[half:]
            _write(folder / file.relative_to(tmp_path / "index"), changed)
        with suppress(WrongStateError):  # with code `text_index_unusable`
            reader = open_index(folder=folder, is_writer=False)
            assert (reader.latest_change, found(reader, "convert")) in [(3, [1]), (0, [])]


@pytest.mark.parametrize("engine", ["tantivy"], indirect=True)  # FTS5 locks for each update
def test_second_writer_is_refused(open_index):
    first = open_index()
    first.update(TOOLS)
    with pytest.raises(UsageError) as caught:
        open_index()
    assert caught.value.code == "text_index_locked"
    assert found(first, "convert") == [1]


def test_tantivy_is_refused_with_a_hint_if_not_installed(tmp_path, monkeypatch):
    monkeypatch.setattr("nexus_tools.index.search.engines.find_spec", lambda _: None)
    with pytest.raises(UsageError) as caught:
        open_text_index(tmp_path, "source", is_writer=True, engine="tantivy")
    assert caught.value.code == "extra_not_installed"
    assert "nexus-tools[index]" in caught.value.hint


def test_fts5_is_the_default_if_tantivy_is_not_installed(tmp_path, monkeypatch):
    monkeypatch.setattr("nexus_tools.index.search.engines.find_spec", lambda _: None)
    index = open_text_index(tmp_path, "source", is_writer=True)
    index.update(TOOLS)
    assert found(index, "convert") == [1]
    index.close()


def _write(file: Path, data: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)


def _files(folder: Path) -> list[Path]:
    return sorted(
        path for path in folder.rglob("*") if path.is_file() and not path.name.endswith(".lock")
    )
