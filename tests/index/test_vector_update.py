"""The vectors of an index: small parts with a position of their own, and who has to wait."""

from contextlib import closing
from importlib.util import find_spec

import pytest

from nexus_tools.contracts.move_bindings.tool import ToolUpdated
from nexus_tools.errors import ValidationError
from nexus_tools.index import (
    Index,
    IndexIdentity,
    IndexWriter,
    SearchUpdate,
    VectorUpdate,
    index_search,
    open_writer,
)
from nexus_tools.index.index_file import create_copy, replace_contents
from nexus_tools.index.search import engines
from tests.index.intent_models import SlowModel
from tests.index.synthetic import DEPLOYMENT, Events, object_id

IDENTITY = IndexIdentity.of(DEPLOYMENT)
START = "The"


class PairModel(SlowModel):
    """A model that encodes two tools at a time, of which it reads 100 characters."""

    tools_at_once = 2

    def tool_text(self, tool):
        return super().tool_text(tool)[:100]


class Market:
    """An index that is open for writing, its events, and the model of its vectors."""

    def __init__(self, path):
        self.index = open_writer(path, IDENTITY)
        self.events = Events()
        self.writer = IndexWriter(self.index, DEPLOYMENT)
        self.model = PairModel()

    def register(self, *numbers, **fields):
        self.writer.apply([self.events.tool(number, **fields) for number in numbers])

    def change(self, number, description, revision=1, price_mist=0):
        """Return the record of a changed tool."""
        return self.events.record(
            ToolUpdated(
                *(object_id("tool", number), f"xyz.domain{number}.tool{number}@1", "https://x.y"),
                *(description, 5_000, price_mist, object_id("owner", number), 0, False),
                *(revision, None),
            )
        )

    def vectors(self, model=None):
        return closing(VectorUpdate(self.index, model or self.model))

    def update(self):
        """Compute all vectors, and return the texts that were encoded."""
        before = len(self.model.texts)
        with self.vectors() as vectors:
            vectors.run()
        return self.model.texts[before:]

    def rows(self):
        return self.index.connection.execute("SELECT tool, vector FROM vectors").fetchall()


@pytest.fixture
def market(tmp_path):
    market = Market(tmp_path / "index.sqlite")
    yield market
    market.index.close()


@pytest.fixture
def reading(market, monkeypatch):
    """Return a function that opens the index with the model of the market."""
    monkeypatch.setattr(index_search, "load_intent_model", lambda _: market.model)
    opened = []

    def reading():
        opened.append(Index(market.index.path, IDENTITY, intent_model="model"))
        return opened[-1]

    yield reading
    for index in opened:
        index.close()


def update_words(market):
    with closing(SearchUpdate(market.index)) as search:
        search.run()


# --- Parts


def test_vectors_are_computed_in_parts(market):
    market.register(*range(5))
    with market.vectors() as vectors:
        pending = [vectors.pending()]
        while vectors.run_part():
            pending.append(vectors.pending())
        assert pending == [5, 3, 1]
        assert vectors.pending() == 0
    assert len(market.rows()) == 5


def test_update_continues_after_the_last_stored_part(market):
    market.register(*range(5))
    with market.vectors() as vectors:
        assert vectors.run_part()
    assert len(market.model.texts) == 2
    assert len(market.update()) == 3
    assert len(market.rows()) == 5


def test_failed_part_is_computed_again(market, monkeypatch):
    market.register(*range(2))
    with market.vectors() as vectors:
        monkeypatch.setattr(market.model, "encode_all", lambda _: [])
        with pytest.raises(ValueError, match="zip"):
            vectors.run()
        assert (market.rows(), vectors.pending()) == ([], 2)
        monkeypatch.undo()
        vectors.run()
    assert len(market.rows()) == 2


def test_damaged_file_is_reported(market):
    market.register(0)
    with market.vectors() as vectors:
        market.index.connection.execute("DROP TABLE vectors")
        with pytest.raises(ValidationError) as caught:
            vectors.run()
    assert caught.value.code == "index_invalid"


