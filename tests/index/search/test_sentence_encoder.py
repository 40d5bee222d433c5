"""A sentence encoder whose expected values come from torch, and models that are refused."""

import json
import math

import numpy as np
import pytest

from nexus_tools.errors import ValidationError
from nexus_tools.index.search import load_intent_model
from nexus_tools.index.search.bert import Bert, BertConfig, gelu, gelu_tanh
from nexus_tools.index.search.intent_model import MAX_CHARACTERS
from nexus_tools.index.search.sentence_encoder import MAX_TOKENS
from tests.index.search.conftest import tool_text
from tests.index.search.encoders import (
    CONFIG,
    EXPECTED,
    EXPECTED_TANH,
    VOCABULARY,
    weights,
    write_encoder,
)


@pytest.fixture
def folder(tmp_path):
    return write_encoder(tmp_path / "encoder")


@pytest.fixture
def model(folder):
    return load_intent_model(folder)


def bert(folder, config=CONFIG):
    file = folder / "model.safetensors"
    return Bert(file, BertConfig.parse(file, config))


def tokens(text):
    """Return the tokens of a text: its words between the special tokens."""
    words = ["[CLS]", *text.split(), "[SEP]"]
    return [VOCABULARY.index(word) for word in words]


def unit(vector):
    values = np.frombuffer(vector, np.int8).astype(float)
    return values / np.linalg.norm(values)


# --- Values


@pytest.mark.parametrize("text", EXPECTED)
def test_bert_states_equal_those_of_torch(folder, text):
    states = bert(folder)([tokens(text)])
    places, values = EXPECTED[text]["places"], EXPECTED[text]["values"]
    assert states[tuple(zip(*places, strict=True))] == pytest.approx(values, abs=1e-5)


def test_bert_states_do_not_depend_on_other_texts(folder):
    model = bert(folder)
    texts = [
        tokens(text) for text in ("rain", "photo", "rain photo money", "convert money currency")
    ]
    alone = np.concatenate([model([text]) for text in texts])
    # The states are up to 3, and a matrix product of another shape adds in another order.
    assert model(texts) == pytest.approx(alone, abs=1e-5)


def test_tanh_activation_equals_that_of_torch(tmp_path):
    config = CONFIG | {"hidden_act": "gelu_new"}
    states = bert(write_encoder(tmp_path / "tanh"), config)([tokens("rain photo")])
    assert states[0, :4] == pytest.approx(EXPECTED_TANH, abs=1e-5)


def test_gelu_has_the_error_of_its_approximation_of_erf():
    values = np.linspace(-12, 12, 20_001)
    exact = np.array([x * (1 + math.erf(x / math.sqrt(2))) / 2 for x in values])
    for kind, erf_error in ((np.float64, 1.5e-7), (np.float32, 6e-7)):
        result = values.astype(kind)
        gelu(result)
        assert np.all(np.abs(result - exact) <= np.abs(values) * (erf_error / 2) + 1e-30)


def test_gelu_tanh_is_close_to_gelu():
    values = np.linspace(-6, 6, 1_001, dtype=np.float32)
    first, second = values.copy(), values.copy()
    gelu(first)
    gelu_tanh(second)
    assert 0 < np.abs(first - second).max() < 1e-3


def test_vector_is_the_scaled_mean_of_the_states(folder, model):
    states = bert(folder)([tokens("rain photo")])
    mean = states.mean(axis=0)
    expected = np.rint(mean / np.abs(mean).max() * 127)
    assert np.abs(np.frombuffer(model.encode("Rain photo"), np.int8) - expected).max() <= 1
    assert model.dimensions == 64


def test_vector_is_the_first_state_if_the_model_says_so(folder, model):
    (folder / "1_Pooling").mkdir()
    pooling = {"word_embedding_dimension": 64, "pooling_mode_cls_token": True}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    first = load_intent_model(folder)
    state = bert(folder)([tokens("rain photo")])[0]
    assert unit(first.encode("rain photo")) @ state / np.linalg.norm(state) > 0.999
    assert first.digest != model.digest


def test_vectors_of_several_texts_are_those_of_each_text(model):
    texts = ["rain photo money", "", "rain", "weather " * 100, "photo", "rain"]
    vectors = model.encode_all(texts)
    for text, vector in zip(texts, vectors, strict=True):
        alone = np.frombuffer(model.encode(text), np.int8).astype(int)
        assert np.abs(np.frombuffer(vector, np.int8) - alone).max() <= 1
    assert model.encode_all([]) == []


@pytest.mark.parametrize("text", ["", " \n", "\0", "\n\t"])
def test_text_without_words_has_a_vector_of_zeros(model, text):
    assert model.encode(text.strip()) in (bytes(64), model.encode("[UNK]"))
    assert model.encode("") == bytes(64)


@pytest.mark.parametrize("text", ["\ud800", "🙂" * 5_000, "rain " * 5_000, "a" * 100_000, "[CLS]"])
def test_encoder_accepts_any_text(model, text):
    assert len(model.encode(text)) == 64


def test_encoder_reads_a_bounded_number_of_tokens(model):
    words = "rain photo money currency " * 100
    start = " ".join(words.split()[: MAX_TOKENS - 2])
    assert model.encode(words) == model.encode(start)
    assert model.encode(words) != model.encode(start.rpartition(" ")[0])


