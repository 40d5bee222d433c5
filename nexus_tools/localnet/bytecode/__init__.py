"""Module file format -> `CompiledModule`."""

from nexus_tools.localnet.bytecode.deserializer import (
    declared_types,
    deserialize,
    deserialize_at,
    deserialize_published,
)
from nexus_tools.localnet.bytecode.digest import package_digest
from nexus_tools.localnet.bytecode.malformed import MalformedModule
from nexus_tools.localnet.bytecode.module import CompiledModule
from nexus_tools.localnet.bytecode.opcode import Opcode
from nexus_tools.localnet.bytecode.publishable import UnpublishableModule, check_publishable
from nexus_tools.localnet.bytecode.relocate import AlreadyPublished, relocate, relocate_module
from nexus_tools.localnet.bytecode.serializer import serialize

__all__ = [
    "AlreadyPublished",
    "CompiledModule",
    "MalformedModule",
    "Opcode",
    "UnpublishableModule",
    "check_publishable",
    "declared_types",
    "deserialize",
    "deserialize_at",
    "deserialize_published",
    "package_digest",
    "relocate",
    "relocate_module",
    "serialize",
]
