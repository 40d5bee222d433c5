"""Arguments of the functions over BLS12-381 and BN254: elements, signatures, keys and proofs.

Random bytes are almost never elements of a group, so they would only test rejections.
"""

from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple

from nexus_tools.sui.localnet.crypto.curves import bn254 as bn
from nexus_tools.sui.localnet.crypto.curves.bls12381 import (
    G1,
    G2,
    ORDER,
    SCALARS,
    PointGroup,
    pairing,
)
from nexus_tools.sui.localnet.crypto.curves.bls12381_target import GT, from_arkworks
from nexus_tools.sui.localnet.crypto.groth16 import (
    PreparedKey,
    prepare_bls12381_key,
    prepare_bn254_key,
)

Values = Sequence[object]
Draw = Callable[[Random, Values], list[object]]

_SCALAR, _G1, _G2, _GT = range(4)
_NO_GROUP = 9
_POINTS: dict[int, PointGroup] = {_G1: G1, _G2: G2}
_NAMES = {"Scalar": _SCALAR, "G1": _G1, "G2": _G2, "GT": _GT}

_LENGTHS = (1, 2, 5)
_MESSAGES = (b"abc", bytes(64), bytes(range(200)))
# The generator of BN254's G2 (EIP-197): the coefficients of 1 and u in x, followed by those in y.
_BN254_G2 = (
    (
        10857046999023057135944570762232829481370756359578518086990519993285655852781,
        11559732032986387107991004021392285783925812861821192530917403151452391805634,
    ),
    (
        8495653923123431417604973247489272438418190587263600148770280649306958101930,
        4082367875863433681332203403145435568316851327593401208105741076214120093531,
    ),
)


def element(chance: Random, group: int | str) -> bytearray:
    """Return an element of a group of BLS12-381, named by its number or its type."""
    number = _NAMES.get(group, _SCALAR) if isinstance(group, str) else group
    factor = chance.choice([0, 1, 2, ORDER - 1, chance.randrange(ORDER), chance.randrange(ORDER)])
    if number in _POINTS:
        points = _POINTS[number]
        return bytearray(points.encode(points.multiply(points.generator(), factor)))
    if number == _GT:
        generator = GT.decode(from_arkworks(pairing([(G1.generator(), G2.generator())])))
        return bytearray(GT.encode(GT.multiply(generator, factor)))
    return bytearray(SCALARS.encode(factor))


def _broken(chance: Random, data: bytearray) -> bytearray:
    """Return the bytes unchanged, with an invalid length, or without the flags of the element."""
    others = [data[:-1], data + b"\0", bytearray([data[0] & 0x1F]) + data[1:]]
    return chance.choice([data, data, *others])


def _shaped(values: Values, *data: bytearray) -> list[object]:
    """Return the bytes in the form of the function's parameters: vectors or structs."""
    places = values[-len(data) :]
    return [
        [place] if isinstance(old, list) else place for old, place in zip(places, data, strict=True)
    ]


def _of_one(chance: Random, values: Values) -> list[object]:
    group = chance.choice([_SCALAR, _G1, _G2, _NO_GROUP])
    data = _broken(chance, element(chance, group)) if group != _SCALAR else element(chance, group)
    return [group, data, *values[2:]]


def _of_two(chance: Random, values: Values) -> list[object]:
    group = chance.choice([_SCALAR, _G1, _G2, _GT, _NO_GROUP])
    return [group, *_shaped(values, element(chance, group), element(chance, group))]


def _of_scalar_and_one(chance: Random, values: Values) -> list[object]:
    group = chance.choice([_SCALAR, _G1, _G2, _GT, _NO_GROUP])
    return [group, *_shaped(values, element(chance, _SCALAR), element(chance, group))]


def _of_message(chance: Random, _: Values) -> list[object]:
    return [chance.choice([_G1, _G2, _NO_GROUP]), bytearray(chance.choice(_MESSAGES))]


def _of_pair(chance: Random, values: Values) -> list[object]:
    return [_G1, *_shaped(values, element(chance, _G1), element(chance, _G2))]


def _of_many(chance: Random, values: Values) -> list[object]:
    group, length = chance.choice([_G1, _G2]), chance.choice(_LENGTHS)
    scalars, points = ([element(chance, one) for _ in range(length)] for one in (_SCALAR, group))
    if isinstance(values[1], list):
        return [group, [[one] for one in scalars], [[one] for one in points]]
    return [group, bytearray().join(scalars), bytearray().join(points)]


