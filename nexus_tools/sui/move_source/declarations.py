"""The declarations in a Move source. `doc` is the text of the documentation comments, or empty.

Types are text from the source, without insignificant spaces. Tokens belong to the source, so that
code that rewrites it finds their positions.
"""

from collections.abc import Iterable

from msgspec import Struct

from nexus_tools.sui.move_source.tokens import Token


class Attribute(Struct, frozen=True):
    """An attribute `name` or `name(key = value, ...)`. Values are tokens, empty for a bare key.

    `tokens` are its own tokens, and `group` is the position of the surrounding `#[...]`.
    """

    name: str
    arguments: tuple[tuple[str, tuple[str, ...]], ...]
    tokens: tuple[Token, ...]
    group: tuple[int, int]

    def argument(self, key: str) -> tuple[str, ...] | None:
        """Return the value of a key, which is empty for a bare key, or None."""
        return dict(self.arguments).get(key)


_NOT_PUBLISHED = frozenset({"test", "random_test", "test_only", "mode", "spec_only", "verify_only"})


def is_unpublished(attributes: Iterable[Attribute]) -> bool:
    """Return whether an item with these attributes is only for tests or proofs."""
    return any(attribute.name in _NOT_PUBLISHED for attribute in attributes)


class SourceField(Struct, frozen=True):
    """A field. A positional one has its number as its name."""

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
    """A constant, whose value is an expression."""

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
    """A function or a macro. `visibility` is, for example, `public` or `public(package)`, or empty.

    `body` has the tokens from its `{` to its `}`, and is empty if it is native. Its line is that of
    `name_token`. `entry_token` is the word `entry`, or None.
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
    """A `use` or a `friend` with its words, without the `;`."""

    keyword: str
    attributes: tuple[Attribute, ...]
    words: tuple[str, ...]


_Item = SourceStruct | SourceEnum | SourceConstant | SourceFunction | SourceImport


class SourceModule(Struct, frozen=True):
    """A module. `address` is a name or a number, and is empty inside an `address` block."""

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
        """The path `address::name`."""
        return f"{self.address}::{self.name}" if self.address else self.name

    @property
    def all_attributes(self) -> tuple[Attribute, ...]:
        """The attributes of the module and of its items, in no particular order."""
        items: list[_Item] = [*self.structs, *self.enums, *self.constants]
        items += [*self.functions, *self.imports]
        return (*self.attributes, *(attribute for item in items for attribute in item.attributes))
