"""The procedures and message classes of the gRPC interface, which are created at run time."""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from google.protobuf import (
    any_pb2,
    duration_pb2,
    empty_pb2,
    field_mask_pb2,
    struct_pb2,
    timestamp_pb2,
)
from google.protobuf.descriptor import Descriptor
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from msgspec import Struct

from nexus_tools.sui.rpc.manual_definitions import (
    FORKING_FILE,
    HEALTH_FILE,
    REFLECTION_FILES,
    written_definitions,
)

Message = Any
"""A protobuf message.

The class of a message is created at run time, so type checkers do not know the fields.
"""

SUI_PACKAGE = "sui.rpc.v2"

SUI_FILE = "sui/rpc/v2.proto"
STATUS_FILE = "google/rpc/status.proto"
WELL_KNOWN = (any_pb2, duration_pb2, empty_pb2, field_mask_pb2, struct_pb2, timestamp_pb2)
"""The modules of the well-known protobuf files on which the other files depend."""

SHIPPED = (
    Path(__file__).with_name("status.binpb"),
    Path(__file__).with_name("sui_rpc_v2.binpb"),
)
"""The files with the descriptors of `STATUS_FILE` and `SUI_FILE`.

Each file contains a `FileDescriptorProto`. `scripts/pysui_definitions.py` writes these files,
because reading the descriptors from pysui's code at each start would take 15 ms.
"""


class Procedure(Struct, frozen=True):
    """A remote procedure.

    `path` is an HTTP/2 path such as `/sui.rpc.v2.LedgerService/GetObject`.
    """

    path: str
    streaming: bool
    _input: Descriptor
    _output: Descriptor

    @property
    def request(self) -> type[Message]:
        """The class of request messages, which is created at its first use."""
        return GetMessageClass(self._input)

    @property
    def response(self) -> type[Message]:
        """The class of response messages, or of the frames of a response stream."""
        return GetMessageClass(self._output)

    @property
    def service(self) -> str:
        """The full name of the procedure's service."""
        return self.path[1:].partition("/")[0]


class Messages(Struct, frozen=True):
    """The message classes and procedures of the interface."""

    pool: DescriptorPool
    procedures: Mapping[str, Procedure]
    services: frozenset[str]

    def descriptor(self, name: str) -> Descriptor:
        """Return the descriptor of the message with a full name such as `sui.rpc.v2.Object`."""
        return self.pool.FindMessageTypeByName(name)

    def message(self, name: str) -> type[Message]:
        """Return the class of the message with a full name such as `sui.rpc.v2.Object`."""
        return GetMessageClass(self.descriptor(name))


@cache
def load_messages() -> Messages:
    """Return the message classes and procedures. They are created once per process."""
    pool = DescriptorPool()
    for file in _definitions():
        pool.AddSerializedFile(file)
    procedures = {found.path: found for found in _procedures(pool)}
    services = frozenset(procedure.service for procedure in procedures.values())
    return Messages(pool, procedures, services)


def _definitions() -> Iterator[bytes]:
    """Yield the serialized descriptors of files.

    The files that a file depends on precede that file.
    """
    for module in WELL_KNOWN:
        yield module.DESCRIPTOR.serialized_pb
    for path in SHIPPED:
        yield path.read_bytes()
    for file in written_definitions():
        yield file.SerializeToString()


def _procedures(pool: DescriptorPool) -> Iterator[Procedure]:
    for file in (SUI_FILE, FORKING_FILE, HEALTH_FILE, *REFLECTION_FILES):
        for service in pool.FindFileByName(file).services_by_name.values():
            for method in service.methods:
                yield Procedure(
                    f"/{service.full_name}/{method.name}",
                    method.server_streaming,
                    method.input_type,
                    method.output_type,
                )
