"""Proofs of Groth16, over BLS12-381 and over BN254.

Source: Groth, "On the size of pairing-based non-interactive arguments" (eprint.iacr.org/2016/260),
section 3.2; `fastcrypto-zkp` for the bytes, which are those of arkworks.
"""

from typing import NamedTuple

from nexus_tools.sui.localnet.crypto.curves import bn254, bn254_pairing
from nexus_tools.sui.localnet.crypto.curves.bls12381 import G1, G2, SCALAR_BYTES, SCALARS, pairing
from nexus_tools.sui.localnet.crypto.curves.weierstrass import InvalidElement

_LENGTH_BYTES = 8


class PreparedKey(NamedTuple):
    """A verifying key with what can be computed of it once; each of it as bytes."""

    gamma_abc_g1: bytes
    alpha_g1_beta_g2: bytes
    gamma_g2_negated: bytes
    delta_g2_negated: bytes


def _pieces(data: bytes, *sizes: int) -> list[bytes]:
    """The pieces of these sizes that data begin with, shorter at their end, and what follows."""
    found = []
    for size in sizes:
        found.append(data[:size])
        data = data[size:]
    return [*found, data]


def _split_key(data: bytes, g1_bytes: int, g2_bytes: int) -> tuple[list[bytes], int, bytes]:
    """What a verifying key consists of, given the bytes of a point of each group.

    That is alpha in G1, and beta, gamma and delta in G2; how many points of G1 follow; and those.
    Raises `InvalidElement` if it ends before them.
    """
    *points, length, rest = _pieces(data, g1_bytes, g2_bytes, g2_bytes, g2_bytes, _LENGTH_BYTES)
    if len(length) != _LENGTH_BYTES:
        raise InvalidElement
    return points, int.from_bytes(length, "little"), rest


def chunks(data: bytes, size: int) -> list[bytes]:
    """The pieces of this size that data consist of, of which the last one can be shorter."""
    return [data[start : start + size] for start in range(0, len(data), size)]


def prepare_bls12381_key(data: bytes) -> PreparedKey:
    """Prepare a verifying key over BLS12-381. Raises `InvalidElement`.

    Points are as Zcash has them, scalars little-endian; nothing may follow.
    """
    (alpha, beta, gamma, delta), count, rest = _split_key(data, G1.size, G2.size)
    abc = chunks(rest, G1.size)
    if not abc or len(abc) != count:
        raise InvalidElement
    alpha_beta = pairing([(G1.validate(alpha), G2.validate(beta))])
    negated = [G2.encode(-G2.validate(point)) for point in (gamma, delta)]
    for point in abc:
        G1.validate(point)
    return PreparedKey(rest, alpha_beta, *negated)


def verifies_bls12381(key: PreparedKey, inputs: bytes, proof: bytes) -> bool:
    """Whether a proof over BLS12-381 is one for these public inputs. Raises `InvalidElement`."""
    scalars = [SCALARS.validate(each[::-1]) for each in chunks(inputs, SCALAR_BYTES)]
    abc = [G1.validate(point) for point in chunks(key.gamma_abc_g1, G1.size)]
    if len(abc) != len(scalars) + 1:
        raise InvalidElement
    # The public inputs enter by one point: abc[0] + inputs[0] · abc[1] + inputs[1] · abc[2] + ...
    total = G1.add(abc[0], G1.combine(scalars, abc[1:]))
    a, b, c, rest = _pieces(proof, G1.size, G2.size, G1.size)
    if rest:
        raise InvalidElement
    # e(A, B) = e(alpha, beta) · e(total, gamma) · e(C, delta), with all but the prepared factor on
    # one side: gamma and delta are kept negated for that.
    return key.alpha_g1_beta_g2 == pairing(
        [
            (G1.validate(a), G2.validate(b)),
            (total, G2.validate(key.gamma_g2_negated)),
            (G1.validate(c), G2.validate(key.delta_g2_negated)),
        ]
    )


def prepare_bn254_key(data: bytes) -> PreparedKey:
    """Prepare a verifying key over BN254. Raises `InvalidElement`.

    All is read as arkworks reads it: what follows in the same bytes is not looked at.
    """
    (alpha, beta, gamma, delta), count, rest = _split_key(data, bn254.G1_BYTES, bn254.G2_BYTES)
    if len(rest) < count * bn254.G1_BYTES:
        raise InvalidElement
    abc = [
        bn254.decode_g1(point) for point in chunks(rest[: count * bn254.G1_BYTES], bn254.G1_BYTES)
    ]
    value = bn254_pairing.pairing([(bn254.decode_g1(alpha), bn254.decode_g2(beta))])
    negated = [bn254.encode_g2(bn254.negate(bn254.decode_g2(point))) for point in (gamma, delta)]
    return PreparedKey(
        b"".join(map(bn254.encode_g1, abc)), bn254_pairing.encode_target(value), *negated
    )


def verifies_bn254(key: PreparedKey, inputs: bytes, proof: bytes) -> bool:
    """Whether a proof over BN254 is one for these public inputs. Raises `InvalidElement`."""
    scalars = [
        bn254.decode_number(each, bn254.ORDER) for each in chunks(inputs, bn254.NUMBER_BYTES)
    ]
    abc = [bn254.decode_g1(point) for point in chunks(key.gamma_abc_g1, bn254.G1_BYTES)]
    if len(abc) != len(scalars) + 1:
        raise InvalidElement
    total = abc[0]
    for scalar, point in zip(scalars, abc[1:], strict=True):
        total = bn254.G1.add(total, bn254.G1.multiply(scalar, point))
    a, b, c, _ = _pieces(proof, bn254.G1_BYTES, bn254.G2_BYTES, bn254.G1_BYTES)
    value = bn254_pairing.pairing(
        [
            (bn254.decode_g1(a), bn254.decode_g2(b)),
            (total, bn254.decode_g2(key.gamma_g2_negated)),
            (bn254.decode_g1(c), bn254.decode_g2(key.delta_g2_negated)),
        ]
    )
    return value == bn254_pairing.decode_target(key.alpha_g1_beta_g2)
