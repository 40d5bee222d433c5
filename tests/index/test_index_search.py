"""The search of an index: its files, its order, and what it says about itself."""

import shutil
from contextlib import closing
from importlib.util import find_spec

import pytest

from nexus_tools.errors import ValidationError, WrongStateError
from nexus_tools.index import (
    Index,
    IndexedToolFilter,
    IndexIdentity,
    IndexWriter,
    SearchStatus,
    SearchUpdate,
    ToolSort,
    VectorUpdate,
    open_writer,
)
from nexus_tools.index.search import engines, load_intent_model
from nexus_tools.index.search.engines import text_folder
from tests.index.search.models import matrix, write_model
from tests.index.synthetic import DEPLOYMENT, Events, object_id

IDENTITY = IndexIdentity.of(DEPLOYMENT)
WEATHER = {"fqn": "xyz.meteo.forecast@1", "description": "Rain of tomorrow."}
IMAGE = {"fqn": "xyz.pictures.resize@1", "description": "Resizes a photo."}
ME, OTHER = object_id("requester", 1), object_id("requester", 2)


@pytest.fixture(autouse=True, params=["tantivy", "fts5"])
def engine(request, monkeypatch):
    """Run each test with the extra `index`, and as if it were not installed."""
    if request.param == "fts5":
        monkeypatch.setattr(
            engines, "find_spec", lambda name: None if name == "tantivy" else find_spec(name)
        )
    return request.param


class Written:
    """An index that is open for writing, and its events."""

    def __init__(self, path):
        self.index = open_writer(path, IDENTITY)
        self.events = Events()
        self.writer = IndexWriter(self.index, DEPLOYMENT)

    def apply(self, *records):
        self.writer.apply(records)

    def tools(self, *fields):
        self.apply(*(self.events.tool(number, **values) for number, values in enumerate(fields)))

    def call(self, tool, count, *, requester=None, fails=False, start=0):
        for number in range(start, start + count):
            self.apply(
                *self.events.invocation(
                    number,
                    tool=tool,
                    requester=number + 1_000 if requester is None else requester,
                    fails=fails,
                )
            )

    def update(self, model=None):
        """Update the words and the vectors. Return the number of tools whose words were read."""
        with closing(VectorUpdate(self.index, model)) as vectors:
            vectors.run()
        with closing(SearchUpdate(self.index)) as search:
            return search.run()


@pytest.fixture
def written(tmp_path):
    written = Written(tmp_path / "index.sqlite")
    yield written
    written.index.close()


@pytest.fixture
def reading(written):
    """Return a function that opens the index for reading."""
    opened = []

    def reading(**options):
        opened.append(Index(written.index.path, IDENTITY, **options))
        return opened[-1]

    yield reading
    for index in opened:
        index.close()


@pytest.fixture
def model(tmp_path):
    return write_model(tmp_path / "model", {"embeddings": matrix()})


def names(results):
    return [item.tool.fqn.partition("@")[0].rpartition(".")[2] for item in results.items]


def test_search_finds_tools_with_their_reasons(written, reading):
    written.tools(WEATHER, IMAGE)
    assert written.update() == 2
    results = reading().search("rain")
    assert names(results) == ["forecast"]
    assert (results.total, results.fits, results.notes, results.next) == (1, True, (), None)
    assert results.checkpoint == 2
    assert results.items[0].reason == "'rain' is in the description."


def test_search_without_text_index_says_what_to_run(written, reading):
    written.tools(WEATHER)
    index = reading()
    with pytest.raises(WrongStateError) as missing:
        index.search("rain")
    assert missing.value.code == "text_index_unusable"
    assert "index run" in missing.value.hint
    written.update()
    assert names(index.search("rain")) == ["forecast"]


def test_search_says_that_changes_are_missing(written, reading):
    written.tools(WEATHER)
    written.update()
    written.apply(written.events.tool(5, description="More rain."))
    index = reading()
    results = index.search("rain")
    assert names(results) == ["forecast"]
    assert results.notes == (
        "the search does not know the newest changes of tools yet (at most 1)",
    )
    written.update()
    assert set(names(index.search("rain"))) == {"forecast", "tool5"}
    assert index.search("rain").notes == ()


def test_deleted_text_index_is_created_again(written, reading):
    written.tools(WEATHER)
    written.update()
    shutil.rmtree(text_folder(written.index.path))
    with pytest.raises(WrongStateError):
        reading().search("rain")
    assert written.update() == 1
    assert names(reading().search("rain")) == ["forecast"]


def test_text_index_of_other_contents_is_not_used(written, reading):
    written.tools(WEATHER)
    written.update()
    index = reading()
    assert names(index.search("rain")) == ["forecast"]
    written.index.connection.execute("UPDATE identity SET generation = 'rebuilt'")
    with pytest.raises(WrongStateError):
        index.search("rain")
    assert written.update() == 1
    assert names(index.search("rain")) == ["forecast"]


