"""Write the descriptors of Sui's gRPC interface from the code that pysui generated from it.

Run this script after an update of pysui. A test fails until the files in `nexus_tools/sui/rpc`
match the installed version. Newer versions only add definitions.

No package on PyPI contains Sui's `.proto` files. pysui contains Python code that was generated from
all of these files. The text of this code contains everything that a descriptor needs, always in the
same form. So a few regular expressions can read it, and this script checks that they omit nothing.

The code does not show which `.proto` file contained a definition. This script writes all
definitions into one file.
"""

import re
from collections.abc import Collection, Mapping
from pathlib import Path

import pysui
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)

from nexus_tools.sui.rpc.messages import SHIPPED, STATUS_FILE, SUI_FILE, SUI_PACKAGE, WELL_KNOWN

_FOLDER = Path("sui/sui_grpc/suimsgs")

_DOCSTRING = re.compile(r'""".*?"""', re.DOTALL)
_CLASS = re.compile(r"^class (\w+)\((?:\w+\.)?(\w+)\):$", re.MULTILINE)
_VALUE = re.compile(r"^    (\w+) = (-?\d+)$", re.MULTILINE)
_RENAMED_VALUE = re.compile(r'^            (-?\d+): "(\w+)",$', re.MULTILINE)
_FIELD = re.compile(
    r'^    (?P<name>\w+): "(?P<python_type>[^"]+)" = \(?\s*betterproto2\.field\(\s*'
    r"(?P<number>\d+),\s*betterproto2\.TYPE_(?P<kind>\w+)"
    r"(?P<options>(?:[^()]|\([^()]*\))*)\)",
    re.MULTILINE,
)
_FIELD_CALL = "betterproto2.field("
_GROUP = re.compile(r'group="(\w+)"')
_MAP = re.compile(r"map_meta\(\s*betterproto2\.TYPE_(\w+),\s*betterproto2\.TYPE_(\w+)\s*\)")
_METHOD = re.compile(
    r'message: "(?P<request>[^"]+)".*?self\._unary_(?P<answers>unary|stream)\(\s*'
    r'"/[\w.]+/(?P<name>\w+)",\s*message,\s*(?P<response>\w+),',
    re.DOTALL,
)
_METHOD_START = "async def "

_CLASSES_IN_PYTHON = {"datetime.datetime": "Timestamp", "datetime.timedelta": "Duration"}
# The last parts of import aliases such as `___google__protobuf__`, and the packages they stand for.
_FOREIGN_MODULES = {"protobuf": "google.protobuf", "rpc": "google.rpc"}


def main() -> None:
    """Write the descriptors that are part of `nexus_tools`."""
    for path, content in shipped_definitions().items():
        path.write_bytes(content)


def shipped_definitions() -> dict[Path, bytes]:
    """Return the files of descriptors with their contents, from the installed version of pysui."""
    depends = [module.DESCRIPTOR.name for module in WELL_KNOWN]
    status = read_pysui_definitions("google.rpc", STATUS_FILE, depends)
    sui = read_pysui_definitions(SUI_PACKAGE, SUI_FILE, [*depends, STATUS_FILE])
    return {
        path: file.SerializeToString(deterministic=True)
        for path, file in zip(SHIPPED, (status, sui), strict=True)
    }


def read_pysui_definitions(
    package: str, name: str, depends: Collection[str] = ()
) -> FileDescriptorProto:
    """Read pysui's definitions of a package such as `sui.rpc.v2` into one file of this name.

    Raises:
        ValueError: The code has another form.
    """
    text = _generated_code(package).read_text(encoding="utf-8")
    _, *parts = _CLASS.split(_DOCSTRING.sub("", text))
    classes = list(zip(parts[0::3], parts[1::3], parts[2::3], strict=True))
    file = FileDescriptorProto(name=name, package=package, syntax="proto3", dependency=depends)
    messages = {
        class_name: file.message_type.add(name=class_name)
        for class_name, base, _ in classes
        if base == "Message"
    }
    names = {class_name: f".{package}.{class_name}" for class_name in messages}
    for class_name, base, body in classes:
        if base == "Enum":
            names[class_name] = _read_enum(file, messages, class_name, body)
    for class_name, base, body in classes:
        if base == "Message":
            _read_message(messages[class_name], body, names)
        elif base == "ServiceStub":
            _read_service(file, class_name.removesuffix("Stub"), body, names)
    return file


def _generated_code(package: str) -> Path:
    folder = Path(pysui.__file__).parent / _FOLDER
    return folder / package.replace(".", "/") / "__init__.py"


# --- Enums


def _read_enum(
    file: FileDescriptorProto, messages: Mapping[str, DescriptorProto], class_name: str, body: str
) -> str:
    """Add an enum to its file or message. Return the full name of the enum.

    Usually pysui uses the value names of the `.proto` files. If all names of an enum start with the
    name of the enum, pysui drops this prefix. The original names are then in a method of the class.
    """
    renamed = {int(number): name for number, name in _RENAMED_VALUE.findall(body)}
    values = {renamed.get(int(number), name): int(number) for name, number in _VALUE.findall(body)}
    owner = _owner(class_name, messages, next(iter(values)))
    if owner is None:
        enum, scope = file.enum_type.add(name=class_name), f".{file.package}"
    else:
        enum = messages[owner].enum_type.add(name=class_name.removeprefix(owner))
        scope = f".{file.package}.{owner}"
    for name, number in values.items():
        enum.value.add(name=name, number=number)
    return f"{scope}.{enum.name}"


