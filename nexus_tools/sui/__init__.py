"""What Sui is: addresses, types, transactions, effects, objects and their binary forms."""

from nexus_tools.sui.address import Address
from nexus_tools.sui.bcs import BcsError, Codec
from nexus_tools.sui.builder import TransactionBuilder
from nexus_tools.sui.digest import Digest
from nexus_tools.sui.effects import TransactionEffects
from nexus_tools.sui.event import Event
from nexus_tools.sui.object import Object
from nexus_tools.sui.signature import SignatureScheme, UserSignature
from nexus_tools.sui.transaction import TransactionData
from nexus_tools.sui.type_tag import StructTag, TypeTag, parse_type_tag

__all__ = [
    "Address",
    "BcsError",
    "Codec",
    "Digest",
    "Event",
    "Object",
    "SignatureScheme",
    "StructTag",
    "TransactionBuilder",
    "TransactionData",
    "TransactionEffects",
    "TypeTag",
    "UserSignature",
    "parse_type_tag",
]
