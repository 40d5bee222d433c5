"""Type tags, which are the Move types in transactions and objects.

Source: `move-core-types/src/language_storage.rs`.
"""

from enum import StrEnum

from msgspec import Struct

from nexus_tools.sui.bcs import BcsError, Codec, read_uleb128, string
from nexus_tools.sui.errors import ValidationError
from nexus_tools.sui.support.uleb128 import write_uleb128
from nexus_tools.sui.types.address import ADDRESS, MOVE_STDLIB, SUI_FRAMEWORK, Address
from nexus_tools.sui.types.digest import dynamic_field_id

MAX_TYPE_TAG_DEPTH = 64


class Primitive(StrEnum):
    """A primitive Move type."""

    BOOL = "bool"
    U8 = "u8"
    U16 = "u16"
    U32 = "u32"
    U64 = "u64"
    U128 = "u128"
    U256 = "u256"
    ADDRESS = "address"
    SIGNER = "signer"

    # The default hash of an `Enum` is a Python function, which is slow for frequent look-ups.
    __hash__ = str.__hash__


class VectorTag(Struct, frozen=True):
    """A vector type."""

    element: "TypeTag"

    def __str__(self) -> str:
        return f"vector<{self.element}>"


Datatype = tuple[Address, str, str]
"""The package, module and name of a struct or an enum, without type arguments."""


class StructTag(Struct, frozen=True):
    """A struct or enum type. `address` is the ID of the package version that first defined it."""

    address: Address
    module: str
    name: str
    type_params: tuple["TypeTag", ...] = ()

    @property
    def datatype(self) -> Datatype:
        """The type without its type arguments."""
        return self.address, self.module, self.name

    def __str__(self) -> str:
        """Return the canonical text, with 64-digit addresses, and `, ` between type arguments."""
        params = f"<{', '.join(map(str, self.type_params))}>" if self.type_params else ""
        return f"{self.address}::{self.module}::{self.name}{params}"


TypeTag = Primitive | VectorTag | StructTag

# --- Well-known types

SUI = StructTag(SUI_FRAMEWORK, "sui", "SUI")
STRING = StructTag(MOVE_STDLIB, "string", "String")
ASCII_STRING = StructTag(MOVE_STDLIB, "ascii", "String")
TYPE_NAME = StructTag(MOVE_STDLIB, "type_name", "TypeName")
URL = StructTag(SUI_FRAMEWORK, "url", "Url")
OBJECT_ID = StructTag(SUI_FRAMEWORK, "object", "ID")
UID = StructTag(SUI_FRAMEWORK, "object", "UID")
TX_CONTEXT = StructTag(SUI_FRAMEWORK, "tx_context", "TxContext")
ACCUMULATOR_VALUE = StructTag(SUI_FRAMEWORK, "accumulator", "U128")

COIN: Datatype = (SUI_FRAMEWORK, "coin", "Coin")
BALANCE: Datatype = (SUI_FRAMEWORK, "balance", "Balance")
OPTION: Datatype = (MOVE_STDLIB, "option", "Option")
RECEIVING: Datatype = (SUI_FRAMEWORK, "transfer", "Receiving")
DYNAMIC_FIELD: Datatype = (SUI_FRAMEWORK, "dynamic_field", "Field")


def coin_tag(coin_type: TypeTag) -> StructTag:
    """Return the type of a coin, which is `0x2::coin::Coin<T>`."""
    return StructTag(*COIN, (coin_type,))


def balance_tag(coin_type: TypeTag) -> StructTag:
    """Return the type of a balance, which is `0x2::balance::Balance<T>`."""
    return StructTag(*BALANCE, (coin_type,))


def field_tag(name: TypeTag, value: TypeTag) -> StructTag:
    """Return the type of a dynamic field, which is `0x2::dynamic_field::Field<Name, Value>`."""
    return StructTag(*DYNAMIC_FIELD, (name, value))


def accumulator_key_tag(funds: TypeTag) -> StructTag:
    """Return the type of the key of the dynamic field that contains an address's funds."""
    return StructTag(SUI_FRAMEWORK, "accumulator", "Key", (funds,))


GAS_COIN = coin_tag(SUI)

# --- Binary form

_NUMBERS = (
    Primitive.BOOL,
    Primitive.U8,
    Primitive.U64,
    Primitive.U128,
    Primitive.ADDRESS,
    Primitive.SIGNER,
    None,
    None,
    Primitive.U16,
    Primitive.U32,
    Primitive.U256,
)
_NUMBER_OF = {tag: number for number, tag in enumerate(_NUMBERS) if tag is not None}
_VECTOR, _STRUCT = 6, 7


