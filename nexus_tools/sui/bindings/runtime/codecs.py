"""The codecs from which generated bindings compose their own."""

from typing import Any

from nexus_tools.sui.bcs import (
    Codec,
    boolean,
    byte_vector,
    choice,
    late,
    option,
    record,
    string,
    struct,
    u8,
    u16,
    u32,
    u64,
    u128,
    u256,
    vector,
)
from nexus_tools.sui.bindings.runtime.values import Coin, Collection, Field
from nexus_tools.sui.types.address import ADDRESS

__all__ = [
    "Codec",
    "address",
    "boolean",
    "byte_vector",
    "choice",
    "coin",
    "collection",
    "field",
    "late",
    "map_of",
    "option",
    "string",
    "struct",
    "u8",
    "u16",
    "u32",
    "u64",
    "u128",
    "u256",
    "vector",
    "wrapped",
]

address = ADDRESS
coin, collection, field = Coin.bcs, Collection.bcs, Field.bcs


def map_of(key: Codec[Any], value: Codec[Any]) -> Codec[tuple[tuple[Any, Any], ...]]:
    """Return the codec of a `VecMap`, whose value in Python is a tuple of key-value pairs."""
    return vector(record((key, value)))


def wrapped(name: Codec[Any]) -> Codec[Any]:
    """Return the codec of `Wrapper`, the key of a dynamic object field, which has only a name."""
    return name
