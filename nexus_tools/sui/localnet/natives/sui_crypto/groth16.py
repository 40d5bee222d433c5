"""The native functions of `sui::groth16`, which verify Groth16 proofs."""

from collections.abc import Callable

from msgspec import Struct

from nexus_tools.sui.localnet.crypto.curves.weierstrass import InvalidElement
from nexus_tools.sui.localnet.crypto.groth16 import (
    PreparedKey,
    prepare_bls12381_key,
    prepare_bn254_key,
    verify_bls12381,
    verify_bn254,
)
from nexus_tools.sui.localnet.natives.gas import charge
from nexus_tools.sui.localnet.natives.table import natives_of
from nexus_tools.sui.localnet.vm import Context, NativeAbort, Reference
from nexus_tools.sui.types.address import SUI_FRAMEWORK
from nexus_tools.sui.types.type_tag import TypeTag

_INVALID_VERIFYING_KEY, _INVALID_CURVE, _TOO_MANY_PUBLIC_INPUTS = range(3)
_MAX_PUBLIC_INPUTS = 8
_INPUT_BYTES = 32
_COST_INVALID, _COST_PER_BYTE = 100, 2


class _Curve(Struct, frozen=True):
    """The functions that prepare keys and verify proofs over a curve, with their costs."""

    prepare_key: Callable[[bytes], PreparedKey]
    verifies: Callable[[PreparedKey, bytes, bytes], bool]
    prepare_cost: int
    verify_cost: int
    cost_per_input: int


# The curves by the `id` of a `sui::groth16::Curve`, which is 0 for `bls12381()` and 1 for
# `bn254()`.
_CURVES = {
    0: _Curve(prepare_bls12381_key, verify_bls12381, 53_838, 72_090, 8_213),
    1: _Curve(prepare_bn254_key, verify_bn254, 82_010, 115_502, 9_484),
}


def prepare_verifying_key_internal(
    context: Context, _types: tuple[TypeTag, ...], curve: int, verifying_key: Reference
) -> list[bytearray]:
    """Return a `PreparedVerifyingKey`. Abort if the bytes are not a verifying key of the curve."""
    curve_rules = _curve(context, curve)
    charge(context, curve_rules.prepare_cost)
    try:
        prepared = curve_rules.prepare_key(bytes(verifying_key.read()))
    except InvalidElement:
        raise NativeAbort(_INVALID_VERIFYING_KEY) from None
    return list(map(bytearray, prepared))


def verify_groth16_proof_internal(
    context: Context,
    _types: tuple[TypeTag, ...],
    curve: int,
    *arguments: Reference,
) -> bool:
    """Return whether a proof is valid for public inputs. A malformed proof is not valid."""
    curve_rules = _curve(context, curve)
    *key, inputs, proof = [bytes(argument.read()) for argument in arguments]
    count = -(-len(inputs) // _INPUT_BYTES)
    charge(
        context,
        curve_rules.verify_cost + curve_rules.cost_per_input * count,
        _COST_PER_BYTE,
        len(inputs),
    )
    if count > _MAX_PUBLIC_INPUTS:
        raise NativeAbort(_TOO_MANY_PUBLIC_INPUTS)
    try:
        return curve_rules.verifies(PreparedKey(*key), inputs, proof)
    except InvalidElement:
        return False


def _curve(context: Context, number: int) -> _Curve:
    curve = _CURVES.get(number)
    if curve is None:
        charge(context, _COST_INVALID)
        raise NativeAbort(_INVALID_CURVE)
    return curve


NATIVES = natives_of(
    SUI_FRAMEWORK,
    "groth16",
    prepare_verifying_key_internal=prepare_verifying_key_internal,
    verify_groth16_proof_internal=verify_groth16_proof_internal,
)
