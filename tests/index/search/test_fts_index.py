"""Words that occur in too many tools to rank all of them with FTS5."""

import pytest

from nexus_tools.index.search import fts_index
from nexus_tools.index.search.fts_index import FtsIndex
from tests.index.search.conftest import tool_text

RANKED = 5
"""The number of tools that the tests allow to rank."""


@pytest.fixture
def index(tmp_path, monkeypatch):
    """Return an index with twenty tools whose descriptions have the same frequent words."""
    monkeypatch.setattr(fts_index, "_MAX_RANKED", RANKED)
    index = FtsIndex(tmp_path / "text.sqlite", "source", is_writer=True)
    index.update(
        [tool_text(tool, f"xyz.aa.filler{tool}@1", "Supports images.") for tool in range(1, 21)]
    )
    yield index
    index.close()


def found(index, query, limit=30):
    return [match.tool for match in index.search(query, limit)]


def test_frequent_word_finds_names_first(index):
    index.update([tool_text(30, "xyz.bb.resize-image@1"), tool_text(31, "xyz.bb.other@1")])
    assert found(index, "image") == [30, *range(1, 21)]
    assert found(index, "image", 2) == [30, 1]


def test_prefix_of_a_frequent_word_finds_its_tools(index):
    assert found(index, "suppo") == found(index, "sup") == [*range(1, 21)]


def test_word_precedes_many_longer_words(index):
    index.update([tool_text(30, "xyz.bb.one@1", "plan")])
    index.update([tool_text(tool, f"xyz.bb.planet{tool}@1") for tool in range(40, 50)])
    assert found(index, "plan") == [30]
    assert found(index, "plane") == [*range(40, 50)]


def test_prefix_with_many_longer_words_finds_all_of_them(index):
    """Words that sort before the wanted word do not hide it."""
    words = " ".join(f"weata{number}" for number in range(100))
    index.update([tool_text(30, "xyz.bb.one@1", words), tool_text(31, "xyz.bb.two@1", "weather")])
    assert sorted(found(index, "weat")) == [30, 31]


def test_frequent_word_orders_the_tools_of_a_rare_word(index):
    index.update([tool_text(tool, f"xyz.bb.more{tool}@1") for tool in range(40, 80)])
    index.update(
        [
            tool_text(30, "xyz.bb.one@1", "zebra herds and more words"),
            tool_text(31, "xyz.bb.two@1", "zebra images and more words"),
        ]
    )
    assert found(index, "zebra image") == found(index, "image zebra") == [31, 30]


def test_tools_with_all_frequent_words_come_first(index):
    index.update([tool_text(tool, f"xyz.bb.more{tool}@1", "resize") for tool in range(30, 40)])
    index.update([tool_text(50, "xyz.cc.both@1", "resize images")])
    assert found(index, "image resize")[0] == found(index, "resize image")[0] == 50


def test_word_of_nearly_all_tools_does_not_count(index, monkeypatch):
    monkeypatch.setattr(fts_index, "_MAX_READ", 10)
    index.update([tool_text(30, "xyz.bb.zebra@1"), tool_text(31, "xyz.bb.image@1", "zebra")])
    assert found(index, "zebra image") == [30, 31]
    assert found(index, "images supports", 3) == [1, 2, 3]
