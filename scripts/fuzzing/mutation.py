"""Mutation of bytes: genuine values with a few changes that often break parsers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from hypothesis import strategies as st

T = TypeVar("T")

_PLACES = 1 << 20
# Boundary values: numbers that are too long, not in the shortest form, or beyond 32 or 64 bits.
_EDGES = (
    b"\x00",
    b"\x01",
    b"\x7f",
    b"\x80",
    b"\xff",
    b"\x80\x00",
    b"\x80\x01",
    b"\xff\x7f",
    b"\xff\xff\x03",
    b"\xff\xff\xff\xff\x0f",
    b"\xff\xff\xff\xff\x1f",
    b"\x80\x80\x80\x80\x00",
    b"\xff" * 9 + b"\x01",
    b"\xff" * 10,
    b"\x00" * 8,
    b"\xff" * 8,
    b"\x00" * 32,
)
_PARTS = st.one_of(
    st.sampled_from(_EDGES),
    st.integers(0, 255).map(lambda byte: bytes([byte])),
    st.binary(max_size=12),
)


@dataclass(frozen=True, slots=True)
class Edit:
    """A change. `place` is its position in millionths of the length, and `size` is in bytes."""

    change: Callable[[bytes, int, int, bytes], bytes]
    place: int
    size: int
    part: bytes

    def apply(self, data: bytes) -> bytes:
        """Return the changed bytes."""
        return self.change(data, self.place * (len(data) + 1) // _PLACES, self.size, self.part)


def _replace(data: bytes, place: int, _: int, part: bytes) -> bytes:
    return data[:place] + part + data[place + len(part) :]


def _insert(data: bytes, place: int, _: int, part: bytes) -> bytes:
    return data[:place] + part + data[place:]


def _delete(data: bytes, place: int, size: int, _: bytes) -> bytes:
    return data[:place] + data[place + size :]


def _repeat(data: bytes, place: int, size: int, part: bytes) -> bytes:
    return data[:place] + data[place : place + size] * (1 + len(part)) + data[place + size :]


def _truncate(data: bytes, place: int, _: int, __: bytes) -> bytes:
    return data[:place]


def _nudge(data: bytes, place: int, size: int, _: bytes) -> bytes:
    place = min(place, len(data) - 1)
    return data[:place] + bytes([(data[place] + size) % 256]) + data[place + 1 :] if data else data


_EDITS: st.SearchStrategy[Edit] = st.builds(
    Edit,
    st.sampled_from([_replace, _nudge, _insert, _delete, _repeat, _truncate]),
    st.integers(0, _PLACES - 1),
    st.integers(1, 64),
    _PARTS,
)


def apply(data: bytes, edits: Sequence[Edit]) -> bytes:
    """Return the bytes with all changes, one after the other."""
    for edit in edits:
        data = edit.apply(data)
    return data


def one_of(values: Sequence[T]) -> st.SearchStrategy[T]:
    """Return one of the values. Error messages do not list all values."""
    return st.integers(0, len(values) - 1).map(lambda place: values[place])


def weighted(*choices: tuple[int, st.SearchStrategy[T]]) -> st.SearchStrategy[T]:
    """Return a weighted choice of strategies. `st.one_of` would drop repeated strategies."""
    places = [place for place, (weight, _) in enumerate(choices) for _ in range(weight)]
    return st.sampled_from(places).flatmap(lambda place: choices[place][1])


def mutated(genuine: Sequence[bytes], most: int = 4) -> st.SearchStrategy[bytes]:
    """Return one of the genuine values with at most `most` changes, sometimes without changes."""
    return st.builds(apply, one_of(genuine), st.lists(_EDITS, max_size=most))


def edits() -> st.SearchStrategy[Edit]:
    """Return one change of any kind at any position."""
    return _EDITS
