"""The types of pure inputs, which a transaction passes as bytes.

Only primitives, IDs, strings, and options and vectors of these types are allowed. Source:
`primitive_serialization_layout` in `sui-adapter`.
"""

from collections.abc import Callable
from functools import lru_cache

from nexus_tools.sui.localnet.vm import Value
from nexus_tools.sui.types.type_tag import (
    ASCII_STRING,
    OBJECT_ID,
    OPTION,
    STRING,
    Primitive,
    StructTag,
    TypeTag,
    VectorTag,
)

Check = Callable[[Value], bool]


@lru_cache(maxsize=1_024)
def pure_check(tag: TypeTag) -> Check | None:
    """Return a check of decoded values of a type, or None if the type is not allowed."""
    if isinstance(tag, Primitive):
        return None if tag is Primitive.SIGNER else _accept
    if isinstance(tag, VectorTag):
        return _vector_check(tag.element)
    if tag == OBJECT_ID:
        return _accept
    if tag == STRING:
        return _is_utf8
    if tag == ASCII_STRING:
        return _is_ascii
    return _option_check(tag)


def _vector_check(element: TypeTag) -> Check | None:
    check = pure_check(element)
    if check is None or check is _accept:
        return check
    return lambda value: all(map(check, value))


def _option_check(tag: StructTag) -> Check | None:
    if tag.datatype != OPTION:
        return None
    check = pure_check(tag.type_params[0])
    if check is None:
        return None
    # An option is a struct around a vector, and the vector might decode to two elements.
    return lambda value: len(value[0]) <= 1 and all(map(check, value[0]))


def _accept(_value: Value) -> bool:
    return True


def _is_utf8(value: Value) -> bool:
    try:
        value[0].decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_ascii(value: Value) -> bool:
    return bool(value[0].isascii())