def _from_bytes(group: int) -> Draw:
    return lambda chance, _: [_broken(chance, element(chance, group))]


def _signature(keys: PointGroup, signatures: PointGroup) -> Draw:
    def draw(chance: Random, _: Values) -> list[object]:
        secret, message = chance.randrange(1, ORDER), chance.choice(_MESSAGES)
        key = keys.multiply(keys.generator(), secret)
        signature = signatures.multiply(signatures.hash_to(message), secret)
        data = [signatures.encode(signature), keys.encode(key), message]
        if chance.random() < 0.3:
            data[0] = signatures.encode_uncompressed(signature)
        return [_broken(chance, bytearray(part)) for part in data]

    return draw


class _Curve(NamedTuple):
    """A curve for Groth16: order, generator of G2, multiples of G1's generator, prepared keys."""

    order: int
    generator: bytes
    multiple: Callable[[int], bytes]
    prepare_key: Callable[[bytes], PreparedKey]


_CURVES = (
    _Curve(
        ORDER,
        G2.encode(G2.generator()),
        lambda factor: G1.encode(G1.multiply(G1.generator(), factor)),
        prepare_bls12381_key,
    ),
    _Curve(
        bn.ORDER,
        bn.encode_g2(_BN254_G2),
        lambda factor: bn.encode_g1(bn.G1.multiply(factor, bn.G1.generator)),
        prepare_bn254_key,
    ),
)


def _statement(chance: Random, curve: _Curve) -> tuple[bytes, bytes, bytes]:
    """Return a verifying key, public inputs and their proof. The proof uses the key's secrets.

    Each point of G2 is the generator. Therefore the point a of the proof is the sum of alpha, the
    point of the inputs, and c.
    """
    alpha, first, a, *abc = (chance.randrange(curve.order) for _ in range(5))
    inputs = [chance.randrange(curve.order) for _ in abc]
    total = first + sum(one * factor for one, factor in zip(inputs, abc, strict=True))
    points = [curve.multiple(factor) for factor in (first, *abc)]
    count = len(points).to_bytes(8, "little")
    key = curve.multiple(alpha) + 3 * curve.generator + count + b"".join(points)
    c = (a - alpha - total) % curve.order
    proof = curve.multiple(a) + curve.generator + curve.multiple(c)
    return key, b"".join(one.to_bytes(32, "little") for one in inputs), proof


def _verifying_key(chance: Random, values: Values) -> list[object]:
    number = chance.randrange(3)
    key, *_ = _statement(chance, _CURVES[number % 2])
    return [_numbered(number, values), _broken(chance, bytearray(key))]


def _proof(chance: Random, values: Values) -> list[object]:
    number = chance.randrange(3)
    curve = _CURVES[number % 2]
    data, inputs, proof = _statement(chance, curve)
    key = [bytearray(part) for part in curve.prepare_key(data)]
    given = [_broken(chance, bytearray(part)) for part in (inputs, proof)]
    if isinstance(values[0], list):
        return [[number], key, *[[part] for part in given]]
    return [number, *key, *given]


def _numbered(number: int, values: Values) -> object:
    return [number] if isinstance(values[0], list) else number


_OPERATIONS = {
    "validate": _of_one,
    "from_bytes": _of_one,
    "add": _of_two,
    "sub": _of_two,
    "mul": _of_scalar_and_one,
    "div": _of_scalar_and_one,
    "hash_to": _of_message,
    "pairing": _of_pair,
    "multi_scalar_mul": _of_many,
    "multi_scalar_multiplication": _of_many,
}
OF_FUNCTIONS: dict[tuple[str, str], Draw] = {
    ("bls12381", "bls12381_min_sig_verify"): _signature(G2, G1),
    ("bls12381", "bls12381_min_pk_verify"): _signature(G1, G2),
    ("bls12381", "scalar_from_bytes"): _from_bytes(_SCALAR),
    ("bls12381", "g1_from_bytes"): _from_bytes(_G1),
    ("bls12381", "g2_from_bytes"): _from_bytes(_G2),
    **{
        ("group_ops", prefix + name): draw
        for name, draw in _OPERATIONS.items()
        for prefix in ("", "internal_")
    },
    **{
        ("groth16", name + suffix): draw
        for name, draw in (
            ("prepare_verifying_key", _verifying_key),
            ("verify_groth16_proof", _proof),
        )
        for suffix in ("", "_internal")
    },
}
"""Generators of valid arguments, by module and function. A generator changes typed arguments."""
