"""The reader that copies values of running Move code."""

from collections.abc import Callable

from nexus_tools.sui.localnet.trace.value import EnumContent, MoveValue, StructContent
from nexus_tools.sui.localnet.vm import (
    LinkError,
    Machine,
    Reference,
    ReferenceType,
    Type,
    Value,
    substitute,
)
from nexus_tools.sui.types.address import Address
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

MAX_NODES = 5_000
"""The maximum number of nodes of one value.

An integer, a struct, or 32 bytes of a `vector<u8>` count as one node.
"""

MAX_NODES_TOTAL = 300_000
"""The maximum number of nodes of all recorded values of a transaction."""

_BYTES_PER_NODE = 32
_TEXTS = frozenset({STRING, ASCII_STRING, TYPE_NAME, URL})
_IDS = frozenset({OBJECT_ID, UID})
_ADDRESSES = frozenset({Primitive.ADDRESS, Primitive.SIGNER})

Read = Callable[[Value], MoveValue]
Fields = tuple[tuple[str, Read], ...]


class ValueReader:
    """A reader that makes frozen copies of values.

    The reader builds one read function for each type.

    The reader truncates vectors if one value, or all values together, would become too large.
    """

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._readers: dict[TypeTag, Read] = {}
        self._left = 0
        self._left_in_total = MAX_NODES_TOTAL

    @property
    def has_room(self) -> bool:
        """Whether the total limit leaves enough nodes for a value of the maximum size."""
        return self._left_in_total >= MAX_NODES

    def read(self, type_: Type, value: Value) -> MoveValue:
        """Copy a value, or the target of a reference.

        Raises:
            LinkError: the type is unknown.
        """
        if isinstance(type_, ReferenceType):
            assert isinstance(value, Reference)
            type_, value = type_.target, value.read()
        limit = self._left = min(MAX_NODES, self._left_in_total)
        result = self._reader(type_)(value)  # type: ignore[arg-type]  # no type parameters
        # `_left` may be negative now, because vectors are truncated but structs are not.
        self._left_in_total -= limit - self._left
        return result

    def decode(self, type_: TypeTag, data: bytes) -> MoveValue:
        """Decode BCS bytes and return the value.

        Raises:
            LinkError: the type is unknown.
            BcsError: the bytes are not a value of the type.
        """
        return self.read(type_, self._machine.types.decode(type_, data))

    def _reader(self, type_: TypeTag) -> Read:
        reader = self._readers.get(type_)
        if reader is None:
            reader = self._readers[type_] = self._build(type_)
        return reader

    def _build(self, type_: TypeTag) -> Read:
        if isinstance(type_, VectorTag):
            return self._bytes(type_) if type_.element is Primitive.U8 else self._vector(type_)
        if isinstance(type_, StructTag):
            return self._datatype(type_)
        if type_ in _ADDRESSES:
            return self._plain(type_, Address)
        return self._plain(type_, lambda value: value)

    def _plain(self, type_: TypeTag, content: Callable[[Value], object]) -> Read:
        def read(value: Value) -> MoveValue:
            self._left -= 1
            return MoveValue(type_, content(value))

        return read

    def _bytes(self, type_: TypeTag) -> Read:
        def read(value: Value) -> MoveValue:
            content = bytes(value[: max(self._left, 0) * _BYTES_PER_NODE])
            self._left -= 1 + len(content) // _BYTES_PER_NODE
            return MoveValue(type_, content, len(value) - len(content))

        return read

    def _vector(self, type_: VectorTag) -> Read:
        read_element = self._reader(type_.element)

        def read(value: Value) -> MoveValue:
            self._left -= 1
            elements = []
            for element in value:
                if self._left <= 0:
                    break
                elements.append(read_element(element))
            return MoveValue(type_, tuple(elements), len(value) - len(elements))

        return read

    def _datatype(self, type_: StructTag) -> Read:
        if type_ in _TEXTS:
            return self._plain(type_, _text)
        if type_ in _IDS:
            return self._plain(type_, lambda value: Address(_innermost(value)))
        if type_.datatype == BALANCE:
            return self._plain(type_, _innermost)
        if type_.datatype == OPTION:
            return self._option(type_)
        definition = self._machine.types.datatype(type_)
        if definition is None:
            raise LinkError(f"the type {type_} does not exist")
        if definition.variants is None:
            return self._struct(type_, self._fields(definition.fields or (), type_))
        variants = [(name, self._fields(fields, type_)) for name, fields in definition.variants]
        return self._enum(type_, variants)

    def _fields(self, fields: tuple[tuple[str, Type], ...], type_: StructTag) -> Fields:
        return tuple(
            (name, self._reader(substitute(field, type_.type_params)))  # type: ignore[arg-type]
            for name, field in fields
        )

    def _option(self, type_: StructTag) -> Read:
        read_some = self._reader(type_.type_params[0])

        def read(value: Value) -> MoveValue:
            self._left -= 1
            (elements,) = value
            if not len(elements):
                return MoveValue(type_, None)
            return MoveValue(type_, read_some(elements[0]))

        return read

    def _struct(self, type_: StructTag, fields: Fields) -> Read:
        def read(value: Value) -> MoveValue:
            self._left -= 1
            return MoveValue(type_, StructContent(_read_fields(fields, value)))

        return read

    def _enum(self, type_: StructTag, variants: list[tuple[str, Fields]]) -> Read:
        def read(value: Value) -> MoveValue:
            self._left -= 1
            name, fields = variants[value.tag]
            return MoveValue(type_, EnumContent(name, _read_fields(fields, value.fields)))

        return read


def _read_fields(fields: Fields, values: list[Value]) -> tuple[tuple[str, MoveValue], ...]:
    return tuple([(name, read(value)) for (name, read), value in zip(fields, values, strict=True)])


def _text(value: Value) -> str:
    return bytes(_innermost(value)).decode("utf-8", "replace")


def _innermost(value: Value) -> Value:
    """Return the value inside nested structs that have one field each."""
    while isinstance(value, list):
        value = value[0]
    return value
