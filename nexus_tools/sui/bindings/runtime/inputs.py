"""Conversion of a caller's values to arguments of a Move call.

If the caller passes an argument, such as the result of an earlier call, it is not converted.
"""

from collections.abc import Sequence
from typing import Any

from nexus_tools.sui.bcs import Codec, string
from nexus_tools.sui.errors import ValidationError
from nexus_tools.sui.transaction_builder import MAX_CHUNK_BYTES, TransactionBuilder
from nexus_tools.sui.types.address import (
    ACCUMULATOR_ROOT,
    AUTHENTICATOR_STATE,
    BRIDGE,
    CLOCK,
    COIN_REGISTRY,
    DENY_LIST,
    DISPLAY_REGISTRY,
    MOVE_STDLIB,
    RANDOM,
    SYSTEM_STATE,
    Address,
)
from nexus_tools.sui.types.object import ObjectReference
from nexus_tools.sui.types.transaction import (
    Argument,
    GasCoin,
    InputArgument,
    NestedResult,
    ReceivingObject,
    Result,
)
from nexus_tools.sui.types.type_tag import Primitive, TypeTag, VectorTag

ObjectInput = Address | Argument
"""An object ID, or the result of an earlier command of the transaction."""

_ARGUMENTS = (GasCoin, InputArgument, Result, NestedResult)
_BYTES = VectorTag(Primitive.U8)

__all__ = [
    "ACCUMULATOR_ROOT",
    "AUTHENTICATOR_STATE",
    "BRIDGE",
    "CLOCK",
    "COIN_REGISTRY",
    "DENY_LIST",
    "DISPLAY_REGISTRY",
    "RANDOM",
    "SYSTEM_STATE",
    "ObjectInput",
    "ascii_text",
    "changed",
    "data",
    "data_list",
    "elements",
    "objects",
    "pure",
    "read",
    "received",
    "text",
]


def changed(builder: TransactionBuilder, value: ObjectInput) -> Argument:
    """Return the argument for an object that the call changes or consumes."""
    return builder.object(value, mutable=True) if isinstance(value, Address) else value


def read(builder: TransactionBuilder, value: ObjectInput) -> Argument:
    """Return the argument for an object that the call only reads.

    If the object is shared, transactions that only read it can run in parallel.
    """
    return builder.object(value, mutable=False) if isinstance(value, Address) else value


def received(builder: TransactionBuilder, value: ObjectReference | Argument) -> Argument:
    """Return the argument for an object that was sent to another object."""
    if isinstance(value, ObjectReference):
        return builder.resolved(ReceivingObject(value))
    return value


def pure(builder: TransactionBuilder, codec: Codec[Any], value: Any) -> Argument:
    """Return the argument for a value that is not an object."""
    return value if isinstance(value, _ARGUMENTS) else builder.pure(codec, value)


def data(builder: TransactionBuilder, value: bytes | Argument) -> Argument:
    """Return the argument for a `vector<u8>` of any length."""
    return value if isinstance(value, _ARGUMENTS) else builder.byte_vector(value)


def data_list(builder: TransactionBuilder, value: Sequence[bytes] | Argument) -> Argument:
    """Return the argument for a `vector<vector<u8>>` of any length."""
    if isinstance(value, _ARGUMENTS):
        return value
    return builder.make_move_vec([builder.byte_vector(element) for element in value], _BYTES)


def text(builder: TransactionBuilder, value: str | Argument) -> Argument:
    """Return the argument for a `std::string::String` of any length."""
    return _text(builder, value, "string", "utf8")


def ascii_text(builder: TransactionBuilder, value: str | Argument) -> Argument:
    """Return the argument for a `std::ascii::String` of any length."""
    return _text(builder, value, "ascii", "string")


def _text(
    builder: TransactionBuilder, value: str | Argument, module: str, function: str
) -> Argument:
    if isinstance(value, _ARGUMENTS):
        return value
    encoded = value.encode()
    if len(encoded) <= MAX_CHUNK_BYTES:
        return builder.pure(string, value)
    return builder.move_call(MOVE_STDLIB, module, function, [builder.byte_vector(encoded)])


def objects(
    builder: TransactionBuilder,
    values: Sequence[ObjectInput] | Argument,
    element: TypeTag | None,
) -> Argument:
    """Return the argument for a vector of objects that the call consumes."""
    if isinstance(values, _ARGUMENTS):
        return values
    return elements(builder, [changed(builder, value) for value in values], element)


def elements(
    builder: TransactionBuilder, values: Sequence[Argument] | Argument, element: TypeTag | None
) -> Argument:
    """Return the argument for a vector of earlier results.

    Only an empty vector needs `element`, the type of its elements. Raises `element_type_unknown`.
    """
    if isinstance(values, _ARGUMENTS):
        return values
    if not values and element is None:
        raise ValidationError(
            "element_type_unknown",
            "the element type of the empty vector is unknown because the published package of"
            " that type is unknown",
            hint="Create the vector with `builder.make_move_vec([], TYPE_TAG)`, and pass the"
            " result. The bindings of the type return the tag: `Class.type_tag(its_package)`.",
        )
    return builder.make_move_vec(values, element)