def test_search_after_a_rollback_does_not_report_missing_changes(written, reading):
    written.tools(WEATHER, IMAGE)
    common = written.writer.cursor.checkpoint
    written.update()
    written.apply(*written.events.invocation(1, tool=0))
    written.writer.roll_back(common)
    assert reading().search("rain").notes == ()


def test_status_describes_the_text_index(written, reading, engine):
    written.tools(WEATHER, IMAGE)
    index = reading()
    assert index.status().search == SearchStatus(None, 0, 2, 0, None)
    written.update()
    assert index.status().search == SearchStatus(engine, 2, 0, 0, None)
    written.apply(written.events.tool(5), written.events.tool(6))
    assert index.status().search.pending_changes == 2
    written.update()
    assert index.status().search.tools == 4


def test_status_describes_the_vectors(written, reading, model):
    written.tools(WEATHER, IMAGE)
    loaded = load_intent_model(model)
    written.update(loaded)
    search = reading().status().search
    assert (search.tools, search.vectors, search.vector_model) == (2, 2, loaded.digest)
    written.update()
    assert (reading().status().search.vectors, reading().status().search.vector_model) == (0, None)


# --- Intent


def test_intent_finds_tools_without_a_common_word(written, reading, model):
    written.tools(WEATHER, IMAGE)
    written.update(load_intent_model(model))
    index = reading(intent_model=str(model))
    results = index.search("umbrella")
    assert names(results)[0] == "forecast"
    assert "meaning is similar" in results.items[0].reason
    assert names(reading().search("umbrella")) == []


def test_vectors_follow_the_changes_of_tools(written, reading, model):
    written.tools(WEATHER)
    loaded, index = load_intent_model(model), reading(intent_model=str(model))
    written.update(loaded)
    assert names(index.search("photo")) == ["forecast"]  # the closest, although it does not fit
    assert not index.search("photo").fits
    written.apply(written.events.tool(1, **IMAGE))
    written.update(loaded)
    assert names(index.search("photo"))[0] == "resize"
    assert index.search("photo").fits


def test_search_says_that_vectors_of_its_model_are_missing(written, reading, model):
    written.tools(WEATHER)
    written.update()
    index = reading(intent_model=str(model))
    results = index.search("rain")
    assert names(results) == ["forecast"]
    assert "no vectors of the intent model" in results.notes[0]
    written.update(load_intent_model(model))
    assert index.search("rain").notes == ()
    assert names(index.search("umbrella")) == ["forecast"]


def test_other_model_replaces_all_vectors(written, model, tmp_path):
    written.tools(WEATHER, IMAGE)
    written.update(load_intent_model(model))
    other = load_intent_model(write_model(tmp_path / "other", {"embeddings": matrix(seed=2)}))
    first = written.index.connection.execute("SELECT * FROM vectors").fetchall()
    assert written.update(other) == 0
    second = written.index.connection.execute("SELECT * FROM vectors").fetchall()
    assert len(first) == len(second) == 2
    assert [tool for tool, *_ in first] == [tool for tool, *_ in second]
    assert not {vector for *_, vector in first} & {vector for *_, vector in second}
    assert written.update() == 0
    assert written.index.connection.execute("SELECT * FROM vectors").fetchall() == []


# --- Order

RAINS = [{"fqn": f"xyz.a{number}.rain@1", "description": "Rain."} for number in range(4)]


def domains(results):
    return [item.tool.fqn.split(".")[1] for item in results.items]


def test_own_experience_decides_before_the_record_of_all(written, reading):
    written.tools(*({**fields, "price_mist": 0} for fields in RAINS))
    written.call(0, 40)
    written.call(1, 2, requester=1, start=100)
    written.call(2, 2, requester=1, fails=True, start=200)
    written.update()
    mine = reading().search("rain", requesters=[ME])
    assert domains(mine)[0] == "a1"
    assert domains(mine)[-1] == "a2"
    assert mine.items[0].reason.startswith("The query is the name of the tool. For you, 2 of 2")
    assert domains(reading().search("rain", requesters=[OTHER]))[0] == "a0"
    assert domains(reading().search("rain"))[0] == "a0"


def own_domains(index, sort, **options):
    first, last = index.own_tools(sort=sort, requesters=[ME], **options)
    return [[tool.fqn.split(".")[1] for tool in tools] for tools in (first, last)]


