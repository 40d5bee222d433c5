"""The runtime of generated bindings. Bindings import only this package and the standard library.

`values.py` defines the base classes, `inputs.py` converts arguments, and `types.py` decodes values.
"""

from nexus_tools.sui.bindings.runtime.inputs import ObjectInput
from nexus_tools.sui.bindings.runtime.package import Package
from nexus_tools.sui.bindings.runtime.types import Decoder, Types
from nexus_tools.sui.bindings.runtime.values import (
    Coin,
    Collection,
    Field,
    MoveEnum,
    MoveError,
    MoveStruct,
    MoveVariant,
)
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.object import ObjectReference
from nexus_tools.sui.types.transaction import Argument, Result
from nexus_tools.sui.types.type_tag import Primitive, StructTag, TypeTag, VectorTag

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
