"""Signatures by BLS over BLS12-381: the signature is a point of one group, the key of the other.

Source: the IETF's draft on BLS signatures, sections 2.5 and 2.7, with the suites `BLS_SIG_…_NUL_`;
`blst`, which takes points compressed and uncompressed.
"""

from nexus_tools.localnet.natives.crypto.curves.bls12381_points import (
    G1,
    G2,
    Point,
    PointGroup,
    is_pairing_one,
)
from nexus_tools.localnet.natives.crypto.curves.errors import InvalidElement


def verifies_min_sig(key: bytes, signature: bytes, message: bytes) -> bool:
    """Whether a signature in G1 is that of a key in G2. Whatever is malformed is not."""
    try:
        public, signed = _public_key(G2, key), _in_group(G1, signature)
    except InvalidElement:
        return False
    return is_pairing_one([(G1.hash_to(message), public), (-signed, G2.generator())])


def verifies_min_pk(key: bytes, signature: bytes, message: bytes) -> bool:
    """Whether a signature in G2 is that of a key in G1. Whatever is malformed is not."""
    try:
        public, signed = _public_key(G1, key), _in_group(G2, signature)
    except InvalidElement:
        return False
    return is_pairing_one([(public, G2.hash_to(message)), (-G1.generator(), signed)])


def compressed(group: PointGroup, data: bytes) -> bytes:
    """The compressed form of a point of the curve in either form. Raises `InvalidElement`."""
    return group.encode(_point(group, data))


def _point(group: PointGroup, data: bytes) -> Point:
    return group.decode(data) if len(data) == group.size else group.decode_uncompressed(data)


def _in_group(group: PointGroup, data: bytes) -> Point:
    point = _point(group, data)
    if not point.is_in_subgroup():
        raise InvalidElement
    return point


def _public_key(group: PointGroup, data: bytes) -> Point:
    point = _in_group(group, data)
    if group.is_identity(point):
        raise InvalidElement
    return point
