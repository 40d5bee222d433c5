"""Search by intent: tools whose text has a similar meaning to a query. The extra `intent`.

The bits of a vector are the signs of its values. In memory, the index has only the bits (32 bytes
for each tool of a model with 256 dimensions). A search has three steps:

1. Select the tools with the most bits that equal the bits of the query.
2. Select those tools of the first step whose bits agree with the largest values of the query.
3. Read the vectors of these tools from the caller, and compare them exactly.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from nexus_tools.errors import WrongStateError
from nexus_tools.index.search.intent_model import DIMENSIONS_UNIT, IntentModel
from nexus_tools.index.search.text_index import MAX_RESULTS, Match

_Bits = np.ndarray[tuple[int, int], np.dtype[np.uint64]]
_Tools = np.ndarray[tuple[int], np.dtype[np.int64]]
_Counts = np.ndarray[tuple[int], np.dtype[np.uint16]]
_Positions = np.ndarray[tuple[int], np.dtype[np.intp]]
_Values = np.ndarray[tuple[int, int], np.dtype[np.int8]]

ReadVectors = Callable[[Sequence[int]], Mapping[int, bytes]]
"""A function that returns the stored vectors of tools. Tools without a vector can be absent."""

_MAX_BY_BITS = 5_000
_MAX_COMPARED = 500
_VECTORS_AT_ONCE = 10_000
_BITS_AT_ONCE = 16_384
# For each byte, the signs of its eight bits.
_SIGNS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1) * np.float32(2) - 1


class IntentIndex:
    """The bits of the vectors of tools, in memory. Several threads can search at the same time."""

    def __init__(self, model: IntentModel, read_vectors: ReadVectors) -> None:
        """Create an empty index, which `update` fills."""
        self.model = model
        self._read_vectors = read_vectors
        bits: _Bits = np.empty((model.dimensions // DIMENSIONS_UNIT, 0), np.uint64)
        # One value, so that a search never sees half of an update.
        self._content: tuple[_Tools, _Bits] = np.empty(0, np.int64), bits

    @property
    def min_similarity(self) -> float:
        """The minimum similarity at which a tool without a common word fits a query."""
        return self.model.min_similarity

    def update(self, vectors: Mapping[int, bytes | None]) -> None:
        """Add or replace the vectors of tools. None removes a tool.

        Raises:
            WrongStateError: `intent_vectors_outdated` if a vector is from another model.
        """
        added = [(tool, vector) for tool, vector in vectors.items() if vector is not None]
        tools, bits = self._content
        kept = ~np.isin(tools, np.fromiter(vectors, np.int64, len(vectors)))
        all_tools, all_bits = [tools[kept]], [bits[:, kept]]
        # The values of all vectors at once would need ten times the memory of their bits.
        for start in range(0, len(added), _VECTORS_AT_ONCE):
            part = dict(added[start : start + _VECTORS_AT_ONCE])
            all_tools.append(np.fromiter(part, np.int64, len(part)))
            all_bits.append(_signs(self._values(part)))
        self._content = np.concatenate(all_tools), np.concatenate(all_bits, axis=1)

    def search(self, query: str, limit: int) -> list[Match]:
        """Return the tools with the most similar meaning, the best first.

        The score is the cosine similarity, from -1 to 1.
        """
        limit = max(0, min(limit, MAX_RESULTS))
        vector = self._values({0: self.model.encode(query)})
        stored = self._read_vectors(self._preselect(vector)) if vector.any() else {}
        if not stored:
            return []
        tools = sorted(stored)
        values = self._values({tool: stored[tool] for tool in tools}).astype(np.float32)
        lengths = np.linalg.norm(values, axis=1) * np.linalg.norm(vector.astype(np.float32))
        scores = (values @ vector[0].astype(np.float32)) / np.maximum(lengths, 1.0)
        best = np.argsort(-scores, kind="stable")[:limit]
        return [Match(tools[position], float(scores[position])) for position in best]

    def _preselect(self, vector: _Values) -> list[int]:
        """Return the tools whose bits are most similar to the vector of a query."""
        tools, bits = self._content
        closest = _smallest_counts(_different_bits(bits, _signs(vector)), _MAX_BY_BITS)
        octets = np.ascontiguousarray(bits[:, closest].T).view(np.uint8)
        # The sum of the values, each with the sign of the tool's bit: one look-up for eight values.
        sums = vector.reshape(-1, 8).astype(np.float32) @ _SIGNS.T
        agreement = sums[np.arange(octets.shape[1]), octets].sum(axis=1)
        chosen = closest[_smallest(-agreement, _MAX_COMPARED)]
        return [int(tool) for tool in tools[chosen]]

    def _values(self, vectors: Mapping[int, bytes]) -> _Values:
        dimensions = self.model.dimensions
        if any(len(vector) != dimensions for vector in vectors.values()):
            raise WrongStateError(
                "intent_vectors_outdated",
                f"the stored vectors are from another model: expected {dimensions} bytes each",
                hint="Run `nexus-tools index rebuild`, or set `intent_model` to the earlier model.",
            )
        joined = b"".join(vectors.values())
        return np.frombuffer(joined, np.int8).reshape(len(vectors), dimensions)


def _different_bits(bits: _Bits, signs: _Bits) -> _Counts:
    """Return the number of bits of each tool that differ from those of a query.

    Parts of the bits stay in the cache of the processor, which halves the time of a large index.
    """
    different: _Counts = np.zeros(bits.shape[1], np.uint16)
    for start in range(0, len(different), _BITS_AT_ONCE):
        part = slice(start, start + _BITS_AT_ONCE)
        for row, sign in zip(bits, signs, strict=True):
            different[part] += np.bitwise_count(row[part] ^ sign)
    return different


def _smallest_counts(counts: _Counts, count: int) -> _Positions:
    """Return the positions of the smallest counts, in any order.

    A histogram finds the largest of them faster than a partition of all counts.
    """
    if len(counts) <= count:
        return np.arange(len(counts))
    largest = int(np.searchsorted(np.cumsum(np.bincount(counts)), count))
    smaller = np.flatnonzero(counts < largest)
    equal = np.flatnonzero(counts == largest)
    return np.concatenate([smaller, equal[: count - len(smaller)]])


def _smallest(values: "np.ndarray[tuple[int], np.dtype[Any]]", count: int) -> _Positions:
    """Return the positions of the smallest values, in any order."""
    if len(values) <= count:
        return np.arange(len(values))
    return np.argpartition(values, count)[:count]


def _signs(values: _Values) -> _Bits:
    """Return one column of bits for each row of values."""
    return np.ascontiguousarray(np.packbits(values > 0, axis=1).view(np.uint64).T)
