"""A `CompiledModule` back to a module file, so that changed modules are files again.

Source: the Move binary format, `move-binary-format/src/serializer.rs`.
"""

from collections.abc import Callable, Iterable
from typing import Any

from nexus_tools.localnet.bytecode.header import MAGIC, TableKind
from nexus_tools.localnet.bytecode.module import (
    Code,
    CompiledModule,
    DatatypeToken,
    FunctionDefinition,
    Instruction,
    ReferenceToken,
    SignatureToken,
    TypeParameterToken,
    VecOperand,
    VectorToken,
)
from nexus_tools.localnet.bytecode.opcode import Opcode
from nexus_tools.sui.bcs import write_uleb128

_PRIMITIVES = {
    "bool": 0x1,
    "u8": 0x2,
    "u64": 0x3,
    "u128": 0x4,
    "address": 0x5,
    "signer": 0xC,
    "u16": 0xD,
    "u32": 0xE,
    "u256": 0xF,
}
_LITERALS = {
    Opcode.LD_U8: 1,
    Opcode.LD_U16: 2,
    Opcode.LD_U32: 4,
    Opcode.LD_U64: 8,
    Opcode.LD_U128: 16,
    Opcode.LD_U256: 32,
}
_ENUMS_SINCE = 7
_NATIVE, _ENTRY = 0x2, 0x4
Row = Callable[[Any], bytes]


def write_module(module: CompiledModule) -> bytes:
    """The file of a module."""
    rows: list[tuple[TableKind, Iterable[Any], Row]] = [
        (TableKind.MODULE_HANDLES, module.module_handles, _module_handle),
        (TableKind.DATATYPE_HANDLES, module.datatype_handles, _datatype_handle),
        (TableKind.FUNCTION_HANDLES, module.function_handles, _function_handle),
        (TableKind.FUNCTION_INSTANTIATIONS, module.function_instantiations, _instantiation),
        (TableKind.SIGNATURES, module.signatures, _signature),
        (TableKind.CONSTANTS, module.constants, lambda row: _token(row.type) + _blob(row.data)),
        (TableKind.IDENTIFIERS, module.identifiers, lambda row: _blob(row.encode())),
        (TableKind.ADDRESSES, module.addresses, bytes),
        (TableKind.STRUCT_DEFINITIONS, module.struct_definitions, _struct),
        (TableKind.STRUCT_INSTANTIATIONS, module.struct_instantiations, _instantiation),
        (
            TableKind.FUNCTION_DEFINITIONS,
            module.function_definitions,
            lambda row: _function(row, module.version),
        ),
        (TableKind.FIELD_HANDLES, module.field_handles, lambda row: _ulebs(row.struct, row.field)),
        (TableKind.FIELD_INSTANTIATIONS, module.field_instantiations, _instantiation),
        (TableKind.FRIENDS, module.friends, _module_handle),
        (TableKind.METADATA, module.metadata, lambda row: _blob(row.key) + _blob(row.value)),
        (TableKind.ENUM_DEFINITIONS, module.enum_definitions, _enum),
        (TableKind.ENUM_INSTANTIATIONS, module.enum_instantiations, _instantiation),
        (TableKind.VARIANT_HANDLES, module.variant_handles, _variant),
        (TableKind.VARIANT_INSTANTIATIONS, module.variant_instantiations, _variant),
    ]
    tables = [(kind, b"".join(map(write, table))) for kind, table, write in rows if table]
    head, offset = bytearray(MAGIC), 0
    head += (module.version | module.flavor << 24).to_bytes(4, "little")
    head += _uleb(len(tables))
    for kind, data in tables:
        head += bytes([kind]) + _ulebs(offset, len(data))
        offset += len(data)
    return bytes(head) + b"".join(data for _, data in tables) + _uleb(module.self_handle)


def _uleb(value: int) -> bytes:
    out = bytearray()
    write_uleb128(value, out)
    return bytes(out)


def _ulebs(*values: int) -> bytes:
    return b"".join(map(_uleb, values))


def _blob(data: bytes) -> bytes:
    return _uleb(len(data)) + data


def _counted(rows: Iterable[Any], write: Row) -> bytes:
    written = [write(row) for row in rows]
    return _uleb(len(written)) + b"".join(written)


def _token(token: SignatureToken) -> bytes:
    if isinstance(token, str):
        return bytes([_PRIMITIVES[token]])
    if isinstance(token, ReferenceToken):
        return bytes([0x7 if token.mutable else 0x6]) + _token(token.target)
    if isinstance(token, VectorToken):
        return b"\x0a" + _token(token.element)
    if isinstance(token, TypeParameterToken):
        return b"\x09" + _uleb(token.index)
    assert isinstance(token, DatatypeToken)
    if not token.type_arguments:
        return b"\x08" + _uleb(token.handle)
    return b"\x0b" + _uleb(token.handle) + _counted(token.type_arguments, _token)


def _signature(tokens: Any) -> bytes:
    return _counted(tokens, _token)


def _module_handle(row: Any) -> bytes:
    return _ulebs(row.address, row.name)


def _datatype_handle(row: Any) -> bytes:
    parameters = _counted(
        row.type_parameters, lambda each: _ulebs(each.constraints, int(each.is_phantom))
    )
    return _ulebs(row.module, row.name, row.abilities) + parameters


def _function_handle(row: Any) -> bytes:
    head = _ulebs(row.module, row.name, row.parameters, row.returns)
    return head + _counted(row.type_parameters, _uleb)


def _instantiation(row: Any) -> bytes:
    return _ulebs(row.target, row.type_arguments)


def _variant(row: Any) -> bytes:
    return _ulebs(row.enum, row.tag)


def _field(row: Any) -> bytes:
    return _uleb(row.name) + _token(row.type)


def _struct(row: Any) -> bytes:
    if row.fields is None:
        return _uleb(row.handle) + b"\1"
    return _uleb(row.handle) + b"\2" + _counted(row.fields, _field)


def _enum(row: Any) -> bytes:
    variants = _counted(row.variants, lambda each: _uleb(each.name) + _counted(each.fields, _field))
    return _uleb(row.handle) + b"\2" + variants


def _function(row: FunctionDefinition, version: int) -> bytes:
    flags = (_NATIVE if row.code is None else 0) | (_ENTRY if row.is_entry else 0)
    head = _uleb(row.handle) + bytes([row.visibility, flags]) + _counted(row.acquires, _uleb)
    return head if row.code is None else head + _code(row.code, version)


def _code(code: Code, version: int) -> bytes:
    written = _uleb(code.locals) + _counted(code.instructions, _instruction)
    if version < _ENUMS_SINCE:
        return written
    return written + _counted(
        code.jump_tables,
        lambda row: _ulebs(row.enum, len(row.offsets)) + b"\1" + _ulebs(*row.offsets),
    )


def _instruction(row: Instruction) -> bytes:
    opcode, operand = bytes([row.opcode]), row.operand
    if operand is None:
        return opcode
    if isinstance(operand, VecOperand):
        return opcode + _uleb(operand.type) + operand.length.to_bytes(8, "little")
    if row.opcode in _LITERALS:
        return opcode + operand.to_bytes(_LITERALS[row.opcode], "little")
    return opcode + _uleb(operand)
