"""The conversion of a `CompiledModule` to the bytes of a module file.

The tables have the same order as in the output of Sui's compiler. Therefore, if the compiler wrote
a module, deserializing and serializing the module reproduces its bytes. Source:
`move-binary-format/src/serializer.rs`, versions 6 and 7 of the format.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from nexus_tools.sui.bytecode.format.file_format import (
    DECLARED,
    ENTRY_FUNCTION,
    FULL_JUMP_TABLE,
    MAGIC,
    NATIVE_FUNCTION,
    NATIVE_STRUCT,
    VERSION_7,
    SerializedType,
    TableKind,
)
from nexus_tools.sui.bytecode.module import (
    Code,
    CompiledModule,
    Constant,
    DatatypeHandle,
    EnumDefinition,
    FieldDefinition,
    FieldHandle,
    FunctionDefinition,
    FunctionHandle,
    Instantiation,
    Instruction,
    JumpTable,
    Metadata,
    ModuleHandle,
    StructDefinition,
    VariantHandle,
    VecOperand,
)
from nexus_tools.sui.bytecode.opcode import LITERAL_BYTES
from nexus_tools.sui.bytecode.token import (
    PRIMITIVES,
    DatatypeToken,
    ReferenceToken,
    Signature,
    SignatureToken,
    TypeParameterToken,
    VectorToken,
)
from nexus_tools.sui.support.uleb128 import write_uleb128

_Row = TypeVar("_Row")

_PRIMITIVES = {name: bytes([SerializedType[name.upper()]]) for name in PRIMITIVES}
_REFERENCE, _MUTABLE_REFERENCE, _VECTOR, _TYPE_PARAMETER, _DATATYPE, _DATATYPE_INSTANTIATION = (
    bytes([tag])
    for tag in (
        SerializedType.REFERENCE,
        SerializedType.MUTABLE_REFERENCE,
        SerializedType.VECTOR,
        SerializedType.TYPE_PARAMETER,
        SerializedType.DATATYPE,
        SerializedType.DATATYPE_INSTANTIATION,
    )
)


def serialize(module: CompiledModule) -> bytes:
    """Return the bytes of a module file. `deserialize` is the inverse function."""
    tables = [(kind, table) for kind, table in _tables(module) if table]
    header = MAGIC + module.version.to_bytes(3, "little") + bytes([module.flavor])
    header += _uleb(len(tables))
    offset = 0
    for kind, table in tables:
        header += bytes([kind]) + _uleb(offset) + _uleb(len(table))
        offset += len(table)
    return header + b"".join(table for _, table in tables) + _uleb(module.self_handle)


def _tables(module: CompiledModule) -> Iterable[tuple[TableKind, bytes]]:
    """Yield the tables in the order of the file, including empty tables, which are not written."""
    yield TableKind.MODULE_HANDLES, _rows(module.module_handles, _module_handle)
    yield TableKind.DATATYPE_HANDLES, _rows(module.datatype_handles, _datatype_handle)
    yield TableKind.FUNCTION_HANDLES, _rows(module.function_handles, _function_handle)
    yield TableKind.FUNCTION_INSTANTIATIONS, _rows(module.function_instantiations, _instantiation)
    yield TableKind.SIGNATURES, _rows(module.signatures, _signature)
    yield TableKind.METADATA, _rows(module.metadata, _metadata)
    yield TableKind.IDENTIFIERS, _rows(module.identifiers, lambda name: _blob(name.encode()))
    yield TableKind.ADDRESSES, b"".join(module.addresses)
    yield TableKind.CONSTANTS, _rows(module.constants, _constant)
    yield TableKind.STRUCT_DEFINITIONS, _rows(module.struct_definitions, _struct_definition)
    yield TableKind.STRUCT_INSTANTIATIONS, _rows(module.struct_instantiations, _instantiation)
    yield TableKind.FUNCTION_DEFINITIONS, _function_definitions(module)
    yield TableKind.FIELD_HANDLES, _rows(module.field_handles, _field_handle)
    yield TableKind.FIELD_INSTANTIATIONS, _rows(module.field_instantiations, _instantiation)
    yield TableKind.FRIENDS, _rows(module.friends, _module_handle)
    yield TableKind.ENUM_DEFINITIONS, _rows(module.enum_definitions, _enum_definition)
    yield TableKind.ENUM_INSTANTIATIONS, _rows(module.enum_instantiations, _instantiation)
    yield TableKind.VARIANT_HANDLES, _rows(module.variant_handles, _variant_handle)
    yield TableKind.VARIANT_INSTANTIATIONS, _rows(module.variant_instantiations, _variant_handle)


def _rows(rows: Iterable[_Row], write: Callable[[_Row], bytes]) -> bytes:
    return b"".join(map(write, rows))


def _uleb(value: int) -> bytes:
    encoded = bytearray()
    write_uleb128(value, encoded)
    return bytes(encoded)


def _ulebs(*values: int) -> bytes:
    return b"".join(map(_uleb, values))


def _blob(data: bytes) -> bytes:
    return _uleb(len(data)) + data


def _counted(rows: Sequence[_Row], write: Callable[[_Row], bytes]) -> bytes:
    return _uleb(len(rows)) + _rows(rows, write)


def _module_handle(row: ModuleHandle) -> bytes:
    return _ulebs(row.address, row.name)


def _datatype_handle(row: DatatypeHandle) -> bytes:
    return _ulebs(row.module, row.name, row.abilities) + _counted(
        row.type_parameters, lambda parameter: _ulebs(parameter.constraints, parameter.is_phantom)
    )


def _function_handle(row: FunctionHandle) -> bytes:
    return _ulebs(row.module, row.name, row.parameters, row.returns) + _counted(
        row.type_parameters, _uleb
    )


def _instantiation(row: Instantiation) -> bytes:
    return _ulebs(row.target, row.type_arguments)


def _field_handle(row: FieldHandle) -> bytes:
    return _ulebs(row.struct, row.field)


def _variant_handle(row: VariantHandle) -> bytes:
    return _ulebs(row.enum, row.tag)


def _constant(row: Constant) -> bytes:
    return _token(row.type) + _blob(row.data)


def _metadata(row: Metadata) -> bytes:
    return _blob(row.key) + _blob(row.value)


def _signature(row: Signature) -> bytes:
    return _counted(row, _token)


def _token(token: SignatureToken) -> bytes:
    if isinstance(token, str):
        return _PRIMITIVES[token]
    if isinstance(token, ReferenceToken):
        return (_MUTABLE_REFERENCE if token.mutable else _REFERENCE) + _token(token.target)
    if isinstance(token, VectorToken):
        return _VECTOR + _token(token.element)
    if isinstance(token, TypeParameterToken):
        return _TYPE_PARAMETER + _uleb(token.index)
    assert isinstance(token, DatatypeToken)
    if not token.type_arguments:
        return _DATATYPE + _uleb(token.handle)
    return _DATATYPE_INSTANTIATION + _uleb(token.handle) + _counted(token.type_arguments, _token)


def _fields(fields: tuple[FieldDefinition, ...]) -> bytes:
    return _counted(fields, lambda field: _uleb(field.name) + _token(field.type))


def _struct_definition(row: StructDefinition) -> bytes:
    fields = (
        bytes([NATIVE_STRUCT]) if row.fields is None else bytes([DECLARED]) + _fields(row.fields)
    )
    return _uleb(row.handle) + fields


def _enum_definition(row: EnumDefinition) -> bytes:
    return (
        _uleb(row.handle)
        + bytes([DECLARED])
        + _counted(row.variants, lambda variant: _uleb(variant.name) + _fields(variant.fields))
    )


def _function_definitions(module: CompiledModule) -> bytes:
    return _rows(module.function_definitions, lambda row: _function_definition(row, module.version))


def _function_definition(row: FunctionDefinition, version: int) -> bytes:
    flags = (ENTRY_FUNCTION if row.is_entry else 0) | (NATIVE_FUNCTION if row.code is None else 0)
    head = _uleb(row.handle) + bytes([row.visibility, flags]) + _counted(row.acquires, _uleb)
    return head if row.code is None else head + _code(row.code, version)


def _code(code: Code, version: int) -> bytes:
    body = _uleb(code.locals) + _counted(code.instructions, _instruction)
    return body if version < VERSION_7 else body + _counted(code.jump_tables, _jump_table)


def _instruction(row: Instruction) -> bytes:
    opcode = bytes([row.opcode])
    if row.operand is None:
        return opcode
    if isinstance(row.operand, VecOperand):
        # The length is a u64, not ULEB128 like nearly all other numbers.
        return opcode + _uleb(row.operand.type) + row.operand.length.to_bytes(8, "little")
    if row.opcode in LITERAL_BYTES:
        return opcode + row.operand.to_bytes(LITERAL_BYTES[row.opcode], "little")
    return opcode + _uleb(row.operand)


def _jump_table(row: JumpTable) -> bytes:
    return (
        _uleb(row.enum)
        + _uleb(len(row.offsets))
        + bytes([FULL_JUMP_TABLE])
        + _rows(row.offsets, _uleb)
    )
