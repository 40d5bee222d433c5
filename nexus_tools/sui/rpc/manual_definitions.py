"""The gRPC definitions that pysui lacks: clock control, health, reflection and error details.

Sources: `grpc/health/v1/health.proto`, `grpc/reflection/v1/reflection.proto` and its `v1alpha`
(github.com/grpc/grpc-proto), `google/rpc/error_details.proto` (github.com/googleapis/googleapis).
`sui.forking.v1alpha.ForkingService` is the administrative service of `sui-forking`, a local network
in Sui's own tools. Clients of `sui-forking` also work with a localnet because the messages are the
same.
"""

from collections.abc import Mapping

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)

FORKING_PACKAGE = "sui.forking.v1alpha"
HEALTH_PACKAGE = "grpc.health.v1"
REFLECTION_PACKAGES = ("grpc.reflection.v1", "grpc.reflection.v1alpha")
FORKING_FILE = "sui/forking/v1alpha.proto"
HEALTH_FILE = "grpc/health/v1/health.proto"
REFLECTION_FILES = tuple(
    f"{package.replace('.', '/')}/reflection.proto" for package in REFLECTION_PACKAGES
)

# The keys are field names. A field is written as `number type`, `number repeated type` or `number
# optional type`. A leading `|` adds the field to the message's oneof. A type that is not a scalar
# type is the name of a message in the same package.
_Fields = Mapping[str, str]

_HEALTH: dict[str, _Fields] = {
    "HealthCheckRequest": {"service": "1 string"},
    "HealthCheckResponse": {"status": "1 ServingStatus"},
}
_STATUSES = ("UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN")
_REFLECTION: dict[str, _Fields] = {
    "ServerReflectionRequest": {
        "host": "1 string",
        "file_by_filename": "| 3 string",
        "file_containing_symbol": "| 4 string",
        "file_containing_extension": "| 5 ExtensionRequest",
        "all_extension_numbers_of_type": "| 6 string",
        "list_services": "| 7 string",
    },
    "ExtensionRequest": {"containing_type": "1 string", "extension_number": "2 int32"},
    "ServerReflectionResponse": {
        "valid_host": "1 string",
        "original_request": "2 ServerReflectionRequest",
        "file_descriptor_response": "| 4 FileDescriptorResponse",
        "all_extension_numbers_response": "| 5 ExtensionNumberResponse",
        "list_services_response": "| 6 ListServiceResponse",
        "error_response": "| 7 ErrorResponse",
    },
    "FileDescriptorResponse": {"file_descriptor_proto": "1 repeated bytes"},
    "ExtensionNumberResponse": {
        "base_type_name": "1 string",
        "extension_number": "2 repeated int32",
    },
    "ListServiceResponse": {"service": "1 repeated ServiceResponse"},
    "ServiceResponse": {"name": "1 string"},
    "ErrorResponse": {"error_code": "1 int32", "error_message": "2 string"},
}
_ONEOFS = {
    "ServerReflectionRequest": "message_request",
    "ServerReflectionResponse": "message_response",
}
_FORKING: dict[str, _Fields] = {
    "AdvanceClockRequest": {"duration_ms": "1 optional uint64"},
    "AdvanceClockResponse": {"timestamp_ms": "1 uint64", "tx_digest": "2 string"},
    "AdvanceCheckpointRequest": {},
    "AdvanceCheckpointResponse": {
        "checkpoint_sequence_number": "1 uint64",
        "timestamp_ms": "2 uint64",
    },
    "GetStatusRequest": {},
    "GetStatusResponse": {
        "epoch": "1 uint64",
        "checkpoint_sequence_number": "2 uint64",
        "timestamp_ms": "3 uint64",
        "forked_at_checkpoint": "4 uint64",
    },
}
_SCALARS = {
    "string": FieldDescriptorProto.TYPE_STRING,
    "bytes": FieldDescriptorProto.TYPE_BYTES,
    "int32": FieldDescriptorProto.TYPE_INT32,
    "uint64": FieldDescriptorProto.TYPE_UINT64,
}