def test_own_tools_come_before_and_after_the_record_of_all(written, reading):
    written.tools(*RAINS)
    written.call(0, 40)
    written.call(1, 2, requester=1, start=100)
    written.call(2, 2, requester=1, fails=True, start=200)
    written.call(3, 1, requester=1, start=300)
    written.update()
    index = reading()
    # Tools with equal reputations keep the order of their numbers.
    assert own_domains(index, ToolSort.REPUTATION) == [["a1", "a3"], ["a2"]]
    assert own_domains(index, ToolSort.VOLUME) == [["a1", "a3"], []]
    wanted = IndexedToolFilter(domain="xyz.a3")
    assert own_domains(index, ToolSort.REPUTATION, tool_filter=wanted) == [["a3"], []]
    assert own_domains(index, ToolSort.VOLUME, tool_filter=wanted) == [["a3"], []]
    by_reputation = index.search("rain", sort=ToolSort.REPUTATION, requesters=[ME])
    assert [*domains(by_reputation)[:2], domains(by_reputation)[-1]] == ["a1", "a3", "a2"]
    by_volume = index.search("rain", sort=ToolSort.VOLUME, requesters=[ME])
    assert domains(by_volume) == ["a1", "a3", "a0", "a2"]
    assert domains(index.search("rain", sort=ToolSort.VOLUME))[0] == "a0"


def test_bought_record_does_not_help_a_tool_that_hardly_fits(written, reading):
    """The attacker names many words, and calls its tool from many new accounts."""
    fitting = [
        {"fqn": f"xyz.b{number}.translate_pdf@1", "description": "Translates a PDF."}
        for number in range(120)
    ]
    bought = {"fqn": "xyz.evil.all@1", "description": "Anything, weather, mail, pdf, photo."}
    written.tools(*fitting, bought)
    written.call(120, 300)
    written.update()
    assert "evil" not in domains(reading().search("translate pdf", limit=20))


def test_price_decides_between_equal_tools(written, reading):
    prices = (300, 100, 200)
    written.tools(
        *({**fields, "price_mist": price} for fields, price in zip(RAINS, prices, strict=False))
    )
    written.update()
    index = reading()
    assert domains(index.search("rain")) == ["a1", "a2", "a0"]
    assert domains(index.search("rain", sort=ToolSort.NAME)) == ["a0", "a1", "a2"]
    assert domains(index.search("rain", sort=ToolSort.PRICE)) == ["a1", "a2", "a0"]
    assert domains(index.search("rain", sort=ToolSort.NEWEST)) == ["a2", "a1", "a0"]


def test_domain_that_floods_does_not_hide_others(written, reading):
    flood = [
        {"fqn": f"xyz.flood.rain{number}@1", "description": "Rain rain rain."}
        for number in range(300)
    ]
    written.tools(*flood, WEATHER)
    written.update()
    results = reading().search("rain", limit=25)
    assert domains(results)[:25].count("flood") <= 24
    assert "meteo" in domains(results)


def test_filters_select_results(written, reading):
    written.tools(*({**fields, "price_mist": 100 * n} for n, fields in enumerate(RAINS)))
    written.update()
    index = reading()
    assert domains(index.search("rain", IndexedToolFilter("xyz.a1"))) == ["a1"]
    assert domains(index.search("rain", IndexedToolFilter(max_price_mist=0))) == ["a0"]
    owner = object_id("owner", 2)
    assert domains(index.search("rain", IndexedToolFilter(owner=owner))) == ["a2"]
    assert domains(index.search("rain", IndexedToolFilter(owner=object_id("x", 1)))) == []
    assert domains(index.search("rain", admits=lambda fqn, _: "a3" in fqn)) == ["a3"]
    assert domains(index.search("rain", IndexedToolFilter(tool_type="onchain"))) == []


def test_pages_contain_each_tool_once(written, reading):
    written.tools(*({"fqn": f"xyz.a{n}.rain@1", "description": "Rain."} for n in range(23)))
    written.update()
    index, found, after = reading(), [], None
    while not found or after is not None:
        page = index.search("rain", limit=5, after=after)
        found += domains(page)
        after = page.next
    assert sorted(found) == sorted({f"a{number}" for number in range(23)})
    assert page.total == 23


@pytest.mark.parametrize("after", ["", "x", "-1", "1.5", "9" * 30, "²"])
def test_foreign_position_is_rejected(written, reading, after):
    written.update()
    with pytest.raises(ValidationError) as refused:
        reading().search("rain", after=after)
    assert refused.value.code == "cursor_invalid"


def test_names_are_listed_in_order(written, reading):
    written.tools(*RAINS)
    index = reading()
    assert index.tool_names(limit=2, offset=1) == (["xyz.a1.rain@1", "xyz.a2.rain@1"], 4)
    odd = index.tool_names(limit=2, admits=lambda fqn, _: fqn[5] in "13")
    assert odd == (["xyz.a1.rain@1", "xyz.a3.rain@1"], 2)
