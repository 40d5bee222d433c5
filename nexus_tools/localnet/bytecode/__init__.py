"""Module file format -> `CompiledModule`."""

from nexus_tools.localnet.bytecode.deserializer import (
    Outline,
    deserialize,
    deserialize_at,
    read_outline,
)
from nexus_tools.localnet.bytecode.digest import package_digest
from nexus_tools.localnet.bytecode.malformed import MalformedModule
from nexus_tools.localnet.bytecode.module import CompiledModule
from nexus_tools.localnet.bytecode.opcode import Opcode
from nexus_tools.localnet.bytecode.publishable import UnpublishableModule, check_publishable
from nexus_tools.localnet.bytecode.relocate import AlreadyPublished, relocate, relocate_module

__all__ = [
    "AlreadyPublished",
    "CompiledModule",
    "MalformedModule",
    "Opcode",
    "Outline",
    "UnpublishableModule",
    "check_publishable",
    "deserialize",
    "deserialize_at",
    "package_digest",
    "read_outline",
    "relocate",
    "relocate_module",
]
