"""Sentence encoders: small BERT models that were trained to compare the meanings of sentences.

The folder of a model has the form in which `sentence-transformers` publishes models, such as
all-MiniLM-L6-v2, bge-small-en-v1.5 or paraphrase-multilingual-MiniLM-L12-v2. Pickle files are never
read, because they can run code.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nexus_tools.index.search.bert import Bert, BertConfig
from nexus_tools.index.search.intent_model import Vector, readable_text, scaled_to_int8
from nexus_tools.index.search.model_files import (
    CONFIG,
    MODEL,
    TOKENIZER,
    digest_files,
    invalid_model,
    read_json,
    read_tokenizer,
)
from nexus_tools.index.search.words import split_fqn, split_words
from nexus_tools.index.tool_text import ToolText

MAX_TOKENS = 64
"""The number of tokens of a text that the model reads, which bounds the time of each text.

Nine of ten descriptions of the 420 realistic tools in the benchmarks have at most 35 tokens.
"""

_MIN_WORDS = 5
_VERSION = f"description of {_MIN_WORDS} words, or name and ports; {MAX_TOKENS} tokens"
"""The text of a tool. A change makes stored vectors obsolete."""
_MODULES, _POOLING = "modules.json", "1_Pooling/config.json"
_KNOWN_MODULES = {"Transformer", "Pooling", "Normalize"}


class SentenceEncoder:
    """An `IntentModel` of a BERT encoder."""

    min_similarity = 0.35
    """Measured with 102 sentences in seven languages (`scripts/bench index`) for all-MiniLM-L6-v2.

    With this value, `fits` is wrongly False for 12 % of the sentences that a tool serves, and False
    for 46 % of the others. With 0.3, these are 5 % and 33 %.
    """
    tools_at_once = 32

    def __init__(self, folder: Path) -> None:
        """Load the model in a folder.

        Raises:
            ValidationError: `intent_model_invalid` if the files are missing or have another form.
        """
        model, tokenizer, settings = folder / MODEL, folder / TOKENIZER, folder / CONFIG
        config = BertConfig.parse(settings, read_json(settings))
        self._uses_first_token = _uses_first_token(folder)
        pooling = "first" if self._uses_first_token else "mean"
        self.digest = digest_files(f"{_VERSION} {pooling}", model, tokenizer, settings)
        self.dimensions = config.hidden_size
        self._vocabulary = config.vocab_size
        self._bert = Bert(model, config)
        self._tokenizer = read_tokenizer(tokenizer)
        self._tokenizer.enable_truncation(min(MAX_TOKENS, config.max_position_embeddings))
        if not any(self.encode("test")):
            raise invalid_model(model, "the model has no finite vector for a word")

    def tool_text(self, tool: ToolText) -> str:
        """Return the description of a tool, with its name and ports if the description is short.

        The model was trained with sentences. The text index contains the words of names and ports.
        """
        description = readable_text(tool.description)
        if len(split_words(description)) >= _MIN_WORDS:
            return description
        name = " ".join(split_words(split_fqn(tool.fqn)[2]))
        return readable_text(f"{name}. {description} {tool.words}")

    def encode(self, text: str) -> bytes:
        """Return the vector of a text."""
        return self.encode_all([text])[0]

    def encode_all(self, texts: Sequence[str]) -> list[bytes]:
        """Return the vectors of texts, in their order."""
        tokens = [self._tokens(encoding) for encoding in self._tokenize(texts)]
        places = sorted(
            (place for place in range(len(texts)) if tokens[place]),
            key=lambda place: len(tokens[place]),
        )
        vectors = [bytes(self.dimensions)] * len(texts)
        if places:
            with np.errstate(all="ignore"):  # weights may overflow
                pooled = self._pooled([tokens[place] for place in places])
            for place, vector in zip(places, pooled, strict=True):
                vectors[place] = scaled_to_int8(vector)
        return vectors

    def _tokenize(self, texts: Sequence[str]) -> list[Any]:
        return self._tokenizer.encode_batch([readable_text(text) for text in texts])

    def _tokens(self, encoding: Any) -> list[int]:
        """Return the known tokens, or nothing if the text has only special tokens."""
        if all(encoding.special_tokens_mask):
            return []
        return [token for token in encoding.ids if token < self._vocabulary]

    def _pooled(self, texts: Sequence[Sequence[int]]) -> list[Vector]:
        """Return the mean of the states of each text's tokens, or the state of its first token."""
        states = self._bert(texts)
        starts = np.cumsum([0, *(len(text) for text in texts[:-1])])
        if self._uses_first_token:
            return list(states[starts])
        # The length of a vector does not matter, so the sum is as good as the mean.
        return list(np.add.reduceat(states, starts, axis=0))


def _uses_first_token(folder: Path) -> bool:
    """Return whether the first token, instead of the mean, is the vector of a text."""
    modules = read_json(folder / _MODULES)
    for module in modules if isinstance(modules, list) else []:
        kind = str(module.get("type") if isinstance(module, dict) else module).rpartition(".")[2]
        if kind not in _KNOWN_MODULES:
            raise invalid_model(folder / _MODULES, f"modules of the type {kind!r} are unsupported")
    pooling = read_json(folder / _POOLING)
    if not isinstance(pooling, dict):
        return False
    modes = {name for name, value in pooling.items() if name.startswith("pooling_mode_") and value}
    if modes == {"pooling_mode_cls_token"}:
        return True
    if modes not in ({"pooling_mode_mean_tokens"}, set()):
        chosen = ", ".join(sorted(modes))
        raise invalid_model(
            folder / _POOLING, f"expected the mean or the first token, got {chosen}"
        )
    return False
