"""The operands of a function's instructions: each refers to something that is there."""

from collections.abc import Sequence

from nexus_tools.localnet.bytecode.module import (
    CompiledModule,
    FunctionDefinition,
    Instruction,
    VecOperand,
)
from nexus_tools.localnet.verifier.errors import VerificationError
from nexus_tools.localnet.verifier.operands import FAMILY

_BITS = {"LD_U8": 8, "LD_U16": 16, "LD_U32": 32, "LD_U64": 64, "LD_U128": 128, "LD_U256": 256}
_INSTANTIATIONS = frozenset(
    {"field_instantiations", "function_instantiations", "struct_instantiations"}
)


class CodeBounds:
    """The bounds of one function's code."""

    def __init__(
        self, module: CompiledModule, function: FunctionDefinition, arities: Sequence[int]
    ) -> None:
        """`arities` says how many type parameters each signature of the module needs."""
        assert function.code is not None
        self._module = module
        self._code = function.code
        handle = module.function_handles[function.handle]
        self._name = module.identifiers[handle.name]
        self._type_parameters = len(handle.type_parameters)
        parameters = module.signatures[handle.parameters]
        self._locals = len(parameters) + len(module.signatures[self._code.locals])
        self._arities = arities

    def verify(self) -> None:
        """Raise `VerificationError` for an operand without a referent."""
        for offset, instruction in enumerate(self._code.instructions):
            family = FAMILY.get(instruction.opcode)
            if family is not None:
                self._verify_operand(family, instruction, offset)
        for table in self._code.jump_tables:
            self._within(table.enum, len(self._module.enum_definitions), "enum_definitions", 0)
            if len(table.offsets) != len(self._module.enum_definitions[table.enum].variants):
                message = "a jump table has not one branch for each variant"
                raise self._refused("INVALID_ENUM_SWITCH", message, 0)
            for target in table.offsets:
                self._within(target, len(self._code.instructions), "the code", 0)

    def _refused(self, status: str, message: str, offset: int) -> VerificationError:
        return VerificationError(status, message, self._module.name, self._name, offset)

    def _within(self, index: int, count: int, table: str, offset: int) -> None:
        if not 0 <= index < count:
            message = f"{table} has no row {index}: there are {count}"
            raise self._refused("INDEX_OUT_OF_BOUNDS", message, offset)

    def _verify_operand(self, family: str, instruction: Instruction, offset: int) -> None:
        operand = instruction.operand
        if family == "elements":
            if not isinstance(operand, VecOperand):
                raise self._refused("MALFORMED", "the operand is no type with a length", offset)
            self._verify_type_arguments(operand.type, offset)
            return
        if not isinstance(operand, int):
            raise self._refused("MALFORMED", "the operand is no number", offset)
        if family == "element":
            self._verify_type_arguments(operand, offset)
        elif family == "literal":
            self._within(operand, 1 << _BITS[instruction.opcode.name], "the type", offset)
        else:
            self._within(operand, self._count(family), family, offset)
            self._verify_instantiation(family, operand, offset)

    def _count(self, family: str) -> int:
        if family == "branch":
            return len(self._code.instructions)
        if family == "local":
            return self._locals
        if family == "jump_table":
            return len(self._code.jump_tables)
        return len(getattr(self._module, family))

    def _verify_instantiation(self, family: str, operand: int, offset: int) -> None:
        module = self._module
        if family in _INSTANTIATIONS:
            self._verify_type_arguments(getattr(module, family)[operand].type_arguments, offset)
        elif family == "variant_instantiations":
            enum = module.enum_instantiations[module.variant_instantiations[operand].enum]
            self._verify_type_arguments(enum.type_arguments, offset)

    def _verify_type_arguments(self, signature: int, offset: int) -> None:
        self._within(signature, len(self._module.signatures), "signatures", offset)
        if self._arities[signature] > self._type_parameters:
            message = "the function does not have the type parameter"
            raise self._refused("INDEX_OUT_OF_BOUNDS", message, offset)
