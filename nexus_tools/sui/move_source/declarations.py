"""The types of declarations in a Move source.

`doc` is the text of a declaration's doc comments, or empty. A `type` is the text of a type in the
source, without insignificant spaces. Tokens include their positions, so that a program can edit the
source.
"""

from collections.abc import Iterable

from msgspec import Struct

from nexus_tools.sui.move_source.tokens import Token


class Attribute(Struct, frozen=True):
    """An attribute `name` or `name(key = value, ...)`. The value of a key is optional.

    `tokens` are the attribute's own tokens. `group` is the start and end position of the enclosing
    `#[...]`.
    """

    name: str
    arguments: tuple[tuple[str, tuple[str, ...]], ...]
    tokens: tuple[Token, ...]
    group: tuple[int, int]

    def argument(self, key: str) -> tuple[str, ...] | None:
        """Return the value tokens of a key, or None if the attribute does not have the key."""
        return dict(self.arguments).get(key)


_NOT_PUBLISHED = frozenset({"test", "random_test", "test_only", "mode", "spec_only", "verify_only"})


def is_unpublished(attributes: Iterable[Attribute]) -> bool:
    """Return whether an item with these attributes is used only in tests or proofs."""
    return any(attribute.name in _NOT_PUBLISHED for attribute in attributes)


class SourceField(Struct, frozen=True):
    """A field. The name of a positional field is its index."""

    name: str
    type: str
    doc: str


class SourceStruct(Struct, frozen=True):
    """A struct."""

    name: str
    doc: str
    attributes: tuple[Attribute, ...]
    type_parameters: tuple[str, ...]
    abilities: tuple[str, ...]
    fields: tuple[SourceField, ...]
    is_public: bool


class SourceVariant(Struct, frozen=True):
    """A variant of an enum."""

    name: str
    doc: str
    fields: tuple[SourceField, ...]


class SourceEnum(Struct, frozen=True):
    """An enum."""

    name: str
    doc: str
    attributes: tuple[Attribute, ...]
    type_parameters: tuple[str, ...]
    variants: tuple[SourceVariant, ...]
    is_public: bool


class SourceConstant(Struct, frozen=True):
    """A constant. `value` contains the tokens of the constant's expression."""

    name: str
    doc: str
    attributes: tuple[Attribute, ...]
    type: str
    value: tuple[str, ...]


class SourceParameter(Struct, frozen=True):
    """A parameter of a function."""

    name: str
    type: str


class SourceFunction(Struct, frozen=True):
    """A function or a macro. `visibility` is empty, or text such as `public` or `public(package)`.

    `body` contains the tokens from `{` to `}`, and is empty for a native function. `name_token` is
    the token of the function's name. `entry_token` is the token `entry`, or None.
    """

    name: str
    doc: str
    attributes: tuple[Attribute, ...]
    visibility: str
    is_macro: bool
    type_parameters: tuple[str, ...]
    parameters: tuple[SourceParameter, ...]
    returns: str
    name_token: Token
    entry_token: Token | None
    body: tuple[Token, ...]


class SourceImport(Struct, frozen=True):
    """A `use` or `friend` declaration. `words` are the tokens between the keyword and the `;`."""

    keyword: str
    attributes: tuple[Attribute, ...]
    words: tuple[str, ...]


_Item = SourceStruct | SourceEnum | SourceConstant | SourceFunction | SourceImport


class SourceModule(Struct, frozen=True):
    """A module. `address` is a name, a number, or empty inside an `address` block."""

    address: str
    name: str
    doc: str
    attributes: tuple[Attribute, ...]
    structs: tuple[SourceStruct, ...]
    enums: tuple[SourceEnum, ...]
    constants: tuple[SourceConstant, ...]
    functions: tuple[SourceFunction, ...]
    imports: tuple[SourceImport, ...]

    @property
    def path(self) -> str:
        """The path `address::name`, or only the module's name if its address is empty."""
        return f"{self.address}::{self.name}" if self.address else self.name

    @property
    def all_attributes(self) -> tuple[Attribute, ...]:
        """The attributes of the module and of its items. Their order is not defined."""
        items: list[_Item] = [*self.structs, *self.enums, *self.constants]
        items += [*self.functions, *self.imports]
        return (*self.attributes, *(attribute for item in items for attribute in item.attributes))
