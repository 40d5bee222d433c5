"""What a Move source declares. `doc` is the text of the comments that document it, or empty.

Types are text as it stands in the source, without spaces that mean nothing. Tokens are those of the
source, so that whoever rewrites it finds their places.
"""

from collections.abc import Iterable

from msgspec import Struct

from nexus_tools.sui.move_source.tokens import Token


class Attribute(Struct, frozen=True):
    """`name`, or `name(key = value, ...)`; values are tokens, and a bare key has none.

    `tokens` are its own, `group` the place of the `#[...]` around it.
    """

    name: str
    arguments: tuple[tuple[str, tuple[str, ...]], ...]
    tokens: tuple[Token, ...]
    group: tuple[int, int]

    def argument(self, key: str) -> tuple[str, ...] | None:
        """The value of a key, empty for a bare one."""
        return dict(self.arguments).get(key)


_NOT_PUBLISHED = frozenset({"test", "random_test", "test_only", "mode", "spec_only", "verify_only"})


def is_unpublished(attributes: Iterable[Attribute]) -> bool:
    """Whether what has these attributes is for tests or proofs alone, and never published."""
    return any(attribute.name in _NOT_PUBLISHED for attribute in attributes)


class SourceField(Struct, frozen=True):
    """A field; the name of one without is its number."""

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
    """A constant; its value is an expression."""

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
    """A function or a macro; `visibility` is `public`, `public(package)` or so, or empty.

    `body` are the tokens from its `{` to its `}`, none if it is native. Its line is that of
    `name_token`; `entry_token` is the word `entry`, if it has it.
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
    """A module; `address` is a name or a number, empty where an `address` block has it."""

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
        """`address::name`."""
        return f"{self.address}::{self.name}" if self.address else self.name

    @property
    def all_attributes(self) -> tuple[Attribute, ...]:
        """Its own attributes and those of its items, in no order."""
        items: list[_Item] = [*self.structs, *self.enums, *self.constants]
        items += [*self.functions, *self.imports]
        return (*self.attributes, *(each for item in items for each in item.attributes))