def written_definitions() -> list[FileDescriptorProto]:
    """Return the descriptors of the services in this module, and of `google.rpc.BadRequest`."""
    reflection = zip(REFLECTION_FILES, REFLECTION_PACKAGES, strict=True)
    return [
        _forking(),
        _health(),
        *(_reflection(name, package) for name, package in reflection),
        _details(),
    ]


def _forking() -> FileDescriptorProto:
    file = FileDescriptorProto(name=FORKING_FILE, package=FORKING_PACKAGE, syntax="proto3")
    for name, fields in _FORKING.items():
        _add_message(file.message_type.add(name=name), fields, f".{FORKING_PACKAGE}")
    service = file.service.add(name="ForkingService")
    for name in ("AdvanceClock", "AdvanceCheckpoint", "GetStatus"):
        service.method.add(
            name=name,
            input_type=f".{FORKING_PACKAGE}.{name}Request",
            output_type=f".{FORKING_PACKAGE}.{name}Response",
        )
    return file


def _health() -> FileDescriptorProto:
    file = FileDescriptorProto(name=HEALTH_FILE, package=HEALTH_PACKAGE, syntax="proto3")
    for name, fields in _HEALTH.items():
        _add_message(file.message_type.add(name=name), fields, f".{HEALTH_PACKAGE}")
    response = file.message_type[1]
    response.field[0].type = FieldDescriptorProto.TYPE_ENUM
    response.field[0].type_name = f".{HEALTH_PACKAGE}.HealthCheckResponse.ServingStatus"
    statuses = response.enum_type.add(name="ServingStatus")
    for number, status in enumerate(_STATUSES):
        statuses.value.add(name=status, number=number)
    service = file.service.add(name="Health")
    for name in ("Check", "Watch"):
        service.method.add(
            name=name,
            input_type=f".{HEALTH_PACKAGE}.HealthCheckRequest",
            output_type=f".{HEALTH_PACKAGE}.HealthCheckResponse",
            server_streaming=name == "Watch",
        )
    return file


def _reflection(name: str, package: str) -> FileDescriptorProto:
    file = FileDescriptorProto(name=name, package=package, syntax="proto3")
    for message, fields in _REFLECTION.items():
        _add_message(file.message_type.add(name=message), fields, f".{package}")
    file.service.add(name="ServerReflection").method.add(
        name="ServerReflectionInfo",
        input_type=f".{package}.ServerReflectionRequest",
        output_type=f".{package}.ServerReflectionResponse",
        client_streaming=True,
        server_streaming=True,
    )
    return file


def _details() -> FileDescriptorProto:
    file = FileDescriptorProto(
        name="google/rpc/error_details.proto", package="google.rpc", syntax="proto3"
    )
    message = file.message_type.add(name="BadRequest")
    violation = {"field": "1 string", "description": "2 string", "reason": "3 string"}
    _add_message(message.nested_type.add(name="FieldViolation"), violation, "")
    fields = {"field_violations": "1 repeated FieldViolation"}
    _add_message(message, fields, ".google.rpc.BadRequest")
    return file


def _add_message(message: DescriptorProto, fields: _Fields, package: str) -> None:
    for name, text in fields.items():
        *options, type_name = text.split()
        number = next(option for option in options if option.isdecimal())
        field = message.field.add(
            name=name,
            number=int(number),
            label=FieldDescriptorProto.LABEL_REPEATED
            if "repeated" in options
            else FieldDescriptorProto.LABEL_OPTIONAL,
            type=_SCALARS.get(type_name, FieldDescriptorProto.TYPE_MESSAGE),
        )
        if type_name not in _SCALARS:
            field.type_name = f"{package}.{type_name}"
        if "|" in options:
            if not message.oneof_decl:
                message.oneof_decl.add(name=_ONEOFS[message.name])
            field.oneof_index = 0
        elif "optional" in options:
            field.proto3_optional = True
            field.oneof_index = len(message.oneof_decl)
            message.oneof_decl.add(name=f"_{name}")