def _owner(class_name: str, messages: Collection[str], first_value: str) -> str | None:
    """Return the message in which an enum is defined, or None if it is not in a message.

    For `OwnerOwnerKind`, the message is `Owner`. `QueryEndReason` is not in a message `QueryEnd`,
    because its values are `QUERY_END_REASON_…`.
    """
    if first_value.startswith(f"{_in_capitals(class_name)}_"):
        return None
    ends = [capital.start() for capital in re.finditer("[A-Z]", class_name)]
    return next((class_name[:end] for end in reversed(ends) if class_name[:end] in messages), None)


def _in_capitals(class_name: str) -> str:
    return re.sub("(?<=[a-z])(?=[A-Z])", "_", class_name).upper()


# --- Messages


def _read_message(message: DescriptorProto, body: str, names: Mapping[str, str]) -> None:
    fields = list(_FIELD.finditer(body))
    _check_complete(message.name, len(fields), body.count(_FIELD_CALL))
    optional = []
    for field_match in fields:
        field = _read_field(message, field_match, names)
        group = _GROUP.search(field_match["options"])
        if group is not None:
            field.oneof_index = _oneof(message, group[1])
        elif "optional" in field_match["options"]:
            optional.append(field)
    for field in optional:  # each optional field has its own oneof, after the other oneofs
        field.proto3_optional = True
        field.oneof_index = _oneof(message, f"_{field.name}")


def _read_field(
    message: DescriptorProto, found: re.Match[str], names: Mapping[str, str]
) -> FieldDescriptorProto:
    entries = _MAP.search(found["options"])
    many = entries is not None or "repeated" in found["options"]
    field = message.field.add(
        name=found["name"].rstrip("_"),
        number=int(found["number"]),
        label=FieldDescriptorProto.LABEL_REPEATED if many else FieldDescriptorProto.LABEL_OPTIONAL,
    )
    if entries is None:
        _set_type(field, found["kind"], found["python_type"], names)
    else:
        entry = _add_map_entry(message, field.name, entries, found["python_type"], names)
        field.type = FieldDescriptorProto.TYPE_MESSAGE
        field.type_name = f"{names[message.name]}.{entry}"
    return field


def _add_map_entry(
    message: DescriptorProto,
    field_name: str,
    kinds: re.Match[str],
    python_type: str,
    names: Mapping[str, str],
) -> str:
    """Add the nested entry type of a map, which has the fields `key` and `value`."""
    entry = message.nested_type.add(name=f"{field_name.title().replace('_', '')}Entry")
    entry.options.map_entry = True
    for number, (name, kind) in enumerate(zip(("key", "value"), kinds.groups(), strict=True), 1):
        part = entry.field.add(name=name, number=number, label=FieldDescriptorProto.LABEL_OPTIONAL)
        _set_type(part, kind, python_type, names)
    return entry.name


def _set_type(
    field: FieldDescriptorProto, kind: str, python_type: str, names: Mapping[str, str]
) -> None:
    field.type = FieldDescriptorProto.Type.Value(f"TYPE_{kind}")
    if field.type in (FieldDescriptorProto.TYPE_MESSAGE, FieldDescriptorProto.TYPE_ENUM):
        field.type_name = _full_name(python_type, names)


def _full_name(python_type: str, names: Mapping[str, str]) -> str:
    """Return the protobuf name of an annotation such as `list[Owner]` or `Owner | None`."""
    name = python_type.removesuffix(" | None")
    if name.endswith("]"):
        name = name.partition("[")[2].removesuffix("]").rpartition(", ")[2]
    if name in names:
        return names[name]
    if name in _CLASSES_IN_PYTHON:
        return f".google.protobuf.{_CLASSES_IN_PYTHON[name]}"
    module, _, name = name.rpartition(".")
    return f".{_FOREIGN_MODULES[module.strip('_').rpartition('__')[2]]}.{name}"


def _oneof(message: DescriptorProto, name: str) -> int:
    for index, oneof in enumerate(message.oneof_decl):
        if oneof.name == name:
            return index
    message.oneof_decl.add(name=name)
    return len(message.oneof_decl) - 1


# --- Services


def _read_service(
    file: FileDescriptorProto, name: str, body: str, names: Mapping[str, str]
) -> None:
    service = file.service.add(name=name)
    for method_match in _METHOD.finditer(body):
        service.method.add(
            name=method_match["name"],
            input_type=_full_name(method_match["request"], names),
            output_type=_full_name(method_match["response"], names),
            server_streaming=method_match["answers"] == "stream",
        )
    _check_complete(name, len(service.method), body.count(_METHOD_START))


def _check_complete(name: str, found: int, written: int) -> None:
    if found != written:
        raise ValueError(
            f"read only {found} of the {written} definitions of {name} in pysui's code"
        )


if __name__ == "__main__":
    main()
