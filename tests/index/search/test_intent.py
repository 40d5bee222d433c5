"""Search by intent with a small model that the tests create, and once with the default model."""

import shutil
from collections.abc import Mapping

import numpy as np
import pytest

from nexus_tools.errors import UsageError, ValidationError, WrongStateError
from nexus_tools.index.search import load_intent_model
from nexus_tools.index.search.intent import IntentIndex
from nexus_tools.index.search.intent_model import IntentModel
from tests.index.search.conftest import tool_text
from tests.index.search.models import DIMENSIONS, WORDS, matrix, write_model


@pytest.fixture
def model(tmp_path) -> IntentModel:
    return load_intent_model(write_model(tmp_path / "model", {"embeddings": matrix()}))


class Store:
    """The vectors that a caller stores."""

    def __init__(self, model: IntentModel) -> None:
        self.vectors: dict[int, bytes] = {}
        self.reads: list[int] = []
        self.index = IntentIndex(model, self.read)

    def read(self, tools):
        self.reads.append(len(tools))
        return {tool: self.vectors[tool] for tool in tools if tool in self.vectors}

    def put(self, vectors: Mapping[int, bytes | None]) -> None:
        for tool, vector in vectors.items():
            self.vectors.pop(tool, None)
            if vector is not None:
                self.vectors[tool] = vector
        self.index.update(vectors)

    def found(self, query: str, limit: int = 10) -> list[int]:
        return [match.tool for match in self.index.search(query, limit)]


@pytest.fixture
def store(model) -> Store:
    store = Store(model)
    store.put({1: model.encode("weather rain"), 2: model.encode("image"), 3: model.encode("money")})
    return store


def test_vector_is_the_scaled_mean_of_the_tokens(model):
    vectors = matrix().astype(np.float64)
    mean = (vectors[WORDS.index("rain")] + vectors[WORDS.index("photo")]) / 2
    expected = np.rint(mean / np.abs(mean).max() * 127)
    assert np.abs(np.frombuffer(model.encode("Rain photo"), np.int8) - expected).max() <= 1


def test_search_finds_similar_meanings_with_their_cosine(store, model):
    assert store.found("umbrella")[0] == 1
    assert store.found("photo")[0] == 2
    assert store.found("currency")[0] == 3
    (best, *_) = store.index.search("umbrella", 1)
    query, tool = (
        np.frombuffer(model.encode(text), np.int8).astype(float)
        for text in ("umbrella", "weather rain")
    )
    expected = query @ tool / np.linalg.norm(query) / np.linalg.norm(tool)
    assert best.score == pytest.approx(expected, abs=1e-5)
    assert 0.8 < best.score < 1


def test_search_returns_nothing_for_a_text_without_tokens(store):
    assert store.found("") == store.found(" \n") == []


@pytest.mark.parametrize(
    "query", ["\0", "\ud800", "\u202e", "🙂" * 5_000, "rain " * 5_000, "a" * 10_000, "[CLS]"]
)
def test_search_accepts_any_text(store, query):
    assert set(store.found(query)) <= {1, 2, 3}


def test_update_replaces_and_removes_vectors(store, model):
    store.put({1: model.encode("photo"), 2: None, 4: None})
    assert store.found("image") == [1, 3]
    store.put({2: model.encode("image")})
    assert store.found("image")[:2] == [2, 1]


def test_search_ignores_tools_whose_vector_is_no_longer_stored(store):
    del store.vectors[1]
    assert 1 not in store.found("umbrella")


def test_search_is_limited_and_reads_a_bounded_number_of_vectors(store, model):
    random = np.random.default_rng(2)
    noise = random.integers(-127, 127, size=(5_000, DIMENSIONS), dtype=np.int8)
    store.put({tool: bytes(row) for tool, row in enumerate(noise, start=10)})
    assert store.found("umbrella", 3)[0] == 1
    assert len(store.found("umbrella", 3)) == 3
    assert max(store.reads) == 500
    assert store.found("umbrella", 0) == store.found("umbrella", -1) == []