def _read(data: bytes, position: int, depth: int = 0) -> tuple[TypeTag, int]:
    number, position = read_uleb128(data, position)
    if depth > MAX_TYPE_TAG_DEPTH:
        raise BcsError(f"a type is nested more than {MAX_TYPE_TAG_DEPTH} levels deep")
    if number == _VECTOR:
        element, position = _read(data, position, depth + 1)
        return VectorTag(element), position
    if number == _STRUCT:
        return _read_struct(data, position, depth)
    primitive = _NUMBERS[number] if number < len(_NUMBERS) else None
    if primitive is None:
        raise BcsError(f"TypeTag has no variant {number}")
    return primitive, position


def _read_struct(data: bytes, position: int, depth: int = 0) -> tuple[StructTag, int]:
    address, position = ADDRESS.read(data, position)
    module, position = string.read(data, position)
    name, position = string.read(data, position)
    count, position = read_uleb128(data, position)
    params: list[TypeTag] = []
    for _ in range(count):
        param, position = _read(data, position, depth + 1)
        params.append(param)
    return StructTag(address, module, name, tuple(params)), position


def _write(tag: TypeTag, out: bytearray) -> None:
    if isinstance(tag, StructTag):
        out.append(_STRUCT)
        _write_struct(tag, out)
    elif isinstance(tag, VectorTag):
        out.append(_VECTOR)
        _write(tag.element, out)
    else:
        out.append(_NUMBER_OF[tag])


def _write_struct(tag: StructTag, out: bytearray) -> None:
    out.extend(tag.address)
    string.write(tag.module, out)
    string.write(tag.name, out)
    write_uleb128(len(tag.type_params), out)
    for param in tag.type_params:
        _write(param, out)


TYPE_TAG: Codec[TypeTag] = Codec(_read, _write)
STRUCT_TAG: Codec[StructTag] = Codec(_read_struct, _write_struct)


# --- Text


def short_name(tag: TypeTag) -> str:
    """Return the text of a type with short addresses, such as `0x2::sui::SUI`."""
    if isinstance(tag, VectorTag):
        return f"vector<{short_name(tag.element)}>"
    if isinstance(tag, Primitive):
        return str(tag)
    params = f"<{', '.join(map(short_name, tag.type_params))}>" if tag.type_params else ""
    return f"{tag.address.short()}::{tag.module}::{tag.name}{params}"


def parse_type_tag(text: str) -> TypeTag:
    """Parse a type such as `0x2::coin::Coin<0x2::sui::SUI>` or `vector<u8>`.

    Raises `type_invalid`.
    """
    tag, remainder = _parse(text.replace(" ", ""), text, 0)
    if remainder:
        raise _not_a_type(text)
    return tag


def parse_struct_tag(text: str) -> StructTag:
    """Parse the type of a struct or an enum. Raises `type_invalid`."""
    tag = parse_type_tag(text)
    if not isinstance(tag, StructTag):
        raise _not_a_type(text)
    return tag


def _parse(rest: str, text: str, depth: int) -> tuple[TypeTag, str]:
    end = next((i for i, sign in enumerate(rest) if sign in "<>,"), len(rest))
    word, rest = rest[:end], rest[end:]
    params: list[TypeTag] = []
    if rest.startswith("<"):
        params, rest = _parse_params(rest, text, depth)
    if word == "vector" and len(params) == 1:
        return VectorTag(params[0]), rest
    if word in Primitive._value2member_map_ and not params:
        return Primitive(word), rest
    return _struct_tag(word, tuple(params), text), rest


def _parse_params(rest: str, text: str, depth: int) -> tuple[list[TypeTag], str]:
    if depth > MAX_TYPE_TAG_DEPTH:
        raise _not_a_type(text)
    params: list[TypeTag] = []
    while True:
        param, rest = _parse(rest[1:], text, depth + 1)
        params.append(param)
        if rest.startswith(">"):
            return params, rest[1:]
        if not rest.startswith(","):
            raise _not_a_type(text)


def _struct_tag(word: str, params: tuple[TypeTag, ...], text: str) -> StructTag:
    parts = word.split("::")
    if len(parts) != 3 or not all(part.isascii() and part.isidentifier() for part in parts[1:]):
        raise _not_a_type(text)
    return StructTag(Address.parse(parts[0]), parts[1], parts[2], params)


def _not_a_type(text: str) -> ValidationError:
    return ValidationError(
        "type_invalid",
        f"{text[:120]!r} is not a valid Move type",
        hint="Use a type such as 0x2::coin::Coin<0x2::sui::SUI>, vector<u8> or u64.",
    )


# --- IDs


def derived_object_id(parent: Address, key_type: TypeTag, key: bytes) -> Address:
    """Return the object ID that `sui::derived_object` derives from a parent and a key.

    `key` are the BCS bytes of the key. Source: `sui-types/src/derived_object.rs`.
    """
    wrapped = StructTag(SUI_FRAMEWORK, "derived_object", "DerivedObjectKey", (key_type,))
    return dynamic_field_id(parent, TYPE_TAG.encode(wrapped), key)
