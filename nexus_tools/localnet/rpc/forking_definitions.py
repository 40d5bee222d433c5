"""The service that moves the clock: `sui.forking.v1alpha.ForkingService`.

It is the administrative service of `sui-forking`, the local network of Sui's own tools, and its
messages have the same fields, so that the same clients work.
"""

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)

FORKING_PACKAGE = "sui.forking.v1alpha"
FORKING_FILE = "sui/forking/v1alpha.proto"

# Fields are numbered in order; all are u64, but for the digest.
_MESSAGES: dict[str, tuple[str, ...]] = {
    "AdvanceClockRequest": ("duration_ms",),
    "AdvanceClockResponse": ("timestamp_ms", "tx_digest"),
    "AdvanceCheckpointRequest": (),
    "AdvanceCheckpointResponse": ("checkpoint_sequence_number", "timestamp_ms"),
    "GetStatusRequest": (),
    "GetStatusResponse": (
        "epoch",
        "checkpoint_sequence_number",
        "timestamp_ms",
        "forked_at_checkpoint",
    ),
}
_PROCEDURES = ("AdvanceClock", "AdvanceCheckpoint", "GetStatus")


def forking_definitions() -> FileDescriptorProto:
    """The descriptor of the service and its messages."""
    file = FileDescriptorProto(name=FORKING_FILE, package=FORKING_PACKAGE, syntax="proto3")
    for name, fields in _MESSAGES.items():
        _add_message(file.message_type.add(name=name), fields)
    service = file.service.add(name="ForkingService")
    for name in _PROCEDURES:
        service.method.add(
            name=name,
            input_type=f".{FORKING_PACKAGE}.{name}Request",
            output_type=f".{FORKING_PACKAGE}.{name}Response",
        )
    return file


def _add_message(message: DescriptorProto, fields: tuple[str, ...]) -> None:
    for number, name in enumerate(fields, 1):
        is_text = name == "tx_digest"
        field = message.field.add(
            name=name,
            number=number,
            label=FieldDescriptorProto.LABEL_OPTIONAL,
            type=FieldDescriptorProto.TYPE_STRING if is_text else FieldDescriptorProto.TYPE_UINT64,
        )
        if name == "duration_ms":  # the one field whose absence means something: 1 ms
            field.proto3_optional = True
            field.oneof_index = 0
            message.oneof_decl.add(name=f"_{name}")
