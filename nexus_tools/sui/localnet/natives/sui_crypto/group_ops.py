"""The native functions of `sui::group_ops`, for arithmetic in the groups of BLS12-381.

A number identifies each group. The framework's functions ensure that elements belong to their
groups. For malformed bytes, the native functions abort with `EInvalidInput`. Source:
`crypto/group_ops.rs` of `sui-move-natives`. Multi-scalar multiplication is enabled, as on devnet
and local networks. Protocol version 105 on mainnet disables multi-scalar multiplication.
"""

from collections.abc import Callable, Hashable, Mapping
from functools import wraps
from typing import Any, Protocol

from nexus_tools.sui.localnet.crypto.curves.bls12381 import (
    G1,
    G2,
    SCALAR_BYTES,
    SCALARS,
    PointGroup,
    pairing,
)
from nexus_tools.sui.localnet.crypto.curves.bls12381_target import GT, from_arkworks
from nexus_tools.sui.localnet.crypto.curves.weierstrass import InvalidElement
from nexus_tools.sui.localnet.crypto.groth16 import chunks
from nexus_tools.sui.localnet.natives.gas import charge
from nexus_tools.sui.localnet.natives.table import natives_of
from nexus_tools.sui.localnet.vm import Context, Native, NativeAbort, Reference
from nexus_tools.sui.types.address import SUI_FRAMEWORK
from nexus_tools.sui.types.type_tag import TypeTag

_INVALID_INPUT, _INPUT_TOO_LONG = 1, 2
# The numbers of the groups are `SCALAR_TYPE` to `UNCOMPRESSED_G1_TYPE` of `sui::bls12381`.
_SCALAR, _G1, _G2, _GT, _UNCOMPRESSED_G1 = range(5)

_DECODE_COSTS = {_SCALAR: 7, _G1: 2_848, _G2: 3_770}
_ADD_COSTS = {_SCALAR: 10, _G1: 1_556, _G2: 3_048, _GT: 188}
_SUB_COSTS = {_SCALAR: 10, _G1: 1_550, _G2: 3_019, _GT: 497}
_MUL_COSTS = {_SCALAR: 11, _G1: 4_842, _G2: 9_108, _GT: 27_490}
_DIV_COSTS = {_SCALAR: 91, _G1: 5_091, _G2: 9_206, _GT: 27_804}
_HASH_COSTS, _HASH_COST_PER_BYTE = {_G1: 2_962, _G2: 8_688}, 2
_COMBINE_COSTS, _ADDITION_COSTS = {_G1: 62_648, _G2: 131_192}, {_G1: 1_333, _G2: 3_216}
_PAIRING_COSTS = {_G1: 26_897}
_CONVERT_COSTS = {(_UNCOMPRESSED_G1, _G1): 677, (_G1, _UNCOMPRESSED_G1): 2_099}
_SUM_COST, _SUM_COST_PER_TERM = 77, 26

_MAX_COMBINED, _MAX_SUMMED = 32, 1_200
_SCALAR_BITS = 255


class _Group(Protocol):
    """The operations on the elements of a group."""

    def decode(self, data: bytes, /) -> Any: ...
    def encode(self, element: Any, /) -> bytes: ...
    def add(self, first: Any, second: Any, /) -> Any: ...
    def subtract(self, first: Any, second: Any, /) -> Any: ...
    def multiply(self, element: Any, scalar: int, /) -> Any: ...


_GROUPS: dict[int, _Group] = {_SCALAR: SCALARS, _G1: G1, _G2: G2, _GT: GT}
_POINT_GROUPS: dict[int, PointGroup] = {_G1: G1, _G2: G2}
_VALIDATORS: dict[int, Callable[[bytes], Any]] = {
    _SCALAR: SCALARS.validate,
    _G1: G1.validate,
    _G2: G2.validate,
}


def _cost(costs: Mapping[Any, int], key: Hashable) -> int:
    """Return the cost of an operation in a group. Abort for a group without the operation."""
    cost = costs.get(key)
    if cost is None:
        raise NativeAbort(_INVALID_INPUT)
    return cost


def _aborting_when_invalid(native: Callable[..., bytes]) -> Native:
    """Wrap a native function so that it aborts for bytes that are not group elements."""

    @wraps(native)
    def wrapped(*arguments: Any) -> bytearray:
        try:
            return bytearray(native(*arguments))
        except InvalidElement:
            raise NativeAbort(_INVALID_INPUT) from None

    return wrapped


def internal_validate(
    context: Context, _types: tuple[TypeTag, ...], group: int, data: Reference
) -> bool:
    """Return whether bytes are an element of a group."""
    validate = _VALIDATORS.get(group)
    if validate is None:
        return False
    charge(context, _DECODE_COSTS[group])
    try:
        validate(bytes(data.read()))
    except InvalidElement:
        return False
    return True


def _binary_operation(
    costs: Mapping[int, int], compute: Callable[[_Group, Any, Any], Any]
) -> Native:
    def operation(
        context: Context,
        _types: tuple[TypeTag, ...],
        group: int,
        first: Reference,
        second: Reference,
    ) -> bytes:
        charge(context, _cost(costs, group))
        operations = _GROUPS[group]
        elements = [operations.decode(bytes(operand.read())) for operand in (first, second)]
        return operations.encode(compute(operations, *elements))

    return _aborting_when_invalid(operation)


