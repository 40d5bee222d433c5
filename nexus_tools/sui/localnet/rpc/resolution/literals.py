"""The conversion of JSON-like literals to BCS bytes. The uses of a literal determine its type.

Source: `sui-rpc-api`, `simulate/resolve/literal.rs`.
"""

import re
from collections.abc import Callable
from math import isnan

from nexus_tools.sui.bcs import string
from nexus_tools.sui.errors import ValidationError
from nexus_tools.sui.localnet.rpc.interface import RpcError, invalid
from nexus_tools.sui.localnet.rpc.resolution.uses import CalledFunctions, Role, Use
from nexus_tools.sui.localnet.vm import Type
from nexus_tools.sui.rpc import Message
from nexus_tools.sui.support.uleb128 import write_uleb128
from nexus_tools.sui.types.address import ADDRESS_LENGTH, Address
from nexus_tools.sui.types.transaction import MakeMoveVec, MoveCall
from nexus_tools.sui.types.type_tag import (
    ASCII_STRING,
    OPTION,
    STRING,
    Primitive,
    StructTag,
    VectorTag,
)

_BITS = {
    Primitive.U8: 8,
    Primitive.U16: 16,
    Primitive.U32: 32,
    Primitive.U64: 64,
    Primitive.U128: 128,
    Primitive.U256: 256,
}
# The largest u256 has 78 digits. Reject longer numbers, because Python parses them slowly.
_DIGITS = re.compile(r"\+?[0-9]{1,80}", re.ASCII)
_MAX_U64 = 2**64 - 1
_IN_OPTIONS = frozenset({"bool_value", "number_value", "string_value", "list_value"})


def resolve_literal(value: Message, uses: tuple[Use, ...], functions: CalledFunctions) -> bytes:
    """Return the BCS bytes of a `google.protobuf.Value`. All its uses must require the same type.

    Raises:
        RpcError: INVALID_ARGUMENT.
    """
    types = {_wanted(use, functions) for use in uses}
    if not types:
        raise invalid("unable to determine type of literal")
    if len(types) > 1:
        raise invalid(
            "unable to resolve literal as it is used as multiple different types across commands"
        )
    out = bytearray()
    write_literal(out, types.pop(), value)
    return bytes(out)


def _wanted(use: Use, functions: CalledFunctions) -> Type:
    if isinstance(use.command, MoveCall):
        return functions.parameter(use.command, use.position)
    if use.role is Role.RECIPIENT:
        return Primitive.ADDRESS
    if use.role is Role.AMOUNT:
        return Primitive.U64
    if isinstance(use.command, MakeMoveVec):
        if use.command.element_type is None:
            raise invalid("unable to resolve literal as an unknown type")
        return use.command.element_type
    raise invalid("invalid use of literal")


def write_literal(out: bytearray, type_: Type, value: Message) -> None:
    """Append a literal as a value of a type.

    For example, `7` and `"7"` become 07 00 00 00 00 00 00 00 as a `u64`. `[1, 2]` becomes 02 01 02
    as a `vector<u8>`. For an `Option<u8>`, null becomes 00, and `7` becomes 01 07.

    Raises:
        RpcError: INVALID_ARGUMENT.
    """
    if isinstance(type_, VectorTag):
        _write_vector(out, type_, value)
    elif isinstance(type_, StructTag) and type_.datatype == OPTION:
        _write_option(out, type_, value)
    elif type_ in _BITS:
        assert isinstance(type_, Primitive)
        out += _number(value, type_).to_bytes(_BITS[type_] // 8, "little")
    elif (write := _WRITERS.get(type_)) is not None:
        write(out, value)
    else:
        raise invalid(f"literal cannot be resolved into type {type_}")


def _kind(value: Message) -> str | None:
    kind: str | None = value.WhichOneof("kind")
    return kind


def _write_vector(out: bytearray, type_: VectorTag, value: Message) -> None:
    if _kind(value) != "list_value":
        raise invalid(f"literal cannot be resolved into type Vector<{type_.element}>")
    elements = value.list_value.values
    write_uleb128(len(elements), out)
    for element in elements:
        write_literal(out, type_.element, element)


def _write_option(out: bytearray, type_: StructTag, value: Message) -> None:
    if _kind(value) == "null_value":
        out.append(0)
    elif _kind(value) in _IN_OPTIONS:
        out.append(1)
        write_literal(out, type_.type_params[0], value)
    else:
        raise invalid("literal cannot be resolved into Option")


def _number(value: Message, type_: Primitive) -> int:
    if _kind(value) == "number_value":
        number = _whole(value.number_value)
    elif _kind(value) == "string_value":
        number = _digits(value.string_value, type_)
    else:
        raise invalid(f"literal cannot be resolved into type {type_}")
    if number >> _BITS[type_]:
        raise _not_as(type_, "number too large to fit in target type")
    return number


def _whole(number: float) -> int:
    """Convert a double to a u64. Drop the fraction, and clamp the result, like Rust's `as u64`.

    For example, 2.9 becomes 2, -1.0 and NaN become 0, and 1e30 becomes 2^64 - 1.
    """
    if isnan(number):
        return 0
    return min(int(min(max(number, 0.0), float(_MAX_U64))), _MAX_U64)  # the double is 2^64


def _digits(text: str, type_: Primitive) -> int:
    if not _DIGITS.fullmatch(text):
        raise _not_as(type_, "invalid digit found in string")
    return int(text)


def _write_bool(out: bytearray, value: Message) -> None:
    if _kind(value) == "bool_value":
        out.append(value.bool_value)
    elif _kind(value) == "string_value":
        if value.string_value not in ("true", "false"):
            raise _not_as("bool", "provided string was not `true` or `false`")
        out.append(value.string_value == "true")
    else:
        raise invalid("literal cannot be resolved into type bool")


def _write_address(out: bytearray, value: Message) -> None:
    """Append an address. An address with the prefix `0x` may omit leading zeros."""
    if _kind(value) != "string_value":
        raise invalid("literal cannot be resolved into type address")
    text = value.string_value
    if not text.startswith("0x"):
        if len(text) != 2 * ADDRESS_LENGTH:
            raise _not_as("address", f"{text[:80]!r} is not an address")
        text = f"0x{text}"
    try:
        out += Address.parse(text)
    except ValidationError as error:
        raise _not_as("address", error.message) from None


def _write_string(out: bytearray, value: Message) -> None:
    if _kind(value) != "string_value":
        raise invalid("literal cannot be resolved into string")
    string.write(value.string_value, out)


def _not_as(type_: str, reason: str) -> RpcError:
    return invalid(f"literal cannot be resolved as {type_}: {reason}")


_WRITERS: dict[Type, Callable[[bytearray, Message], None]] = {
    Primitive.BOOL: _write_bool,
    Primitive.ADDRESS: _write_address,
    STRING: _write_string,
    ASCII_STRING: _write_string,
}