def test_text_of_a_tool_has_the_words_of_the_name_the_description_and_the_ports(model):
    text = tool_text(1, "xyz.image.umbrella@1", "Rain, rain, the rain.", "photo")
    assert model.tool_text(text) == "umbrella rain photo"


def test_vectors_of_another_model_are_refused(store):
    with pytest.raises(WrongStateError) as caught:
        store.index.update({1: bytes(64)})
    assert caught.value.code == "intent_vectors_outdated"
    assert store.found("umbrella")[0] == 1


def test_digest_differs_between_models(tmp_path, model):
    same = load_intent_model(write_model(tmp_path / "same", {"other_name": matrix()}))
    other = load_intent_model(write_model(tmp_path / "other", {"embeddings": matrix(seed=2)}))
    assert same.encode("rain") == model.encode("rain") != other.encode("rain")
    assert other.digest != model.digest


def test_published_word_vectors_with_a_configuration_are_accepted(tmp_path, model):
    folder = write_model(tmp_path / "model2vec", {"embeddings": matrix()})
    (folder / "config.json").write_text('{"model_type": "model2vec"}')
    assert load_intent_model(folder).encode("rain") == model.encode("rain")


@pytest.mark.parametrize(
    ("vectors", "problem"),
    [
        ({"embeddings": np.zeros((8, 100), np.float32)}, "multiple of 64 columns"),
        ({"embeddings": np.zeros((8, 0), np.float32)}, "multiple of 64 columns"),
        ({"embeddings": np.zeros(64, np.float32)}, "one matrix"),
        ({"a": np.zeros((8, 64), np.float32), "b": np.zeros(8, np.float32)}, "one matrix"),
        ({"embeddings": np.zeros((8, 64), np.int32)}, "floating point"),
        ({"embeddings": np.full((8, 64), np.nan, np.float32)}, "finite"),
    ],
)
def test_model_of_another_form_is_refused(tmp_path, vectors, problem):
    with pytest.raises(ValidationError, match=problem) as caught:
        load_intent_model(write_model(tmp_path / "model", vectors))
    assert caught.value.code == "intent_model_invalid"


@pytest.mark.parametrize("file", ["model.safetensors", "tokenizer.json"])
@pytest.mark.parametrize("content", [None, b"", b"{}", b"\xff" * 100])
def test_missing_or_damaged_model_file_is_refused(tmp_path, file, content):
    folder = write_model(tmp_path / "model", {"embeddings": matrix()})
    (folder / file).unlink()
    if content is not None:
        (folder / file).write_bytes(content)
    with pytest.raises(ValidationError) as caught:
        load_intent_model(folder)
    assert caught.value.code == "intent_model_invalid"
    assert file in caught.value.message


def test_token_without_a_vector_is_ignored(tmp_path):
    vectors = matrix()[: WORDS.index("currency")]
    model = load_intent_model(write_model(tmp_path / "model", {"embeddings": vectors}))
    assert model.encode("money currency") == model.encode("money")
    assert model.encode("currency") == bytes(DIMENSIONS)


def test_missing_model_folder_is_refused(tmp_path):
    shutil.rmtree(tmp_path / "missing", ignore_errors=True)
    with pytest.raises(ValidationError) as caught:
        load_intent_model(tmp_path / "missing")
    assert caught.value.code == "intent_model_invalid"


def test_default_model_is_refused_with_a_hint_if_not_installed(monkeypatch):
    monkeypatch.setattr("nexus_tools.index.search.word_vectors.find_spec", lambda _: None)
    with pytest.raises(UsageError, match="wordllama") as caught:
        load_intent_model()
    assert caught.value.code == "extra_not_installed"


def test_default_model_finds_a_tool_without_common_words():
    default = load_intent_model()
    store = Store(default)
    texts = ["weather forecast for a city", "convert an amount of money", "shorten a long link"]
    store.put({tool: default.encode(text) for tool, text in enumerate(texts)})
    assert store.found("do I need an umbrella tomorrow")[0] == 0
