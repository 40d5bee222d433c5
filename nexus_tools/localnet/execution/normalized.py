"""Modules without indices, so that two versions of one can be compared.

Source: `move-binary-format/src/normalized.rs`. Everything is named by address, module and name,
and code refers to what its operands stand for.
"""

from collections.abc import Callable, Mapping
from typing import Any

from nexus_tools.dataclass import dataclass
from nexus_tools.localnet.bytecode import CompiledModule, Opcode
from nexus_tools.localnet.bytecode.module import (
    Ability,
    DatatypeToken,
    DatatypeTypeParameter,
    FieldDefinition,
    Instruction,
    ReferenceToken,
    SignatureToken,
    TypeParameterToken,
    VecOperand,
    VectorToken,
    Visibility,
)

NormalizedFields = tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True)
class NormalizedDatatype:
    """A struct, whose fields are its only variant, or an enum."""

    abilities: Ability
    type_parameters: tuple[DatatypeTypeParameter, ...]
    variants: tuple[tuple[str | None, NormalizedFields], ...]


@dataclass(frozen=True, slots=True)
class NormalizedFunction:
    """A function with its code: pairs of opcodes and what they refer to."""

    visibility: Visibility
    is_entry: bool
    type_parameters: tuple[Ability, ...]
    parameters: tuple[Any, ...]
    returns: tuple[Any, ...]
    code: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class NormalizedModule:
    """Types and functions by their names; `version` is that of the file format."""

    version: int
    datatypes: Mapping[str, NormalizedDatatype]
    functions: Mapping[str, NormalizedFunction]
    friend_count: int


def normalize(module: CompiledModule) -> NormalizedModule:
    """A module without indices."""
    return _Normalizer(module).module()


class _Normalizer:
    def __init__(self, module: CompiledModule) -> None:
        self._module = module

    def module(self) -> NormalizedModule:
        module = self._module
        return NormalizedModule(
            module.version, self._datatypes(), self._functions(), len(module.friends)
        )

    def _datatypes(self) -> dict[str, NormalizedDatatype]:
        module = self._module
        datatypes = {}
        for struct in module.struct_definitions:
            variants = ((None, self._fields(struct.fields or ())),)
            datatypes[self._datatype_name(struct.handle)] = self._datatype(struct.handle, variants)
        for enum in module.enum_definitions:
            named = tuple(
                (module.identifiers[variant.name], self._fields(variant.fields))
                for variant in enum.variants
            )
            datatypes[self._datatype_name(enum.handle)] = self._datatype(enum.handle, named)
        return datatypes

    def _datatype_name(self, handle: int) -> str:
        return self._module.datatype_id(handle)[2]

    def _datatype(
        self, handle: int, variants: tuple[tuple[str | None, NormalizedFields], ...]
    ) -> NormalizedDatatype:
        row = self._module.datatype_handles[handle]
        return NormalizedDatatype(row.abilities, row.type_parameters, variants)

    def _fields(self, fields: tuple[FieldDefinition, ...]) -> NormalizedFields:
        names = self._module.identifiers
        return tuple((names[field.name], self._type(field.type)) for field in fields)

    def _functions(self) -> dict[str, NormalizedFunction]:
        module = self._module
        functions = {}
        for definition in module.function_definitions:
            handle = module.function_handles[definition.handle]
            functions[module.identifiers[handle.name]] = NormalizedFunction(
                definition.visibility,
                definition.is_entry,
                handle.type_parameters,
                self._signature(handle.parameters),
                self._signature(handle.returns),
                self._code(definition.code),
            )
        return functions

    def _signature(self, index: int) -> tuple[Any, ...]:
        return tuple(map(self._type, self._module.signatures[index]))

    def _type(self, token: SignatureToken) -> Any:
        if isinstance(token, DatatypeToken):
            arguments = tuple(map(self._type, token.type_arguments))
            return ("datatype", *self._module.datatype_id(token.handle), arguments)
        if isinstance(token, VectorToken):
            return ("vector", self._type(token.element))
        if isinstance(token, ReferenceToken):
            return ("reference", token.mutable, self._type(token.target))
        return ("parameter", token.index) if isinstance(token, TypeParameterToken) else token

    # --- Code

    def _code(self, code: Any) -> tuple[Any, ...]:
        # The types of the locals follow from the instructions: the network does not compare them.
        if code is None:
            return ()
        tables = tuple(
            (self._datatype_name(self._module.enum_definitions[table.enum].handle), table.offsets)
            for table in code.jump_tables
        )
        instructions = tuple(map(self._instruction, code.instructions))
        return (instructions, tables)

    def _instruction(self, instruction: Instruction) -> tuple[Any, ...]:
        operand = instruction.operand
        if isinstance(operand, VecOperand):
            return instruction.opcode, self._signature(operand.type), operand.length
        meaning = _MEANINGS.get(instruction.opcode)
        if meaning is None or operand is None:
            return instruction.opcode, operand
        return instruction.opcode, meaning(self, operand)

    def constant(self, index: int) -> Any:
        constant = self._module.constants[index]
        return self._type(constant.type), constant.data

    def field(self, index: int) -> Any:
        handle = self._module.field_handles[index]
        return self.struct(handle.struct), handle.field

    def field_generic(self, index: int) -> Any:
        row = self._module.field_instantiations[index]
        return self.field(row.target), self._signature(row.type_arguments)

    def function(self, index: int) -> Any:
        return self._module.function_id(index)

    def function_generic(self, index: int) -> Any:
        row = self._module.function_instantiations[index]
        return self.function(row.target), self._signature(row.type_arguments)

    def struct(self, index: int) -> Any:
        return self._module.datatype_id(self._module.struct_definitions[index].handle)

    def struct_generic(self, index: int) -> Any:
        row = self._module.struct_instantiations[index]
        return self.struct(row.target), self._signature(row.type_arguments)

    def variant(self, index: int) -> Any:
        handle = self._module.variant_handles[index]
        return self._enum(handle.enum), handle.tag

    def variant_generic(self, index: int) -> Any:
        handle = self._module.variant_instantiations[index]
        row = self._module.enum_instantiations[handle.enum]
        return self._enum(row.target), self._signature(row.type_arguments), handle.tag

    def signature(self, index: int) -> Any:
        return self._signature(index)

    def _enum(self, index: int) -> Any:
        return self._module.datatype_id(self._module.enum_definitions[index].handle)


