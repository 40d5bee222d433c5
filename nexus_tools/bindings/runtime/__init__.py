"""What generated bindings are made of: they import nothing else."""

from nexus_tools.bindings.runtime.inputs import ObjectInput
from nexus_tools.bindings.runtime.package import Package
from nexus_tools.bindings.runtime.types import Decoder, Types
from nexus_tools.bindings.runtime.values import (
    Coin,
    Collection,
    Field,
    MoveEnum,
    MoveError,
    MoveStruct,
    MoveVariant,
)
from nexus_tools.sui.address import Address
from nexus_tools.sui.builder import TransactionBuilder
from nexus_tools.sui.object import ObjectReference
from nexus_tools.sui.transaction import Argument, Result
from nexus_tools.sui.type_tag import Primitive, StructTag, TypeTag, VectorTag

__all__ = [
    "Address",
    "Argument",
    "Coin",
    "Collection",
    "Decoder",
    "Field",
    "MoveEnum",
    "MoveError",
    "MoveStruct",
    "MoveVariant",
    "ObjectInput",
    "ObjectReference",
    "Package",
    "Primitive",
    "Result",
    "StructTag",
    "TransactionBuilder",
    "TypeTag",
    "Types",
    "VectorTag",
]
