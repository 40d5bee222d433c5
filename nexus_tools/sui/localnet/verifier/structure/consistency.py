"""The check that only generic instructions, and all of them, refer to generic definitions.

Source: `move-bytecode-verifier/src/instruction_consistency.rs`.
"""

from collections.abc import Callable

from nexus_tools.sui.bytecode import (
    OPERAND_KINDS,
    CompiledModule,
    Instruction,
    OperandKind,
    VecOperand,
)
from nexus_tools.sui.localnet.verifier.errors import VerificationError

_VECTOR_LENGTH_MAX = 0xFFFF


def verify_consistency(module: CompiledModule) -> None:
    """Raise `VerificationError` for an instruction that does not match its definition."""
    for function in module.function_definitions:
        name = module.function_id(function.handle)[2]
        for offset, instruction in enumerate(function.code.instructions if function.code else ()):
            operand = instruction.operand
            if isinstance(operand, VecOperand):
                if operand.length > _VECTOR_LENGTH_MAX:
                    message = f"a vector of {operand.length} elements is packed or unpacked"
                    raise VerificationError(
                        "CONSTRAINT_NOT_SATISFIED", message, module.name, name, offset
                    )
            elif not _is_consistent(module, instruction):
                message = (
                    f"{instruction.opcode.name} does not match its definition's type parameters"
                )
                raise VerificationError(
                    "GENERIC_MEMBER_OPCODE_MISMATCH", message, module.name, name, offset
                )


def _is_consistent(module: CompiledModule, instruction: Instruction) -> bool:
    kind = OPERAND_KINDS.get(instruction.opcode)
    is_generic = _GENERIC.get(kind) if kind else None
    if kind is None or is_generic is None:
        return True
    assert isinstance(instruction.operand, int)
    return is_generic(module, instruction.operand) == kind.is_instantiation


def _struct(module: CompiledModule, index: int) -> bool:
    handle = module.struct_definitions[index].handle
    return bool(module.datatype_handles[handle].type_parameters)


def _enum(module: CompiledModule, index: int) -> bool:
    handle = module.enum_definitions[index].handle
    return bool(module.datatype_handles[handle].type_parameters)


def _field(module: CompiledModule, index: int) -> bool:
    return _struct(module, module.field_handles[index].struct)


def _function(module: CompiledModule, index: int) -> bool:
    return bool(module.function_handles[index].type_parameters)


def _variant_instantiation(module: CompiledModule, index: int) -> bool:
    enum = module.variant_instantiations[index].enum
    return _enum(module, module.enum_instantiations[enum].target)


# Functions that return whether the definition of an operand is generic.
_GENERIC: dict[OperandKind, Callable[[CompiledModule, int], bool]] = {
    OperandKind.STRUCT: _struct,
    OperandKind.STRUCT_INSTANTIATION: lambda m, i: _struct(m, m.struct_instantiations[i].target),
    OperandKind.FIELD: _field,
    OperandKind.FIELD_INSTANTIATION: lambda m, i: _field(m, m.field_instantiations[i].target),
    OperandKind.FUNCTION: _function,
    OperandKind.FUNCTION_INSTANTIATION: lambda m, i: _function(
        m, m.function_instantiations[i].target
    ),
    OperandKind.VARIANT: lambda m, i: _enum(m, m.variant_handles[i].enum),
    OperandKind.VARIANT_INSTANTIATION: _variant_instantiation,
}
