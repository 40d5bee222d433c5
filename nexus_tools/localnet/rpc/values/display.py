"""How objects are to be shown (`sui.rpc.v2.Display`), by the `0x2::display::Display` of their type.

What counts is the latest `VersionUpdated` event of the type, as for the network's own nodes. Nodes
of later releases look in the registry 0xd instead, which the framework of this network has not.
Source: `sui-display/src/v1/mod.rs` and `SuiMoveValue` in `sui-json-rpc-types`.
"""

from collections.abc import Callable, Iterable

from nexus_tools.localnet.ledger import Checkpoint, EventLiteral, HasType, Ledger
from nexus_tools.localnet.rpc.values.display_template import (
    FieldPath,
    TemplateError,
    parse_template,
)
from nexus_tools.localnet.rpc.values.move_value import innermost
from nexus_tools.localnet.vm import Machine, MoveFailure, Type, Value, substitute
from nexus_tools.sui.address import MOVE_STDLIB, SUI_FRAMEWORK, SUI_SYSTEM
from nexus_tools.sui.bcs import BcsError
from nexus_tools.sui.rpc import Message
from nexus_tools.sui.type_tag import (
    ASCII_STRING,
    BALANCE,
    OBJECT_ID,
    OPTION,
    STRING,
    UID,
    URL,
    Primitive,
    StructTag,
    TypeTag,
    VectorTag,
)

MAX_OUTPUT_BYTES = 1024 * 1024
"""Of all names and values of an object together (`MAX_DISPLAY_OUTPUT_SIZE`)."""

_FRAMEWORK = frozenset({MOVE_STDLIB, SUI_FRAMEWORK, SUI_SYSTEM})


Fields = dict[str, str]
"""Templates by the names of what they show."""


class DisplayError(Exception):
    """A field of a display has no value for this object."""


class DisplayRenderer:
    """Fills the templates of types with the values of objects."""

    def __init__(self, ledger: Ledger, machine: Machine) -> None:
        self._ledger = ledger
        self._machine = machine
        self._read_at: Checkpoint | None = None
        self._known: dict[StructTag, Fields | None] = {}

    def render(self, tag: StructTag, contents: bytes, into: Callable[[], Message]) -> None:
        """Write what is shown into the message that `into` gives.

        Nothing is written for a type that has no display. A field without a value is null, and has
        a sentence among the errors.
        """
        fields = self._fields(tag)
        if fields is None:
            return
        try:
            value = self._machine.types.decode(tag, contents)
        except (BcsError, MoveFailure):
            return
        message, room = into(), _Room()
        output = message.output.struct_value
        output.SetInParent()
        for name, source in sorted(fields.items()):
            try:
                room.take(name)
                parts = (self._part(part, tag, value) for part in parse_template(source))
                output.fields[name].string_value = "".join(map(room.take, parts))
            except (TemplateError, DisplayError) as error:
                output.fields[name].null_value = 0
                message.errors.struct_value.fields[name].string_value = str(error)

    def _fields(self, tag: StructTag) -> Fields | None:
        """The templates of a type; they are read once as long as nothing happens."""
        if tag.address in _FRAMEWORK:  # whose types nobody has the `Publisher` of
            return None
        if self._read_at is not self._ledger.latest:
            self._read_at, self._known = self._ledger.latest, {}
        if tag not in self._known:
            self._known[tag] = self._read_fields(tag)
        return self._known[tag]

    def _read_fields(self, tag: StructTag) -> Fields | None:
        updated = HasType(SUI_FRAMEWORK, "display", "VersionUpdated", (tag,))
        found = self._ledger.events(((EventLiteral(updated),),), limit=1, descending=True)
        if not found:
            return None
        event = found[0].event
        _, _, (entries,) = self._machine.types.decode(event.type, event.contents)
        return {_utf8(name): _utf8(template) for name, template in entries}

    def _part(self, part: str | FieldPath, tag: StructTag, value: Value) -> str:
        return part if isinstance(part, str) else self._at(part, tag, value)

    def _at(self, path: FieldPath, tag: TypeTag, value: Value) -> str:
        for name in path.names:
            for field, field_tag, field_value in self._parts(tag, value):
                if field == name:
                    tag, value = field_tag, field_value
                    break
            else:
                raise DisplayError(f"'{path}' not found in object")
        if isinstance(tag, VectorTag):
            raise DisplayError(f"'{path}' is a vector, and is not supported in Display")
        if isinstance(tag, StructTag) and tag.datatype == OPTION:
            (elements,) = value
            return _shown(tag.type_params[0], elements[0], path) if len(elements) else ""
        return _shown(tag, value, path)

    def _parts(self, tag: TypeTag, value: Value) -> Iterable[tuple[str, TypeTag, Value]]:
        """Names, types and values of the fields of a struct, or of the variant of an enum."""
        datatype = self._machine.types.datatype(tag) if isinstance(tag, StructTag) else None
        if datatype is None:
            return
        assert isinstance(tag, StructTag)
        declared, values = datatype.fields, value
        if declared is None:
            assert datatype.variants is not None
            (_, declared), values = datatype.variants[value.tag], value.fields
        for (name, field), field_value in zip(declared, values, strict=True):
            yield name, _concrete(substitute(field, tag.type_params)), field_value


class _Room:
    """How much more the display of one object may say."""

    def __init__(self) -> None:
        self._left = MAX_OUTPUT_BYTES

    def take(self, text: str) -> str:
        """The text, if there is room for it. Raises `DisplayError`."""
        self._left -= len(text.encode())
        if self._left < 0:
            raise DisplayError("Display output too large")
        return text


def _concrete(field: Type) -> TypeTag:
    assert isinstance(field, Primitive | VectorTag | StructTag)
    return field


def _shown(tag: TypeTag, value: Value, path: FieldPath) -> str:
    """A single value as text."""
    if isinstance(tag, VectorTag):
        return ",\n".join(_shown(tag.element, element, path) for element in value)
    if isinstance(tag, Primitive):
        return _PRIMITIVES.get(tag, str)(value)
    show = _STRUCTS.get(tag.datatype)
    if show is None:
        raise DisplayError(f"'{path}' is a whole struct or enum, which this network does not show")
    return show(value)


def _boolean(value: Value) -> str:
    return "true" if value else "false"


def _address(value: Value) -> str:
    return f"0x{value.hex()}"


def _utf8(value: Value) -> str:
    return bytes(innermost(value)).decode("utf-8", "replace")


def _id(value: Value) -> str:
    return _address(innermost(value))


def _balance(value: Value) -> str:
    return str(value[0])


_PRIMITIVES: dict[Primitive, Callable[[Value], str]] = {
    Primitive.BOOL: _boolean,
    Primitive.ADDRESS: _address,
    Primitive.SIGNER: _address,
}
_STRUCTS: dict[tuple[bytes, str, str], Callable[[Value], str]] = {
    STRING.datatype: _utf8,
    ASCII_STRING.datatype: _utf8,
    URL.datatype: _utf8,
    OBJECT_ID.datatype: _id,
    UID.datatype: _id,
    BALANCE: _balance,
}
