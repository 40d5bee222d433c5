"""Static word vectors: the vector of a text is the mean of the vectors of its tokens.

A model is a matrix with one vector for each token, and a tokenizer. By default, the model is the
one in the wheel of `wordllama`. The licence of the wheel is MIT, but its vectors derive from
Llama 2 and other models.
"""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file

from nexus_tools.index.search.errors import extra_missing
from nexus_tools.index.search.intent_model import DIMENSIONS_UNIT, readable_text, scaled_to_int8
from nexus_tools.index.search.model_files import (
    MODEL,
    TOKENIZER,
    digest_files,
    invalid_model,
    read_tokenizer,
)
from nexus_tools.index.search.words import query_words, split_fqn, split_words
from nexus_tools.index.tool_text import ToolText

_WHEEL = ("weights/l2_supercat_256.safetensors", "tokenizers/l2_supercat_tokenizer_config.json")
_VERSION = "name, description, ports"
"""The words that the vector of a tool contains. A change makes stored vectors obsolete."""


class WordVectors:
    """An `IntentModel` of word vectors."""

    min_similarity = 0.3
    """Measured with 200 sentences in seven languages (`scripts/bench index`) for `wordllama`.

    With this value, `fits` is False for about 40 % of the sentences that no tool serves, and
    wrongly for about 25 % of the others. Another value only exchanges one error for the other.
    """
    tools_at_once = 1_000

    def __init__(self, folder: Path | None = None) -> None:
        """Load the files `model.safetensors` and `tokenizer.json` of a folder, or the default.

        Raises:
            UsageError: `extra_not_installed` if the default is not installed.
            ValidationError: `intent_model_invalid` if the files are missing or have another form.
        """
        files = _default_files() if folder is None else (folder / MODEL, folder / TOKENIZER)
        self.digest = digest_files(_VERSION, *files)
        self._vectors = _read_vectors(files[0])
        self._tokenizer = read_tokenizer(files[1])
        self.dimensions = self._vectors.shape[1]

    def tool_text(self, tool: ToolText) -> str:
        """Return the words of the name, the description and the ports of a tool."""
        name = " ".join(split_words(split_fqn(tool.fqn)[2]))
        return readable_text(" ".join(query_words(f"{name} {tool.description} {tool.words}")))

    def encode(self, text: str) -> bytes:
        """Return the vector of a text."""
        tokens = self._tokenizer.encode(readable_text(text), add_special_tokens=False).ids
        known = [token for token in tokens if token < len(self._vectors)]
        if not known:
            return bytes(self.dimensions)
        return scaled_to_int8(self._vectors[known].mean(axis=0, dtype=np.float32))

    def encode_all(self, texts: Sequence[str]) -> list[bytes]:
        """Return the vectors of texts, in their order."""
        return [self.encode(text) for text in texts]


def _default_files() -> tuple[Path, Path]:
    spec = find_spec("wordllama")
    if spec is None or not spec.submodule_search_locations:
        raise extra_missing("intent", "wordllama")
    folder = Path(spec.submodule_search_locations[0])
    return folder / _WHEEL[0], folder / _WHEEL[1]


def _read_vectors(file: Path) -> "np.ndarray[tuple[int, int], np.dtype[Any]]":
    try:
        tensors = list(load_file(file).values())
    except Exception as error:
        raise invalid_model(file, str(error)) from error
    if len(tensors) != 1 or tensors[0].ndim != 2:
        raise invalid_model(file, "expected one matrix with a row for each token")
    vectors = tensors[0]
    columns = vectors.shape[1]
    if not vectors.shape[0] or not columns or columns % DIMENSIONS_UNIT:
        raise invalid_model(
            file, f"expected a multiple of {DIMENSIONS_UNIT} columns, got {columns}"
        )
    if not np.issubdtype(vectors.dtype, np.floating) or not np.isfinite(vectors).all():
        raise invalid_model(file, "expected finite floating point numbers")
    return vectors