def _scalar_operation(costs: Mapping[int, int], scale: Callable[[int], int]) -> Native:
    def operation(
        context: Context,
        _types: tuple[TypeTag, ...],
        group: int,
        scalar: Reference,
        data: Reference,
    ) -> bytes:
        charge(context, _cost(costs, group))
        operations = _GROUPS[group]
        factor = scale(SCALARS.decode(bytes(scalar.read())))
        return operations.encode(operations.multiply(operations.decode(bytes(data.read())), factor))

    return _aborting_when_invalid(operation)


def internal_hash_to(
    context: Context, _types: tuple[TypeTag, ...], group: int, message: Reference
) -> bytearray:
    """Hash a message to a point of a group. Abort for an empty message."""
    data = bytes(message.read())
    if not data:
        raise NativeAbort(_INVALID_INPUT)
    charge(context, _cost(_HASH_COSTS, group), _HASH_COST_PER_BYTE, len(data))
    operations = _POINT_GROUPS[group]
    return bytearray(operations.encode(operations.hash_to(data)))


@_aborting_when_invalid
def internal_multi_scalar_mul(
    context: Context, _types: tuple[TypeTag, ...], group: int, scalars: Reference, points: Reference
) -> bytes:
    """Return the sum of points multiplied by scalars, which are concatenated in the arguments."""
    base = _cost(_COMBINE_COSTS, group)
    operations = _POINT_GROUPS[group]
    factors, terms = bytes(scalars.read()), bytes(points.read())
    count, odd_bytes = divmod(len(factors), SCALAR_BYTES)
    if not count or odd_bytes or len(terms) != count * operations.size:
        raise NativeAbort(_INVALID_INPUT)
    if count > _MAX_COMBINED:
        raise NativeAbort(_INPUT_TOO_LONG)
    charge(context, (_DECODE_COSTS[_SCALAR] + _DECODE_COSTS[group]) * count)
    numbers = [SCALARS.decode(chunk) for chunk in chunks(factors, SCALAR_BYTES)]
    elements = [operations.decode(chunk) for chunk in chunks(terms, operations.size)]
    charge(context, base + _ADDITION_COSTS[group] * additions(count))
    return operations.encode(operations.combine(numbers, elements))


def additions(count: int) -> int:
    """Return the number of additions in Pippenger's algorithm in blst, for the gas charge.

    The algorithm reads scalars of 255 bits in windows. For 32 points, a window has 3 bits, so there
    are 85 windows. A window needs 32 + 2³ + 1 additions, so the total is 3 485 additions.
    """
    bits = count.bit_length() - 1
    window = 1 if bits == 0 else 2 if bits <= 4 else bits - 2 if bits <= 12 else bits - 3
    return -(-_SCALAR_BITS // window) * (count + (1 << window) + 1)


@_aborting_when_invalid
def internal_pairing(
    context: Context, _types: tuple[TypeTag, ...], group: int, first: Reference, second: Reference
) -> bytes:
    """Return the pairing of a G1 point with a G2 point. `group` is the group of the first point."""
    charge(context, _cost(_PAIRING_COSTS, group))
    points = G1.decode(bytes(first.read())), G2.decode(bytes(second.read()))
    return from_arkworks(pairing([points]))


@_aborting_when_invalid
def internal_convert(
    context: Context, _types: tuple[TypeTag, ...], source: int, target: int, data: Reference
) -> bytes:
    """Convert a G1 point between its compressed and its uncompressed form."""
    charge(context, _cost(_CONVERT_COSTS, (source, target)))
    if source == _G1:
        return G1.encode_uncompressed(G1.decode(bytes(data.read())))
    return G1.encode(G1.validate_uncompressed(bytes(data.read())))


@_aborting_when_invalid
def internal_sum(
    context: Context, _types: tuple[TypeTag, ...], group: int, terms: Reference
) -> bytes:
    """Return the sum of uncompressed points of G1."""
    points = terms.read()
    if group != _UNCOMPRESSED_G1:
        raise NativeAbort(_INVALID_INPUT)
    if len(points) > _MAX_SUMMED:
        raise NativeAbort(_INPUT_TOO_LONG)
    charge(context, _SUM_COST, _SUM_COST_PER_TERM, len(points))
    total = G1.sum([G1.decode_uncompressed(bytes(point)) for point in points])
    return G1.encode_uncompressed(total)


NATIVES = natives_of(
    SUI_FRAMEWORK,
    "group_ops",
    internal_validate=internal_validate,
    internal_add=_binary_operation(_ADD_COSTS, lambda group, one, other: group.add(one, other)),
    internal_sub=_binary_operation(
        _SUB_COSTS, lambda group, one, other: group.subtract(one, other)
    ),
    internal_mul=_scalar_operation(_MUL_COSTS, lambda scalar: scalar),
    internal_div=_scalar_operation(_DIV_COSTS, SCALARS.invert),
    internal_hash_to=internal_hash_to,
    internal_multi_scalar_mul=internal_multi_scalar_mul,
    internal_pairing=internal_pairing,
    internal_convert=internal_convert,
    internal_sum=internal_sum,
)
