"""Generic things are used by generic instructions, others by the plain ones.

Source: `move-bytecode-verifier/src/instruction_consistency.rs`.
"""

from nexus_tools.localnet.bytecode.module import CompiledModule, Instruction, VecOperand
from nexus_tools.localnet.verifier.errors import VerificationError
from nexus_tools.localnet.verifier.operands import FAMILY

_VECTOR_LENGTH_MAX = 0xFFFF


def verify_consistency(module: CompiledModule) -> None:
    """Raise `VerificationError` for an instruction that does not suit what it names."""
    for function in module.function_definitions:
        name = module.function_id(function.handle)[2]
        for offset, instruction in enumerate(function.code.instructions if function.code else ()):
            operand = instruction.operand
            if isinstance(operand, VecOperand):
                if operand.length > _VECTOR_LENGTH_MAX:
                    message = f"a vector of {operand.length} is made or taken apart"
                    raise VerificationError(
                        "CONSTRAINT_NOT_SATISFIED", message, module.name, name, offset
                    )
            elif not _is_consistent(module, instruction):
                message = f"{instruction.opcode.name} is not for what it names"
                raise VerificationError(
                    "GENERIC_MEMBER_OPCODE_MISMATCH", message, module.name, name, offset
                )


def _is_consistent(module: CompiledModule, instruction: Instruction) -> bool:
    family = FAMILY.get(instruction.opcode, "")
    declares = _DECLARED.get(family)
    if declares is None:
        return True
    assert isinstance(instruction.operand, int)
    return declares(module, instruction.operand) == family.endswith("_instantiations")


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


# Whether what an operand names is generic.
_DECLARED = {
    "struct_definitions": _struct,
    "struct_instantiations": lambda m, i: _struct(m, m.struct_instantiations[i].target),
    "field_handles": _field,
    "field_instantiations": lambda m, i: _field(m, m.field_instantiations[i].target),
    "function_handles": _function,
    "function_instantiations": lambda m, i: _function(m, m.function_instantiations[i].target),
    "variant_handles": lambda m, i: _enum(m, m.variant_handles[i].enum),
    "variant_instantiations": _variant_instantiation,
}
