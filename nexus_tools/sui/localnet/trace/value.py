"""Frozen copies of Move values, with the field names of their types.

`as_json` formats values for programs, and `as_text` formats values for users.
"""

import json
from base64 import b64encode
from typing import Any

from msgspec import Struct

from nexus_tools.sui.localnet.vm import ReferenceType, Type
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.type_tag import TX_CONTEXT, Primitive, StructTag, TypeTag, VectorTag


class MoveValue(Struct, frozen=True):
    """A Move value with its type.

        Type                                  Content
        bool                                  bool
        u8 ... u256, `balance::Balance`       int
        address, signer, `object::ID`, `UID`  Address
        vector<u8>                            bytes
        any other vector                      tuple of `MoveValue`
        `String`, `TypeName`, `Url`           str
        `option::Option`                      `MoveValue` or None
        any other struct                      `StructContent`
        enum                                  `EnumContent`

    `omitted` counts the elements that were dropped from the end of a large vector.
    """

    type: TypeTag
    content: Any
    omitted: int = 0

    def __getitem__(self, field: str) -> "MoveValue":
        """Return a field of a struct or of an enum value.

        Raises:
            KeyError: the field does not exist.
        """
        if isinstance(self.content, StructContent | EnumContent):
            return dict(self.content.fields)[field]
        raise KeyError(field)


class StructContent(Struct, frozen=True):
    """The names and values of a struct's fields, in order."""

    fields: tuple[tuple[str, MoveValue], ...]


class EnumContent(Struct, frozen=True):
    """The variant of an enum value, and the names and values of its fields in order."""

    variant: str
    fields: tuple[tuple[str, MoveValue], ...]


# --- JSON and text

_SMALL = frozenset({Primitive.U8, Primitive.U16, Primitive.U32})
# The field that the Move compiler adds to a struct without fields.
_NO_FIELDS = "dummy_field"
_SHORT_BELOW = Address.of(1 << 32)


def as_json(value: MoveValue) -> Any:
    """Convert a value to JSON in the format of `sui.rpc.v2`.

    Integers wider than u32 are strings, and `vector<u8>` is base64. An enum value has the name of
    its variant as `@variant`. A truncated vector is `{"first": [...], "omitted": number}`.
    """
    if not value.omitted:
        return _content_as_json(value)
    return {"first": _content_as_json(value), "omitted": value.omitted}


def _content_as_json(value: MoveValue) -> Any:
    content = value.content
    if isinstance(content, tuple):
        return [as_json(element) for element in content]
    if isinstance(content, MoveValue):
        return as_json(content)
    if isinstance(content, EnumContent):
        return {"@variant": content.variant, **_fields_as_json(content)}
    return _fields_as_json(content) if isinstance(content, StructContent) else _scalar(value)


def _scalar(value: MoveValue) -> Any:
    content = value.content
    if isinstance(content, bytes):
        return str(content) if isinstance(content, Address) else b64encode(content).decode()
    if type(content) is int and value.type not in _SMALL:
        return str(content)
    return content


def _fields_as_json(content: StructContent | EnumContent) -> dict[str, Any]:
    return {name: as_json(field) for name, field in content.fields}


def as_text(value: MoveValue) -> str:
    """Format a value for users, mostly in the syntax of Move code.

    Addresses are complete, except addresses of the framework. A struct starts with the name of its
    type, without package and module. A `TxContext` is shown only as its name.
    """
    content = value.content
    if isinstance(content, Address):
        return format_address(content)
    if isinstance(content, bytes):
        return _bytes_text(content) + (f" and {value.omitted} more" if value.omitted else "")
    if isinstance(content, tuple):
        more = [f"{value.omitted} more"] if value.omitted else []
        return f"[{', '.join([*map(as_text, content), *more])}]"
    if isinstance(content, StructContent):
        return "TxContext" if value.type == TX_CONTEXT else _struct_text(value.type, content)
    if isinstance(content, EnumContent):
        return f"{_name(value.type)}::{content.variant}{_fields_text(content)}"
    return _simple_text(content)


def _simple_text(content: Any) -> str:
    if isinstance(content, MoveValue):
        return f"some({as_text(content)})"
    if isinstance(content, str):
        return json.dumps(content, ensure_ascii=False)
    if content is None:
        return "none"
    return str(content).lower()  # a boolean or a number


def _bytes_text(content: bytes) -> str:
    printable = content.isascii() and content.decode("latin-1").isprintable()
    if not content or (printable and b'"' not in content and b"\\" not in content):
        return f'b"{content.decode()}"'
    return f'x"{content.hex()}"'


def _struct_text(type_: TypeTag, content: StructContent) -> str:
    return _name(type_) + (_fields_text(content) or " {}")


def _fields_text(content: StructContent | EnumContent) -> str:
    fields = [(name, as_text(field)) for name, field in content.fields if name != _NO_FIELDS]
    if not fields:
        return ""
    if fields[0][0] == "pos0":
        return f"({', '.join(text for _, text in fields)})"
    return f" {{{', '.join(f'{name}: {text}' for name, text in fields)}}}"


def _name(type_: TypeTag) -> str:
    """Format a type without packages and modules."""
    if isinstance(type_, VectorTag):
        return f"vector<{_name(type_.element)}>"
    if not isinstance(type_, StructTag):
        return str(type_)
    params = f"<{', '.join(map(_name, type_.type_params))}>" if type_.type_params else ""
    return f"{type_.name}{params}"


def type_text(type_: Type) -> str:
    """Format a type for users. Addresses are complete, except addresses of the framework."""
    if isinstance(type_, ReferenceType):
        return f"&{'mut ' if type_.mutable else ''}{type_text(type_.target)}"
    if isinstance(type_, VectorTag):
        return f"vector<{type_text(type_.element)}>"
    if not isinstance(type_, StructTag):
        return str(type_)
    params = f"<{', '.join(map(type_text, type_.type_params))}>" if type_.type_params else ""
    return f"{format_address(type_.address)}::{type_.module}::{type_.name}{params}"


def format_address(address: Address) -> str:
    """Format an address for users. A framework address is short, for example `0x2`."""
    return address.short() if address < _SHORT_BELOW else str(address)
