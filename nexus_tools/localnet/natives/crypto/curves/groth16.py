"""What proofs of Groth16 are verified with, whichever curve they are over.

Source: Groth, "On the size of pairing-based non-interactive arguments" (eprint.iacr.org/2016/260),
section 3.2; `fastcrypto-zkp` for the bytes, which are those of arkworks.
"""

from typing import NamedTuple

from nexus_tools.localnet.natives.crypto.curves.errors import InvalidElement

_LENGTH_BYTES = 8


class PreparedKey(NamedTuple):
    """A verifying key with what can be computed of it once; each of it as bytes."""

    gamma_abc_g1: bytes
    alpha_g1_beta_g2: bytes
    gamma_g2_negated: bytes
    delta_g2_negated: bytes


def pieces(data: bytes, *sizes: int) -> list[bytes]:
    """The pieces of these sizes that data begin with, shorter at their end, and what follows."""
    found = []
    for size in sizes:
        found.append(data[:size])
        data = data[size:]
    return [*found, data]


def split_key(data: bytes, g1_bytes: int, g2_bytes: int) -> tuple[list[bytes], int, bytes]:
    """What a verifying key consists of, given the bytes of a point of each group.

    That is alpha in G1, and beta, gamma and delta in G2; how many points of G1 follow; and those.
    Raises `InvalidElement` if it ends before them.
    """
    *points, length, rest = pieces(data, g1_bytes, g2_bytes, g2_bytes, g2_bytes, _LENGTH_BYTES)
    if len(length) != _LENGTH_BYTES:
        raise InvalidElement
    return points, int.from_bytes(length, "little"), rest


def chunks(data: bytes, size: int) -> list[bytes]:
    """The pieces of this size that data consist of, of which the last one can be shorter."""
    return [data[start : start + size] for start in range(0, len(data), size)]
