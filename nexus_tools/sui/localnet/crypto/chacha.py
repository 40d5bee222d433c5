"""The stream cipher ChaCha as a deterministic source of numbers.

Source: Bernstein, "ChaCha, a variant of Salsa20". The counter has 64 bits, and the nonce is zero.
"""

import struct
from collections.abc import Iterator
from itertools import count

_CONSTANT = struct.unpack("<4I", b"expand 32-byte k")
# The state words that each quarter round of a double round changes: columns, then diagonals.
_QUARTERS = (
    (0, 4, 8, 12),
    (1, 5, 9, 13),
    (2, 6, 10, 14),
    (3, 7, 11, 15),
    (0, 5, 10, 15),
    (1, 6, 11, 12),
    (2, 7, 8, 13),
    (3, 4, 9, 14),
)
_WORD = 0xFFFFFFFF


def chacha_stream(key: bytes, *, rounds: int) -> Iterator[bytes]:
    """Yield the key stream of a 32-byte key in words of four bytes. `rounds` must be even."""
    key_words = struct.unpack("<8I", key)
    for number in count():
        counter = (number & _WORD, number >> 32 & _WORD)
        for word in _block((*_CONSTANT, *key_words, *counter, 0, 0), rounds // 2):
            yield word.to_bytes(4, "little")


def _block(initial: tuple[int, ...], double_rounds: int) -> list[int]:
    state = list(initial)
    for _ in range(double_rounds):
        for quarter in _QUARTERS:
            _mix(state, *quarter)
    return [(word + first) & _WORD for word, first in zip(state, initial, strict=True)]


def _mix(state: list[int], a: int, b: int, c: int, d: int) -> None:
    steps = ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7))
    for target, source, rotated, distance in steps:
        state[target] = (state[target] + state[source]) & _WORD
        word = state[rotated] ^ state[target]
        state[rotated] = (word << distance | word >> 32 - distance) & _WORD