def test_vectors_of_replaced_contents_are_not_stored(market):
    """The contents are replaced while the model computes."""
    market.register(0, 1)

    class ReplacingModel(PairModel):
        def encode_all(self, texts):
            replace_contents(market.index, create_copy(market.index, 0))
            return super().encode_all(texts)

    with market.vectors(ReplacingModel()) as vectors:
        vectors.run()
    assert market.rows() == []


def test_removed_tool_has_no_vector(market):
    market.register(0, 1)
    common = market.writer.cursor.checkpoint
    market.register(2)
    market.update()
    market.writer.roll_back(common)
    assert market.update() == []
    assert len(market.rows()) == 2


def test_update_without_model_deletes_vectors(market):
    market.register(0)
    market.update()
    with closing(VectorUpdate(market.index)) as vectors:
        assert not vectors.run_part()
        assert vectors.pending() == 0
    assert market.rows() == []
    assert len(market.update()) == 1


# --- Work that authors cause


def test_tool_with_an_unchanged_text_is_not_encoded_again(market):
    market.register(0, 1, description="Same.")
    market.update()
    before = market.rows()
    market.writer.apply(
        [market.events.lock(0), market.change(1, "Same.", price_mist=7), market.events.lock(0)]
    )
    assert market.update() == []
    assert market.rows() == before


def test_text_that_changes_10_000_times_is_encoded_once(market):
    market.register(0, 1)
    market.update()
    market.writer.apply([market.change(0, f"Text {number}.", number) for number in range(10_000)])
    assert market.update() == ["tool0 Text 9999."]


def test_text_is_not_encoded_again_if_a_part_that_is_not_read_changes(market):
    market.register(0, description="x" * 100_000)
    assert [len(text) for text in market.update()] == [100]
    market.writer.apply([market.change(0, "x" * 100_001)])
    assert market.update() == []


def test_tool_that_changes_often_does_not_delay_other_tools(market):
    """The author changes a text before each part. A changed tool moves to the end of the queue."""
    market.register(*range(6))
    with market.vectors() as vectors:
        for number in range(3):
            market.writer.apply([market.change(0, f"Text {number}.", number)])
            vectors.run_part()
    assert {f"tool{number}" for number in range(1, 6)} <= {
        text.split()[0] for text in market.model.texts
    }


def test_tools_registered_in_masses_do_not_delay_words(market, reading):
    """An honest tool is registered after 300 others. Its words are findable before all vectors."""
    market.register(*range(300))
    market.register(300, fqn="xyz.honest.umbrella@1", description="Rain.")
    with market.vectors() as vectors:
        vectors.run_part()
    update_words(market)
    results = reading().search("umbrella")
    assert results.items[0].tool.fqn == "xyz.honest.umbrella@1"
    [note] = results.notes
    assert note.startswith("at most 299 tools are found by their words only")


# --- Readers


def test_search_follows_the_position_of_the_vectors(market, reading):
    market.register(*range(5))
    update_words(market)
    index = reading()
    found = []
    with market.vectors() as vectors:
        while vectors.run_part():
            found.append(index.search("zzz").total)
        vectors.run_part()
    found.append(index.search("zzz").total)
    assert found == [2, 4, 5]
    assert index.search("zzz").notes == ()


def test_status_counts_missing_vectors(market, reading):
    market.register(*range(5))
    index = reading()
    assert index.status().search.pending_vectors == 0  # no model was used
    with market.vectors() as vectors:
        vectors.run_part()
    status = index.status().search
    assert (status.vectors, status.pending_vectors, status.vector_model) == (2, 3, "slow")


def test_search_does_not_use_the_vector_of_a_changed_text_forever(market, reading):
    market.register(0, description="Old.")
    market.update()
    update_words(market)
    index = reading()
    [before] = index.search("new").items
    market.writer.apply([market.change(0, "New.")])
    market.update()
    [after] = index.search("new").items
    assert before.reason != after.reason


@pytest.fixture(autouse=True)
def without_tantivy(monkeypatch):
    """Use FTS5, which updates faster."""
    monkeypatch.setattr(
        engines, "find_spec", lambda name: None if name == "tantivy" else find_spec(name)
    )
