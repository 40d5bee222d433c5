"""Proofs of Groth16 over BN254.

All is read as arkworks reads it: what follows in the same bytes is not looked at.
"""

from nexus_tools.localnet.natives.crypto.curves import bn254
from nexus_tools.localnet.natives.crypto.curves.bn254 import (
    G1,
    G1_BYTES,
    G2_BYTES,
    NUMBER_BYTES,
    ORDER,
)
from nexus_tools.localnet.natives.crypto.curves.bn254_pairing import (
    decode_target,
    encode_target,
    pairing,
)
from nexus_tools.localnet.natives.crypto.curves.errors import InvalidElement
from nexus_tools.localnet.natives.crypto.curves.groth16 import (
    PreparedKey,
    chunks,
    pieces,
    split_key,
)


def prepare_key(data: bytes) -> PreparedKey:
    """Prepare a verifying key. Raises `InvalidElement`."""
    (alpha, beta, gamma, delta), count, rest = split_key(data, G1_BYTES, G2_BYTES)
    if len(rest) < count * G1_BYTES:
        raise InvalidElement
    abc = [bn254.decode_g1(point) for point in chunks(rest[: count * G1_BYTES], G1_BYTES)]
    value = pairing([(bn254.decode_g1(alpha), bn254.decode_g2(beta))])
    negated = [bn254.encode_g2(bn254.negate(bn254.decode_g2(point))) for point in (gamma, delta)]
    return PreparedKey(b"".join(map(bn254.encode_g1, abc)), encode_target(value), *negated)


def verifies(key: PreparedKey, inputs: bytes, proof: bytes) -> bool:
    """Whether a proof is one for these public inputs. Raises `InvalidElement`."""
    scalars = [bn254.decode_number(each, ORDER) for each in chunks(inputs, NUMBER_BYTES)]
    abc = [bn254.decode_g1(point) for point in chunks(key.gamma_abc_g1, G1_BYTES)]
    if len(abc) != len(scalars) + 1:
        raise InvalidElement
    total = abc[0]
    for scalar, point in zip(scalars, abc[1:], strict=True):
        total = G1.add(total, G1.multiply(scalar, point))
    a, b, c, _ = pieces(proof, G1_BYTES, G2_BYTES, G1_BYTES)
    value = pairing(
        [
            (bn254.decode_g1(a), bn254.decode_g2(b)),
            (total, bn254.decode_g2(key.gamma_g2_negated)),
            (bn254.decode_g1(c), bn254.decode_g2(key.delta_g2_negated)),
        ]
    )
    return value == decode_target(key.alpha_g1_beta_g2)
