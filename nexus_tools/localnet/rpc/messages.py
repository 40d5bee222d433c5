"""The message classes of the interface, made at run time, and the procedures that use them."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from google.protobuf.descriptor import Descriptor
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

from nexus_tools.dataclass import dataclass
from nexus_tools.localnet.rpc.forking_definitions import FORKING_FILE, forking_definitions
from nexus_tools.localnet.rpc.standard_definitions import (
    HEALTH_FILE,
    REFLECTION_FILES,
    standard_definitions,
)
from nexus_tools.localnet.rpc.sui_definitions import SUI_FILE, load_definitions

Message = Any
"""A protobuf message. Its class is made at run time, so the type checker knows no fields."""


@dataclass(frozen=True, slots=True)
class Procedure:
    """One remote procedure. `path` is as in HTTP/2: `/sui.rpc.v2.LedgerService/GetObject`."""

    path: str
    request: type[Message]
    response: type[Message]
    streaming: bool

    @property
    def service(self) -> str:
        """The full name of the service that it belongs to."""
        return self.path[1:].partition("/")[0]


@dataclass(frozen=True, slots=True)
class Messages:
    """All message classes of the interface."""

    pool: DescriptorPool
    procedures: Mapping[str, Procedure]
    services: frozenset[str]

    def descriptor(self, name: str) -> Descriptor:
        """The descriptor of a message, by its full name."""
        return self.pool.FindMessageTypeByName(name)

    def message(self, name: str) -> type[Message]:
        """The class of a message, by its full name such as `sui.rpc.v2.Object`."""
        return GetMessageClass(self.descriptor(name))


def load_messages(cache: Path | None = None) -> Messages:
    """Make the message classes.

    With a folder as `cache`, the definitions of Sui's interface are kept there for the next time.
    """
    definitions = load_definitions(cache)
    pool = DescriptorPool()
    for file in (*definitions.file, forking_definitions(), *standard_definitions()):
        pool.AddSerializedFile(file.SerializeToString())
    procedures = {found.path: found for found in _procedures(pool)}
    services = frozenset(each.service for each in procedures.values())
    return Messages(pool, procedures, services)


def _procedures(pool: DescriptorPool) -> Iterator[Procedure]:
    for file in (SUI_FILE, FORKING_FILE, HEALTH_FILE, *REFLECTION_FILES):
        for service in pool.FindFileByName(file).services_by_name.values():
            for method in service.methods:
                yield Procedure(
                    f"/{service.full_name}/{method.name}",
                    GetMessageClass(method.input_type),
                    GetMessageClass(method.output_type),
                    method.server_streaming,
                )