_Meaning = Callable[[_Normalizer, int], Any]


def _meanings(meaning: _Meaning, *opcodes: Opcode) -> dict[Opcode, _Meaning]:
    return dict.fromkeys(opcodes, meaning)


_MEANINGS: dict[Opcode, _Meaning] = {
    Opcode.LD_CONST: _Normalizer.constant,
    **_meanings(_Normalizer.field, Opcode.MUT_BORROW_FIELD, Opcode.IMM_BORROW_FIELD),
    **_meanings(
        _Normalizer.field_generic,
        Opcode.MUT_BORROW_FIELD_GENERIC,
        Opcode.IMM_BORROW_FIELD_GENERIC,
    ),
    Opcode.CALL: _Normalizer.function,
    Opcode.CALL_GENERIC: _Normalizer.function_generic,
    **_meanings(_Normalizer.struct, Opcode.PACK, Opcode.UNPACK),
    **_meanings(_Normalizer.struct_generic, Opcode.PACK_GENERIC, Opcode.UNPACK_GENERIC),
    **_meanings(
        _Normalizer.variant,
        Opcode.PACK_VARIANT,
        Opcode.UNPACK_VARIANT,
        Opcode.UNPACK_VARIANT_IMM_REF,
        Opcode.UNPACK_VARIANT_MUT_REF,
    ),
    **_meanings(
        _Normalizer.variant_generic,
        Opcode.PACK_VARIANT_GENERIC,
        Opcode.UNPACK_VARIANT_GENERIC,
        Opcode.UNPACK_VARIANT_GENERIC_IMM_REF,
        Opcode.UNPACK_VARIANT_GENERIC_MUT_REF,
    ),
    **_meanings(
        _Normalizer.signature,
        Opcode.VEC_LEN,
        Opcode.VEC_IMM_BORROW,
        Opcode.VEC_MUT_BORROW,
        Opcode.VEC_PUSH_BACK,
        Opcode.VEC_POP_BACK,
        Opcode.VEC_SWAP,
    ),
}
