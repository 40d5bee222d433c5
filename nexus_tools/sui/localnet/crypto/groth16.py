"""Groth16 proofs, over BLS12-381 and over BN254.

Source: Groth, "On the size of pairing-based non-interactive arguments" (eprint.iacr.org/2016/260),
section 3.2. Keys and proofs have the encoding of arkworks, as in `fastcrypto-zkp`.
"""

from typing import NamedTuple

from nexus_tools.sui.localnet.crypto.curves import bn254, bn254_pairing
from nexus_tools.sui.localnet.crypto.curves.bls12381 import G1, G2, SCALAR_BYTES, SCALARS, pairing
from nexus_tools.sui.localnet.crypto.curves.weierstrass import InvalidElement

_LENGTH_BYTES = 8


class PreparedKey(NamedTuple):
    """A verifying key with precomputed values. All values are encoded as bytes."""

    gamma_abc_g1: bytes
    alpha_g1_beta_g2: bytes
    gamma_g2_negated: bytes
    delta_g2_negated: bytes


def _pieces(data: bytes, *sizes: int) -> list[bytes]:
    """Split data into pieces of the given sizes and a remainder.

    If the data is too short, the last pieces are shorter.
    """
    pieces = []
    for size in sizes:
        pieces.append(data[:size])
        data = data[size:]
    return [*pieces, data]


def _split_key(data: bytes, g1_bytes: int, g2_bytes: int) -> tuple[list[bytes], int, bytes]:
    """Split the bytes of a verifying key. `g1_bytes` and `g2_bytes` are the sizes of points.

    The result contains the G1 point alpha, the G2 points beta, gamma and delta, the number of
    further G1 points, and the bytes of these points. Raises `InvalidElement` if the key is too
    short.
    """
    *points, length, rest = _pieces(data, g1_bytes, g2_bytes, g2_bytes, g2_bytes, _LENGTH_BYTES)
    if len(length) != _LENGTH_BYTES:
        raise InvalidElement
    return points, int.from_bytes(length, "little"), rest


def chunks(data: bytes, size: int) -> list[bytes]:
    """Split data into chunks of the given size. The last chunk may be shorter."""
    return [data[start : start + size] for start in range(0, len(data), size)]


def prepare_bls12381_key(data: bytes) -> PreparedKey:
    """Prepare a verifying key over BLS12-381. Raises `InvalidElement`.

    Points are in the Zcash format, and scalars are little-endian. No bytes may follow the key.
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


def verify_bls12381(key: PreparedKey, inputs: bytes, proof: bytes) -> bool:
    """Return whether a proof over BLS12-381 is valid for public inputs.

    Raises `InvalidElement`.
    """
    scalars = [SCALARS.validate(chunk[::-1]) for chunk in chunks(inputs, SCALAR_BYTES)]
    abc = [G1.validate(point) for point in chunks(key.gamma_abc_g1, G1.size)]
    if len(abc) != len(scalars) + 1:
        raise InvalidElement
    # The public inputs form one point, abc[0] + inputs[0] · abc[1] + inputs[1] · abc[2] and so on.
    total = G1.add(abc[0], G1.combine(scalars, abc[1:]))
    a, b, c, rest = _pieces(proof, G1.size, G2.size, G1.size)
    if rest:
        raise InvalidElement
    # The proof is valid if e(A, B) = e(alpha, beta) · e(total, gamma) · e(C, delta). The code moves
    # all factors except the prepared e(alpha, beta) to one side, so the key has gamma and delta
    # negated.
    return key.alpha_g1_beta_g2 == pairing(
        [
            (G1.validate(a), G2.validate(b)),
            (total, G2.validate(key.gamma_g2_negated)),
            (G1.validate(c), G2.validate(key.delta_g2_negated)),
        ]
    )


def prepare_bn254_key(data: bytes) -> PreparedKey:
    """Prepare a verifying key over BN254. Raises `InvalidElement`.

    The key is parsed as in arkworks, which ignores bytes after the key.
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


def verify_bn254(key: PreparedKey, inputs: bytes, proof: bytes) -> bool:
    """Return whether a proof over BN254 is valid for public inputs.

    Raises `InvalidElement`.
    """
    scalars = [
        bn254.decode_number(chunk, bn254.ORDER) for chunk in chunks(inputs, bn254.NUMBER_BYTES)
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
