"""The interface of models that turn a text into a vector of its meaning. The extra `intent`."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from nexus_tools.index.tool_text import ToolText

Vector = np.ndarray[tuple[int], np.dtype[np.float32]]

MAX_CHARACTERS = 1_000
"""The number of characters of a text that a model reads, because texts are untrusted."""
DIMENSIONS_UNIT = 64
"""The factor of all dimensions, because `uint64` values contain the signs of a vector."""
_MAX_INT8 = 127


class IntentModel(Protocol):
    """A model. Several threads can use it at the same time."""

    digest: str
    """The identity of the model and of its texts. Vectors with another digest are incompatible."""
    dimensions: int
    """The number of int8 values, and bytes, of a vector."""
    min_similarity: float
    """The minimum cosine similarity at which a tool without a common word fits a query."""
    tools_at_once: int
    """The number of tools that are encoded together, in at most about one second."""

    def tool_text(self, tool: ToolText) -> str:
        """Return the text of a tool, at most `MAX_CHARACTERS`. Other changes keep its vector."""
        ...

    def encode(self, text: str) -> bytes:
        """Return the vector of a text. It consists of zeros if the model knows no word of it."""
        ...

    def encode_all(self, texts: Sequence[str]) -> list[bytes]:
        """Return the vectors of texts, in their order."""
        ...


def readable_text(text: str) -> str:
    """Return the first `MAX_CHARACTERS` of a text, without surrogates, which are not valid."""
    return text[:MAX_CHARACTERS].encode(errors="replace").decode()


def scaled_to_int8(vector: Vector) -> bytes:
    """Return a vector as int8 values, of which the largest has the absolute value 127."""
    largest = np.abs(vector).max()
    if not largest or not np.isfinite(largest):
        return bytes(len(vector))
    return bytes(np.rint(vector * (_MAX_INT8 / largest)).astype(np.int8))
