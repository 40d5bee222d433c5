"""Static word vectors, which turn a text into a vector of its meaning. The extra `intent`.

A model is a matrix with one vector for each token, and a tokenizer. The vector of a text is the
mean of the vectors of its tokens. By default, the model is the one in the wheel of `wordllama`.
The licence of the wheel is MIT, but its vectors derive from Llama 2 and other models.
"""

import hashlib
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from nexus_tools.errors import ValidationError
from nexus_tools.index.search.errors import extra_missing
from nexus_tools.index.search.words import query_words, split_fqn, split_words
from nexus_tools.index.tool_text import ToolText

_WHEEL = ("weights/l2_supercat_256.safetensors", "tokenizers/l2_supercat_tokenizer_config.json")
_FOLDER = ("model.safetensors", "tokenizer.json")
_MAX_CHARACTERS = 1_000
_BITS = 64
_MAX_INT8 = 127
_WORDS_OF_TOOLS = b"name, description, ports"
"""The words that the vector of a tool contains. A change makes stored vectors obsolete."""


class IntentModel:
    """A model of word vectors. `dimensions` is the number of int8 values, and bytes, of a vector.

    `digest` identifies the model and the choice of words. Vectors with different digests are not
    comparable.
    """

    def __init__(self, folder: Path | None = None) -> None:
        """Load the files `model.safetensors` and `tokenizer.json` of a folder, or the default.

        Raises:
            UsageError: `extra_not_installed` if the default is not installed.
            ValidationError: `intent_model_invalid` if the files are missing or have another form.
        """
        vectors, tokenizer = _default_files() if folder is None else [folder / f for f in _FOLDER]
        self.digest = _digest(vectors, tokenizer)
        self._vectors = _read_vectors(vectors)
        self._tokenizer = _read_tokenizer(tokenizer)
        self.dimensions = self._vectors.shape[1]

    def encode_tool(self, text: ToolText) -> bytes:
        """Return the vector of a tool: the mean of the words of its name, description and ports."""
        name = " ".join(split_words(split_fqn(text.fqn)[2]))
        return self.encode(" ".join(query_words(f"{name} {text.description} {text.words}")))

    def encode(self, text: str) -> bytes:
        """Return the vector of a text as int8 values. They are 0 if the text has no known token."""
        readable = text[:_MAX_CHARACTERS].encode(errors="replace").decode()
        tokens = self._tokenizer.encode(readable, add_special_tokens=False).ids
        known = [token for token in tokens if token < len(self._vectors)]
        if not known:
            return bytes(self.dimensions)
        mean = self._vectors[known].mean(axis=0, dtype=np.float32)
        largest = np.abs(mean).max() or 1.0
        return bytes(np.rint(mean * (_MAX_INT8 / largest)).astype(np.int8))


def _default_files() -> Sequence[Path]:
    spec = find_spec("wordllama")
    if spec is None or not spec.submodule_search_locations:
        raise extra_missing("intent", "wordllama")
    folder = Path(spec.submodule_search_locations[0])
    return [folder / file for file in _WHEEL]


def _digest(*files: Path) -> str:
    digest = hashlib.sha256(_WORDS_OF_TOOLS)
    for file in files:
        try:
            digest.update(hashlib.sha256(file.read_bytes()).digest())
        except OSError as error:
            raise _invalid(file, error.strerror or str(error)) from error
    return digest.hexdigest()


def _read_vectors(file: Path) -> np.ndarray[tuple[int, int], np.dtype[np.floating]]:
    try:
        tensors = list(load_file(file).values())
    except Exception as error:
        raise _invalid(file, str(error)) from error
    if len(tensors) != 1 or tensors[0].ndim != 2:
        raise _invalid(file, "expected one matrix with a row for each token")
    vectors = tensors[0]
    if not vectors.shape[0] or not vectors.shape[1] or vectors.shape[1] % _BITS:
        raise _invalid(file, f"expected a multiple of {_BITS} columns, got {vectors.shape[1]}")
    if not np.issubdtype(vectors.dtype, np.floating) or not np.isfinite(vectors).all():
        raise _invalid(file, "expected finite floating point numbers")
    return vectors


def _read_tokenizer(file: Path) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_file(str(file))
    except Exception as error:
        raise _invalid(file, str(error)) from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def _invalid(file: Path, problem: str) -> ValidationError:
    return ValidationError(
        "intent_model_invalid",
        f"cannot use {file}: {problem}",
        hint="Set `intent_model` to a folder with `model.safetensors` and `tokenizer.json`.",
    )
