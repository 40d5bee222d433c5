"""The rendering of Move values as JSON (`google.protobuf.Value`).

Integers up to u32 become numbers, and wider integers become strings. Addresses, IDs and balances
become strings, and a `vector<u8>` becomes base64. An option becomes its value or null. A struct
becomes an object. An enum becomes an object that has the name of its variant under `@variant`.
Source: `sui-types/src/object/rpc_visitor/mod.rs`.
"""

from base64 import b64encode
from collections.abc import Callable

from nexus_tools.sui.bcs import BcsError
from nexus_tools.sui.localnet.rpc.interface import JSON_BYTES
from nexus_tools.sui.localnet.vm import LinkError, Machine, MoveFailure, Type, Value, substitute
from nexus_tools.sui.rpc import Message
from nexus_tools.sui.types.type_tag import (
    ASCII_STRING,
    BALANCE,
    OBJECT_ID,
    OPTION,
    STRING,
    TYPE_NAME,
    UID,
    URL,
    Primitive,
    StructTag,
    TypeTag,
    VectorTag,
)

Writer = Callable[[Value, Message], None]
Fields = tuple[tuple[str, Writer], ...]


class JsonRenderer:
    """A renderer for values of all types that the VM can load, with a cached writer per type."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._writers: dict[TypeTag, Writer] = dict(_PRIMITIVES)

    def render(self, tag: TypeTag, contents: bytes, into: Callable[[], Message]) -> None:
        """Render a value from its BCS bytes into the message that `into` returns.

        Like a full node, the renderer omits a value that is too large or does not have the type.
        """
        if len(contents) > JSON_BYTES:
            return
        try:
            value = self._machine.types.decode(tag, contents)
            writer = self._writer(tag)
        except (BcsError, MoveFailure):
            return
        writer(value, into())

    def _writer(self, tag: TypeTag) -> Writer:
        writer = self._writers.get(tag)
        if writer is None:
            writer = self._vector(tag) if isinstance(tag, VectorTag) else self._struct(tag)
            self._writers[tag] = writer
        return writer

    def _vector(self, tag: VectorTag) -> Writer:
        if tag.element is Primitive.U8:
            return _write_bytes
        write_element = self._writer(tag.element)

        def write(value: Value, message: Message) -> None:
            elements = message.list_value
            elements.SetInParent()  # set the list even if it is empty
            for element in value:
                write_element(element, elements.values.add())

        return write

    def _struct(self, tag: TypeTag) -> Writer:
        assert isinstance(tag, StructTag)
        place = tag.datatype
        if place in _SPECIAL:
            return _SPECIAL[place]
        if place == OPTION:
            return _option(self._writer(tag.type_params[0]))
        datatype = self._machine.types.datatype(tag)
        if datatype is None:
            raise LinkError(f"the type {tag} does not exist")
        if datatype.fields is not None:
            return _struct_writer(self._fields(datatype.fields, tag))
        assert datatype.variants is not None
        return _enum_writer(
            [(name, self._fields(fields, tag)) for name, fields in datatype.variants]
        )

    def _fields(self, fields: tuple[tuple[str, Type], ...], tag: StructTag) -> Fields:
        return tuple(
            (name, self._writer(_concrete(substitute(field, tag.type_params))))
            for name, field in fields
        )


def _concrete(field: Type) -> TypeTag:
    assert isinstance(field, Primitive | VectorTag | StructTag)
    return field


def _write_number(value: Value, message: Message) -> None:
    message.number_value = value


def _write_wide_number(value: Value, message: Message) -> None:
    message.string_value = str(value)


def _write_boolean(value: Value, message: Message) -> None:
    message.bool_value = value


def _write_address(value: Value, message: Message) -> None:
    message.string_value = f"0x{value.hex()}"


def _write_bytes(value: Value, message: Message) -> None:
    message.string_value = b64encode(value).decode("ascii")


def _write_id(value: Value, message: Message) -> None:
    _write_address(innermost(value), message)


def _write_text(value: Value, message: Message) -> None:
    message.string_value = bytes(innermost(value)).decode("utf-8", "replace")


def _write_balance(value: Value, message: Message) -> None:
    message.string_value = str(value[0])


def innermost(value: Value) -> Value:
    """Return the innermost value of nested structs that have one field each.

    For example, a `UID { id: ID { bytes } }` is represented as `[[b"..."]]`, and the result is the
    bytes. Likewise, a `Url` contains a `String`, which contains a vector.
    """
    while isinstance(value, list):
        value = value[0]
    return value


def _option(write_some: Writer) -> Writer:
    def write(value: Value, message: Message) -> None:
        (elements,) = value
        if len(elements):
            write_some(elements[0], message)
        else:
            message.null_value = 0

    return write


def _struct_writer(fields: Fields) -> Writer:
    def write(value: Value, message: Message) -> None:
        target = message.struct_value.fields
        for (name, write_field), field in zip(fields, value, strict=True):
            write_field(field, target[name])

    return write


def _enum_writer(variants: list[tuple[str, Fields]]) -> Writer:
    def write(value: Value, message: Message) -> None:
        name, fields = variants[value.tag]
        target = message.struct_value.fields
        target["@variant"].string_value = name
        for (field_name, write_field), field in zip(fields, value.fields, strict=True):
            write_field(field, target[field_name])

    return write


_PRIMITIVES: dict[TypeTag, Writer] = {
    Primitive.BOOL: _write_boolean,
    Primitive.U8: _write_number,
    Primitive.U16: _write_number,
    Primitive.U32: _write_number,
    Primitive.U64: _write_wide_number,
    Primitive.U128: _write_wide_number,
    Primitive.U256: _write_wide_number,
    Primitive.ADDRESS: _write_address,
    Primitive.SIGNER: _write_address,
}
_SPECIAL: dict[tuple[bytes, str, str], Writer] = {
    STRING.datatype: _write_text,
    ASCII_STRING.datatype: _write_text,
    TYPE_NAME.datatype: _write_text,
    URL.datatype: _write_text,
    OBJECT_ID.datatype: _write_id,
    UID.datatype: _write_id,
    BALANCE: _write_balance,
}
