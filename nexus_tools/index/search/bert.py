"""The forward pass of a BERT encoder with numpy. The extra `intent`.

The names of tensors and settings are those of Hugging Face (`transformers`, `BertModel`). The
tokens of all texts are the rows of one matrix, without padding. Only the attention treats each text
separately, so nothing has to be masked.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from math import gcd, pi, sqrt
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta, Struct
from safetensors import safe_open

from nexus_tools.errors import ValidationError
from nexus_tools.index.search.intent_model import DIMENSIONS_UNIT
from nexus_tools.index.search.model_files import Tensor, check_file, finite_floats, invalid_model

Rows = np.ndarray[tuple[int, int], np.dtype[np.float32]]

# Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26. The error of erf is below
# 1.5e-7, and below 6e-7 with the rounding of float32.
_ERF_P = 0.3275911
_ERF_A = (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)
# The temporary values of this many elements fit into the cache of a core.
_CACHED = 32_768
_PANEL = 64
# For this many tokens, multiplying the whole matrix is faster than multiplying its panels.
_MANY_ROWS = 64


class BertConfig(Struct, frozen=True):
    """The settings of a model. The bounds are larger than those of any published encoder."""

    model_type: Literal["bert"]
    hidden_size: Annotated[int, Meta(ge=1, le=4_096)]
    num_hidden_layers: Annotated[int, Meta(ge=1, le=64)]
    num_attention_heads: Annotated[int, Meta(ge=1, le=128)]
    intermediate_size: Annotated[int, Meta(ge=1, le=32_768)]
    vocab_size: Annotated[int, Meta(ge=1, le=2_000_000)]
    max_position_embeddings: Annotated[int, Meta(ge=2, le=1_000_000)]
    type_vocab_size: Annotated[int, Meta(ge=1, le=1_024)] = 2
    hidden_act: Literal["gelu", "gelu_new", "gelu_pytorch_tanh"] = "gelu"
    layer_norm_eps: Annotated[float, Meta(gt=0, le=0.1)] = 1e-12
    position_embedding_type: Literal["absolute"] = "absolute"
    is_decoder: Literal[False] = False

    @classmethod
    def parse(cls, file: Path, document: Any) -> "BertConfig":
        """Check the settings of a file. Raises `intent_model_invalid`."""
        try:
            config = msgspec.convert(document, cls)
        except msgspec.ValidationError as error:
            raise invalid_model(file, str(error)) from error
        size, heads = config.hidden_size, config.num_attention_heads
        if size % heads or size % DIMENSIONS_UNIT:
            raise invalid_model(
                file,
                f"expected a `hidden_size` that is a multiple of {DIMENSIONS_UNIT} and of the"
                f" {heads} heads, got {size}",
            )
        return config


class _Layer(Struct, frozen=True):
    """The weights of a layer: the panels of a matrix with a bias, and weights of normalizations."""

    attention: tuple[Tensor, Tensor]
    """The queries, keys and values side by side. The queries contain the scale of the scores."""
    attention_output: tuple[Tensor, Tensor]
    attention_norm: tuple[Tensor, Tensor]
    intermediate: tuple[Tensor, Tensor]
    output: tuple[Tensor, Tensor]
    output_norm: tuple[Tensor, Tensor]


class Bert:
    """The weights of a model. Several threads can use it at the same time."""

    def __init__(self, file: Path, config: BertConfig) -> None:
        """Load and check the weights. Raises `intent_model_invalid`."""
        self._config = config
        self._activation = gelu if config.hidden_act == "gelu" else gelu_tanh
        check_file(file)
        try:
            with safe_open(file, framework="np") as opened:
                self._load(_Tensors(file, opened, config))
        except ValidationError:
            raise
        except Exception as error:
            raise invalid_model(file, str(error)) from error

    def _load(self, tensors: "_Tensors") -> None:
        config = self._config
        size = config.hidden_size
        tensors.select("embeddings")
        self._words = tensors.read("word_embeddings.weight", config.vocab_size, size)
        positions = tensors.read("position_embeddings.weight", config.max_position_embeddings, size)
        types = tensors.read("token_type_embeddings.weight", config.type_vocab_size, size)
        self._positions: Tensor = positions + types[0]
        self._norm = tensors.norm("LayerNorm")
        self._layers = [_read_layer(tensors, number) for number in range(config.num_hidden_layers)]

    def __call__(self, texts: Sequence[Sequence[int]]) -> Rows:
        """Return the states of all tokens of texts, below each other.

        The texts consist of tokens that are smaller than `vocab_size`. They are not empty, and at
        most `max_position_embeddings` long. Texts with equal lengths must follow each other.
        """
        eps = self._config.layer_norm_eps
        lengths = [len(text) for text in texts]
        tokens = np.concatenate([np.asarray(text) for text in texts])
        states: Rows = self._words[tokens]
        states += self._positions[np.concatenate([np.arange(length) for length in lengths])]
        _normalize(states, self._norm, eps)
        groups = list(_groups(lengths))
        for layer in self._layers:
            states += _linear(
                self._attention(_linear(states, layer.attention), groups), layer.attention_output
            )
            _normalize(states, layer.attention_norm, eps)
            inner = _linear(states, layer.intermediate)
            _in_blocks(self._activation, inner)
            states += _linear(inner, layer.output)
            _normalize(states, layer.output_norm, eps)
        return states

    def _attention(self, projected: Rows, groups: Sequence[tuple[slice, int]]) -> Rows:
        """Return the weighted values of the tokens of each text."""
        size, heads = self._config.hidden_size, self._config.num_attention_heads
        result = np.empty((len(projected), size), np.float32)
        for rows, length in groups:
            parts = projected[rows].reshape(-1, length, 3, heads, size // heads)
            queries, keys, values = parts.transpose(2, 0, 3, 1, 4)
            scores = queries @ keys.swapaxes(-1, -2)
            scores -= scores.max(axis=-1, keepdims=True)
            np.exp(scores, out=scores)
            scores /= scores.sum(axis=-1, keepdims=True)
            result[rows] = (scores @ values).swapaxes(1, 2).reshape(-1, size)
        return result


class _Tensors:
    """The tensors of an open file, which are checked when they are read."""

    def __init__(self, file: Path, opened: Any, config: BertConfig) -> None:
        self._file = file
        self._opened = opened
        self._names = set(opened.keys())
        self._prefix = ""
        self.config = config

    def select(self, prefix: str) -> None:
        """Read tensors whose names start with a prefix."""
        self._prefix = prefix

    def read(self, name: str, *shape: int) -> Tensor:
        """Return a tensor with a shape, as float32."""
        name = f"{self._prefix}.{name}"
        if name not in self._names:
            raise invalid_model(self._file, f"the tensor {name} is missing")
        found = tuple(self._opened.get_slice(name).get_shape())
        if found != shape:
            raise invalid_model(self._file, f"expected the shape {shape} of {name}, got {found}")
        return finite_floats(self._file, name, self._opened.get_tensor(name))

    def linear(self, name: str, outputs: int, inputs: int) -> tuple[Tensor, Tensor]:
        """Return the panels and the bias of a linear layer."""
        weight = self.read(f"{name}.weight", outputs, inputs)
        return _panels(weight), self.read(f"{name}.bias", outputs)

    def norm(self, name: str) -> tuple[Tensor, Tensor]:
        """Return the weight and the bias of a normalization."""
        size = self.config.hidden_size
        return self.read(f"{name}.weight", size), self.read(f"{name}.bias", size)


def _read_layer(tensors: _Tensors, number: int) -> _Layer:
    size, inner = tensors.config.hidden_size, tensors.config.intermediate_size
    tensors.select(f"encoder.layer.{number}")
    parts = [
        tensors.linear(f"attention.self.{name}", size, size) for name in ("query", "key", "value")
    ]
    scale = 1 / sqrt(size // tensors.config.num_attention_heads)
    parts[0] = parts[0][0] * scale, parts[0][1] * scale
    weights, biases = zip(*parts, strict=True)
    return _Layer(
        attention=(np.concatenate(weights), np.concatenate(biases)),
        attention_output=tensors.linear("attention.output.dense", size, size),
        attention_norm=tensors.norm("attention.output.LayerNorm"),
        intermediate=tensors.linear("intermediate.dense", inner, size),
        output=tensors.linear("output.dense", size, inner),
        output_norm=tensors.norm("output.LayerNorm"),
    )


def _groups(lengths: Sequence[int]) -> Iterator[tuple[slice, int]]:
    """Yield the rows of consecutive texts with the same number of tokens, and this number."""
    start = 0
    for length, group in groupby(lengths):
        end = start + length * len(list(group))
        yield slice(start, end), length
        start = end


def _panels(weight: Tensor) -> Tensor:
    """Return the transposed matrix in panels of at most 64 columns, one after the other.

    BLAS copies a large matrix before it multiplies, which takes most of the time for the few tokens
    of a query. It multiplies a panel without a copy.
    """
    outputs, inputs = weight.shape
    panels = weight.reshape(-1, gcd(outputs, _PANEL), inputs)
    return np.ascontiguousarray(panels.swapaxes(1, 2))


def _linear(rows: Rows, weights: tuple[Tensor, Tensor]) -> Rows:
    panels, bias = weights
    result = np.empty((len(rows), len(bias)), np.float32)
    if len(rows) < _MANY_ROWS:
        np.matmul(rows, panels, out=result.reshape(len(rows), len(panels), -1).swapaxes(0, 1))
    else:
        np.matmul(rows, panels.swapaxes(0, 1).reshape(rows.shape[1], -1), out=result)
    result += bias
    return result


def _normalize(rows: Rows, weights: tuple[Tensor, Tensor], eps: float) -> None:
    """Set the mean of each row to 0 and its variance to 1, then scale and move it."""
    size = rows.shape[1]
    rows -= np.add.reduce(rows, axis=1, keepdims=True) / size
    variance = np.add.reduce(rows * rows, axis=1, keepdims=True) / size
    rows /= np.sqrt(variance + eps)
    rows *= weights[0]
    rows += weights[1]


def _in_blocks(function: Callable[[Tensor], None], rows: Rows) -> None:
    """Apply a function to parts of rows whose temporary values stay in the cache."""
    flat = rows.reshape(-1)
    for start in range(0, len(flat), _CACHED):
        function(flat[start : start + _CACHED])


def gelu(values: Tensor) -> None:
    """Replace x by x · Φ(x) = max(x, 0) - |x| · Φ(-|x|), where Φ(-z) = (1 - erf(z / √2)) / 2."""
    size = np.abs(values)
    t = size * (_ERF_P / sqrt(2))
    t += 1
    np.reciprocal(t, out=t)
    tail = t * (_ERF_A[4] / 2)
    for factor in _ERF_A[3::-1]:
        tail += factor / 2
        tail *= t
    np.multiply(size, size, out=t)
    t *= -0.5
    np.exp(t, out=t)
    tail *= t
    tail *= size
    np.maximum(values, 0, out=values)
    values -= tail


def gelu_tanh(values: Tensor) -> None:
    """Replace x by x · (1 + tanh(√(2 / π) · (x + 0.044715 · x³))) / 2."""
    inner = values * values
    inner *= 0.044715
    inner += 1
    inner *= values
    inner *= sqrt(2 / pi)
    np.tanh(inner, out=inner)
    inner += 1
    values *= inner
    values *= 0.5
