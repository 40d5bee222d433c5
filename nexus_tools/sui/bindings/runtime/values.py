"""The base classes of generated classes, and the framework values that all of them share."""

from typing import Any, ClassVar, Generic, TypeVar

from msgspec import Struct

from nexus_tools.sui.bcs import Codec, late, struct, u64
from nexus_tools.sui.bindings.runtime.package import Package
from nexus_tools.sui.types.address import ADDRESS, Address
from nexus_tools.sui.types.type_tag import StructTag, TypeTag, coin_tag

K = TypeVar("K")
V = TypeVar("V")


class MoveStruct(Struct, frozen=True):
    """A value of a Move struct. Its codec is `bcs`.

    For a generic struct, `bcs` builds the codec from the codecs of the type arguments at the
    indices `bcs_takes`. Phantom type arguments appear in no value.
    """

    move_name: ClassVar[str] = ""
    bcs_takes: ClassVar[tuple[int, ...]] = ()

    @classmethod
    def type_tag(cls, package: Package, *type_arguments: TypeTag) -> StructTag:
        """Return the struct's type in a published package."""
        return package.type_tag(cls.move_name, *type_arguments)


class MoveEnum:
    """A Move enum with the classes of its variants inside. `Variant` is their union.

    Its codec is `bcs`, as for a struct.
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

    `code` is the abort code. An error marked `#[error]` aborts with the index of its name among the
    constants of the bytecode, which is `constant`.
    """

    name: str
    sentence: str
    code: int | None = None
    constant: int | None = None

    def is_of(self, abort_code: int) -> bool:
        """Return whether an abort code is this error's code or its constant's index."""
        from nexus_tools.sui.bytecode import split_clever_code  # noqa: PLC0415 - only needed for this error

        clever = split_clever_code(abort_code)
        if clever is None:
            return abort_code == self.code
        if clever.code is not None and self.code is not None:
            return clever.code == self.code  # the same in all versions of a package
        return self.constant is not None and clever.name == self.constant


class Coin(Struct, frozen=True):
    """A `sui::coin::Coin`. The balance is in the smallest unit: MIST for SUI."""

    id: Address
    balance: int

    bcs = late(lambda: struct(Coin, ADDRESS, u64))

    @classmethod
    def type_tag(cls, coin_type: TypeTag) -> StructTag:
        """Return the type of this kind of coin."""
        return coin_tag(coin_type)


class Collection(Struct, frozen=True):
    """A table or a bag of the framework: its entries are dynamic fields of `id`."""

    id: Address
    size: int

    bcs = late(lambda: struct(Collection, ADDRESS, u64))


class Field(Struct, Generic[K, V], frozen=True):
    """A `sui::dynamic_field::Field`: the object that contains one entry of a collection.

    The value of a dynamic object field is the ID of the object.
    """

    id: Address
    name: K
    value: V

    @staticmethod
    def bcs(name: Codec[K], value: Codec[V]) -> "Codec[Field[K, V]]":
        """Return the codec of entries, from the codecs of their names and values."""
        codec: Codec[Any] = struct(Field, ADDRESS, name, value)
        return codec
