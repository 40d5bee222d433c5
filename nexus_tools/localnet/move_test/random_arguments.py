"""Arguments of random tests: any value of integers, booleans, addresses and vectors of those."""

from collections.abc import Sequence
from random import Random

from nexus_tools.errors import ValidationError
from nexus_tools.localnet.vm import Type, Value
from nexus_tools.sui.type_tag import Primitive, VectorTag

_VECTOR_MAX = 64
_ADDRESS_BYTES = 32
_BITS = {
    Primitive.U8: 8,
    Primitive.U16: 16,
    Primitive.U32: 32,
    Primitive.U64: 64,
    Primitive.U128: 128,
    Primitive.U256: 256,
}


def random_arguments(title: str, types: Sequence[Type], source: Random) -> list[Value]:
    """One value of each type. Raises `ValidationError` for types that have no random values."""
    return [_value(title, type_, source) for type_ in types]


def _value(title: str, type_: Type, source: Random) -> Value:
    if type_ is Primitive.BOOL:
        return source.random() < 0.5
    if type_ is Primitive.ADDRESS:
        return source.randbytes(_ADDRESS_BYTES)
    if isinstance(type_, Primitive) and type_ in _BITS:
        return source.getrandbits(_BITS[type_])
    if isinstance(type_, VectorTag):
        length = source.randint(0, _VECTOR_MAX)
        values = [_value(title, type_.element, source) for _ in range(length)]
        return bytearray(values) if type_.element is Primitive.U8 else values
    raise ValidationError("random_test_unsupported", f"{title} takes a {type_}")
