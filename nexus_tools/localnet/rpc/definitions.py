"""Where the messages of Sui's gRPC interface come from: the code that pysui generated from them.

No package on PyPI carries Sui's `.proto` files, but pysui carries Python generated from all of
them, and its source says everything a descriptor needs. It is read as text: importing pysui takes
half a second, and its message classes are hundreds of times slower than protobuf's own.
"""

import ast
from collections.abc import Iterator

from google.protobuf import (
    any_pb2,
    duration_pb2,
    empty_pb2,
    field_mask_pb2,
    struct_pb2,
    timestamp_pb2,
)
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
)

from nexus_tools.localnet.rpc.sui_definitions import SUI_FILE, SUI_PACKAGE, generated_code

STATUS_FILE = "google/rpc/status.proto"

_WELL_KNOWN = (any_pb2, duration_pb2, empty_pb2, field_mask_pb2, struct_pb2, timestamp_pb2)
_CLASSES_IN_PYTHON = {"datetime.datetime": "Timestamp", "datetime.timedelta": "Duration"}
_UNARY, _STREAMING = "_unary_unary", "_unary_stream"


def read_definitions() -> FileDescriptorSet:
    """Descriptors of `sui.rpc.v2`, `google.rpc.Status` and protobuf's well-known types."""
    definitions = FileDescriptorSet()
    for module in _WELL_KNOWN:
        module.DESCRIPTOR.CopyToProto(definitions.file.add())
    depends = [file.name for file in definitions.file]
    definitions.file.append(_read_file("google/rpc", "google.rpc", STATUS_FILE, depends))
    depends.append(STATUS_FILE)
    definitions.file.append(_read_file("sui/rpc/v2", SUI_PACKAGE, SUI_FILE, depends))
    return definitions


def _read_file(folder: str, package: str, name: str, depends: list[str]) -> FileDescriptorProto:
    source = generated_code(folder).read_text(encoding="utf-8")
    file = FileDescriptorProto(name=name, package=package, syntax="proto3", dependency=depends)
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef) and node.bases:
            _read_class(file, node, ast.unparse(node.bases[0]).rpartition(".")[2])
    return file


def _read_class(file: FileDescriptorProto, node: ast.ClassDef, base: str) -> None:
    if base == "Enum":
        _read_enum(file, node)
    elif base == "Message":
        _read_message(file.message_type.add(name=node.name), node, file.package)
    elif base == "ServiceStub":
        _read_service(file, node)


def _read_enum(file: FileDescriptorProto, node: ast.ClassDef) -> None:
    """Names of values are unique in a whole package, so each gets its enum's name in front."""
    enum = file.enum_type.add(name=node.name)
    for line in node.body:
        if isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Name):
            name = f"{node.name}_{line.targets[0].id}"
            enum.value.add(name=name, number=ast.literal_eval(line.value))


def _read_message(message: DescriptorProto, node: ast.ClassDef, package: str) -> None:
    optional = []
    for line in node.body:
        if not (isinstance(line, ast.AnnAssign) and isinstance(line.value, ast.Call)):
            continue
        options = {str(word.arg): word.value for word in line.value.keywords}
        field = _read_field(message, line, options, package)
        if "group" in options:
            field.oneof_index = _oneof(message, ast.literal_eval(options["group"]))
        elif "optional" in options and field.type != FieldDescriptorProto.TYPE_MESSAGE:
            optional.append(field)
    for field in optional:  # an optional field is alone in a oneof of its own, after the others
        field.proto3_optional = True
        field.oneof_index = _oneof(message, f"_{field.name}")


def _read_field(
    message: DescriptorProto, line: ast.AnnAssign, options: dict[str, ast.expr], package: str
) -> FieldDescriptorProto:
    assert isinstance(line.target, ast.Name)
    assert isinstance(line.value, ast.Call)
    number, type_name = line.value.args
    many = "repeated" in options or "map_meta" in options
    field = message.field.add(
        name=line.target.id.rstrip("_"),
        number=ast.literal_eval(number),
        label=FieldDescriptorProto.LABEL_REPEATED if many else FieldDescriptorProto.LABEL_OPTIONAL,
    )
    python_type = ast.literal_eval(line.annotation)
    if "map_meta" in options:
        entry = _add_map_entry(message, field, options["map_meta"], python_type, package)
        field.type = FieldDescriptorProto.TYPE_MESSAGE
        field.type_name = f".{package}.{message.name}.{entry}"
    else:
        _set_type(field, type_name, python_type, package)
    return field


def _set_type(
    field: FieldDescriptorProto, type_name: ast.expr, python_type: str, package: str
) -> None:
    field.type = FieldDescriptorProto.Type.Value(ast.unparse(type_name).rpartition(".")[2])
    if field.type in (FieldDescriptorProto.TYPE_MESSAGE, FieldDescriptorProto.TYPE_ENUM):
        field.type_name = _qualified(python_type, package)


def _add_map_entry(
    message: DescriptorProto,
    field: FieldDescriptorProto,
    meta: ast.expr,
    python_type: str,
    package: str,
) -> str:
    """A map is a list of entries of a nested type, with the fields `key` and `value`."""
    assert isinstance(meta, ast.Call)
    entry = message.nested_type.add(name=f"{field.name.title().replace('_', '')}Entry")
    entry.options.map_entry = True
    for number, (name, type_name) in enumerate(zip(("key", "value"), meta.args, strict=True), 1):
        part = entry.field.add(name=name, number=number, label=FieldDescriptorProto.LABEL_OPTIONAL)
        _set_type(part, type_name, python_type, package)
    return entry.name


def _qualified(python_type: str, package: str) -> str:
    """The protobuf name of a type that an annotation writes as `list[Owner]` or `Owner | None`."""
    name = python_type.removesuffix(" | None")
    if name.endswith("]"):
        name = name.partition("[")[2].removesuffix("]").rpartition(", ")[2]
    if name in _CLASSES_IN_PYTHON:
        return f".google.protobuf.{_CLASSES_IN_PYTHON[name]}"
    module, _, name = name.rpartition(".")
    if module.endswith("protobuf__"):
        return f".google.protobuf.{name}"
    return f".google.rpc.{name}" if module.endswith("rpc__") else f".{package}.{name}"


def _oneof(message: DescriptorProto, name: str) -> int:
    for index, oneof in enumerate(message.oneof_decl):
        if oneof.name == name:
            return index
    message.oneof_decl.add(name=name)
    return len(message.oneof_decl) - 1


def _read_service(file: FileDescriptorProto, node: ast.ClassDef) -> None:
    service = file.service.add(name=node.name.removesuffix("Stub"))
    for function in node.body:
        if not isinstance(function, ast.AsyncFunctionDef):
            continue
        request = function.args.args[1].annotation
        assert request is not None
        for call, path, response in _remote_calls(function):
            service.method.add(
                name=path.rpartition("/")[2],
                input_type=_qualified(ast.literal_eval(request), file.package),
                output_type=_qualified(response, file.package),
                server_streaming=call == _STREAMING,
            )


def _remote_calls(function: ast.AsyncFunctionDef) -> Iterator[tuple[str, str, str]]:
    """Kind, path and response type of the remote call that a stub's function makes."""
    for node in ast.walk(function):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if node.func.attr in (_UNARY, _STREAMING):
            yield node.func.attr, ast.literal_eval(node.args[0]), ast.unparse(node.args[2])
