"""The base classes of generated classes, and the classes of common framework types."""

from typing import Any, ClassVar, Generic, TypeVar

from msgspec import Struct

from nexus_tools.sui.bcs import Codec, late, struct, u64
from nexus_tools.sui.bindings.runtime.package import Package
from nexus_tools.sui.types.address import ADDRESS, Address
from nexus_tools.sui.types.type_tag import StructTag, TypeTag, coin_tag

K = TypeVar("K")
V = TypeVar("V")


class MoveStruct(Struct, frozen=True):
    """A value of a Move struct. The codec of the struct is `bcs`.

    For a generic struct, `bcs` is a function that returns the codec. The function's arguments are
    the codecs of the type arguments at the indices in `bcs_takes`. Phantom type arguments do not
    have a codec.
    """

    move_name: ClassVar[str] = ""
    bcs_takes: ClassVar[tuple[int, ...]] = ()

    @classmethod
    def type_tag(cls, package: Package, *type_arguments: TypeTag) -> StructTag:
        """Return the struct's type in a published package."""
        return package.type_tag(cls.move_name, *type_arguments)


class MoveEnum:
    """A Move enum. The class contains a class for each variant. `Variant` is the variants' union.

    The codec of the enum is `bcs`, as for a `MoveStruct`.
    """

    move_name: ClassVar[str] = ""
    bcs_takes: ClassVar[tuple[int, ...]] = ()

    @classmethod
    def type_tag(cls, package: Package, *type_arguments: TypeTag) -> StructTag:
        """Return the enum's type in a published package."""
        return package.type_tag(cls.move_name, *type_arguments)


class MoveVariant(Struct, frozen=True):
    """A value of one variant of a Move enum."""


class MoveError(Struct, frozen=True):
    """A reason why a module aborts.

    `code` is the abort code. If an error is marked `#[error]`, its abort code contains `constant`,
    the index of the bytecode constant with the error's name.
    """

    name: str
    sentence: str
    code: int | None = None
    constant: int | None = None

    def is_of(self, abort_code: int) -> bool:
        """Return whether an abort code belongs to this error."""
        from nexus_tools.sui.bytecode import split_clever_code  # noqa: PLC0415 - only needed for this error

        clever = split_clever_code(abort_code)
        if clever is None:
            return abort_code == self.code
        if clever.code is not None and self.code is not None:
            return clever.code == self.code  # a code stays the same when a package is upgraded
        return self.constant is not None and clever.name == self.constant


class Coin(Struct, frozen=True):
    """A `sui::coin::Coin`. The balance is in the smallest unit: MIST for SUI."""

    id: Address
    balance: int

    bcs = late(lambda: struct(Coin, ADDRESS, u64))

    @classmethod
    def type_tag(cls, coin_type: TypeTag) -> StructTag:
        """Return the type of a coin with the currency `coin_type`."""
        return coin_tag(coin_type)


class Collection(Struct, frozen=True):
    """A table or a bag of the framework. The entries are dynamic fields of the object `id`."""

    id: Address
    size: int

    bcs = late(lambda: struct(Collection, ADDRESS, u64))


class Field(Struct, Generic[K, V], frozen=True):
    """A `sui::dynamic_field::Field`: the object that contains one entry of a collection.

    For a dynamic object field, `value` is the ID of the object in the field.
    """

    id: Address
    name: K
    value: V

    @staticmethod
    def bcs(name: Codec[K], value: Codec[V]) -> "Codec[Field[K, V]]":
        """Return the codec of a field, given the codecs of the field's name and value."""
        codec: Codec[Any] = struct(Field, ADDRESS, name, value)
        return codec