def test_text_of_a_tool_has_a_bounded_length(model):
    tool = tool_text(1, "xyz.pictures.convertImage@1", "Converts an image.", "photo")
    assert model.tool_text(tool) == "convert image. Converts an image. photo"
    described = tool_text(1, "xyz.aa.c2@1", "Converts an image to another format.", "photo")
    assert model.tool_text(described) == described.description
    long = tool_text(1, "xyz.evil.tool@1", "rain " * 20_000, "photo " * 20_000)
    assert len(model.tool_text(long)) == MAX_CHARACTERS


# --- Models that are refused


def refused(folder):
    with pytest.raises(ValidationError) as caught:
        load_intent_model(folder)
    assert caught.value.code == "intent_model_invalid"
    assert caught.value.hint
    return caught.value.message


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"position_embedding_type": "relative_key"}, "relative_key"),
        ({"hidden_act": "silu"}, "silu"),
        ({"is_decoder": True}, "True"),
        ({"num_attention_heads": 5}, "multiple"),
        ({"hidden_size": 48}, "multiple"),
        ({"hidden_size": 10**9}, "hidden_size"),
        ({"num_hidden_layers": 0}, "num_hidden_layers"),
        ({"num_hidden_layers": 10**6}, "num_hidden_layers"),
        ({"vocab_size": 10**12}, "vocab_size"),
        ({"vocab_size": -1}, "vocab_size"),
        ({"vocab_size": "many"}, "vocab_size"),
        ({"layer_norm_eps": 0}, "layer_norm_eps"),
        ({"num_hidden_layers": 3}, "encoder.layer.2.attention.self.query.weight is missing"),
        ({"intermediate_size": 128}, "expected the shape (128, 64)"),
        ({"max_position_embeddings": 512}, "expected the shape (512, 64)"),
        ({"model_type": "roberta"}, "'roberta'"),
        ({"model_type": None}, "one matrix"),
    ],
)
def test_configuration_of_another_model_is_refused(folder, settings, problem):
    (folder / "config.json").write_text(json.dumps(CONFIG | settings))
    assert problem in refused(folder)


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff", b"[" * 100_000, b'{"a":' * 100_000])
def test_damaged_configuration_is_refused(folder, content):
    (folder / "config.json").write_bytes(content)
    assert refused(folder)


@pytest.mark.parametrize(
    ("name", "tensor", "problem"),
    [
        ("embeddings.LayerNorm.bias", None, "is missing"),
        ("embeddings.LayerNorm.bias", np.zeros(63, np.float32), "expected the shape (64,)"),
        ("embeddings.LayerNorm.bias", np.full(64, np.nan, np.float32), "finite"),
        ("embeddings.LayerNorm.bias", np.full(64, np.inf, np.float32), "finite"),
        ("embeddings.LayerNorm.bias", np.zeros(64, np.int8), "floating point"),
        ("embeddings.word_embeddings.weight", np.full((12, 64), 3e38, np.float32), "finite vector"),
    ],
)
def test_unusable_tensor_is_refused(tmp_path, name, tensor, problem):
    tensors = {key: value for key, value in weights().items() if key != name}
    if tensor is not None:
        tensors[name] = tensor
    assert problem in refused(write_encoder(tmp_path / "encoder", tensors))


@pytest.mark.parametrize("file", ["model.safetensors", "tokenizer.json"])
@pytest.mark.parametrize("content", [None, b"", b"{}", b"\xff" * 100])
def test_missing_or_damaged_file_of_an_encoder_is_refused(folder, file, content):
    (folder / file).unlink()
    if content is not None:
        (folder / file).write_bytes(content)
    assert file in refused(folder)


def test_truncated_tensors_are_refused(folder):
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-100])
    assert "model.safetensors" in refused(folder)


def test_pickle_file_is_not_read(folder):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    assert "pytorch_model.bin is not read because it can run code" in refused(folder)


@pytest.mark.parametrize(
    ("file", "document", "problem"),
    [
        ("1_Pooling/config.json", {"pooling_mode_max_tokens": True}, "pooling_mode_max_tokens"),
        ("modules.json", [{"type": "sentence_transformers.models.Dense"}], "'Dense'"),
        ("modules.json", [{"type": 3}], "'3'"),
    ],
)
def test_model_with_other_layers_is_refused(folder, file, document, problem):
    (folder / file).parent.mkdir(exist_ok=True)
    (folder / file).write_text(json.dumps(document))
    assert problem in refused(folder)


def test_half_precision_model_has_nearly_the_same_vectors(tmp_path, model):
    tensors = {name: tensor.astype(np.float16) for name, tensor in weights().items()}
    half = load_intent_model(write_encoder(tmp_path / "half", tensors))
    assert unit(half.encode("rain photo")) @ unit(model.encode("rain photo")) > 0.999


def test_token_outside_of_the_vocabulary_is_ignored(folder, model):
    document = json.loads((folder / "tokenizer.json").read_text())
    document["model"]["vocab"]["storm"] = 10_000
    (folder / "tokenizer.json").write_text(json.dumps(document))
    other = load_intent_model(folder)
    assert other.encode("rain storm") == model.encode("rain")
