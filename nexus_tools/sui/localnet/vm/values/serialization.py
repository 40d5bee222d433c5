"""BCS codecs for Move values, built once for each type.

The codecs build on `sui.bcs` and encode and decode the values of this VM.
"""

from collections.abc import Callable, Sequence
from typing import Any

from nexus_tools.sui.bcs import (
    BcsError,
    Codec,
    boolean,
    fixed,
    read_uleb128,
    u8,
    u16,
    u32,
    u64,
    u128,
    u256,
)
from nexus_tools.sui.localnet.vm.definitions import Datatype, Type, substitute
from nexus_tools.sui.localnet.vm.errors import InvalidCode
from nexus_tools.sui.localnet.vm.values.values import Value, Variant
from nexus_tools.sui.support.uleb128 import write_uleb128
from nexus_tools.sui.types.type_tag import Primitive, StructTag, TypeTag, VectorTag

_PRIMITIVES: dict[Primitive, Codec[Any]] = {
    Primitive.BOOL: boolean,
    Primitive.U8: u8,
    Primitive.U16: u16,
    Primitive.U32: u32,
    Primitive.U64: u64,
    Primitive.U128: u128,
    Primitive.U256: u256,
    Primitive.ADDRESS: fixed(32, bytes),
    Primitive.SIGNER: fixed(32, bytes),
}


class Codecs:
    """A cache of codecs by type.

    `datatype` returns the definition of a struct or an enum. `check` raises if a type cannot have
    values. `check` runs before a codec is built, because building a codec for a recursive type
    would not terminate.
    """

    def __init__(
        self, datatype: Callable[[StructTag], Datatype], check: Callable[[TypeTag], None]
    ) -> None:
        self._datatype = datatype
        self._check = check
        self._codecs: dict[TypeTag, Codec[Value]] = {}

    def forget(self) -> None:
        """Discard all codecs."""
        self._codecs.clear()

    def codec(self, type_: TypeTag) -> Codec[Value]:
        """Return the codec of a type."""
        codec = self._codecs.get(type_)
        if codec is None:
            self._check(type_)
            codec = self._build(type_)
        return codec

    def _build(self, type_: TypeTag) -> Codec[Value]:
        cached = self._codecs.get(type_)
        if cached is not None:
            return cached
        if isinstance(type_, Primitive):
            codec = _PRIMITIVES[type_]
        elif isinstance(type_, VectorTag):
            codec = _BYTES if type_.element is Primitive.U8 else _list(self._build(type_.element))
        else:
            codec = self._build_datatype(type_)
        self._codecs[type_] = codec
        return codec

    def _build_datatype(self, type_: StructTag) -> Codec[Value]:
        definition = self._datatype(type_)
        if definition.fields == ():
            raise InvalidCode(f"{definition.tag} has no field, not even the compiler's dummy field")
        if definition.variants is None:
            return _struct(self._fields(definition.fields or (), type_))
        return _enum([self._fields(fields, type_) for _, fields in definition.variants])

    def _fields(self, fields: Sequence[tuple[str, Type]], type_: StructTag) -> list[Codec[Value]]:
        types = [substitute(field, type_.type_params) for _, field in fields]
        return [self._build(field) for field in types]  # type: ignore[arg-type]  # no parameters


def _read_bytes(data: bytes, position: int) -> tuple[bytearray, int]:
    size, position = read_uleb128(data, position)
    end = position + size
    # A Python slice would be silently truncated. `Codec` reports an IndexError as truncated data,
    # because reading a single byte after the end also raises IndexError.
    if end > len(data):
        raise IndexError
    return bytearray(data[position:end]), end


def _write_bytes(value: bytearray, out: bytearray) -> None:
    write_uleb128(len(value), out)
    out += value


_BYTES: Codec[Value] = Codec(_read_bytes, _write_bytes)


def _list(element: Codec[Value]) -> Codec[Value]:
    read_element, write_element = element.read, element.write

    def read(data: bytes, position: int) -> tuple[list[Value], int]:
        length, position = read_uleb128(data, position)
        values = []
        for _ in range(length):
            value, position = read_element(data, position)
            values.append(value)
        return values, position

    def write(values: list[Value], out: bytearray) -> None:
        write_uleb128(len(values), out)
        for value in values:
            write_element(value, out)

    return Codec(read, write)


def _struct(fields: list[Codec[Value]]) -> Codec[Value]:
    readers = [codec.read for codec in fields]
    writers = [codec.write for codec in fields]

    def read(data: bytes, position: int) -> tuple[list[Value], int]:
        values = []
        for read_field in readers:
            value, position = read_field(data, position)
            values.append(value)
        return values, position

    def write(values: list[Value], out: bytearray) -> None:
        for write_field, value in zip(writers, values, strict=True):
            write_field(value, out)

    return Codec(read, write)


def _enum(variants: list[list[Codec[Value]]]) -> Codec[Value]:
    codecs = [_struct(fields) for fields in variants]

    def read(data: bytes, position: int) -> tuple[Variant, int]:
        tag, position = read_uleb128(data, position)
        if tag >= len(codecs):
            raise BcsError(f"the enum has no variant {tag}")
        fields, position = codecs[tag].read(data, position)
        return Variant(tag, fields), position

    def write(value: Variant, out: bytearray) -> None:
        write_uleb128(value.tag, out)
        codecs[value.tag].write(value.fields, out)

    return Codec(read, write)
