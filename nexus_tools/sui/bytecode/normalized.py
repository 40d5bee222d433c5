"""Normalized modules, which can be compared because they do not contain indices of tables.

Source: `move-binary-format/src/normalized.rs`. Instead of an index, an operand is the address,
module and name of a definition.
"""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from nexus_tools.sui.bytecode.ability import Ability
from nexus_tools.sui.bytecode.module import (
    CompiledModule,
    DatatypeTypeParameter,
    FieldDefinition,
    Instruction,
    VecOperand,
    Visibility,
)
from nexus_tools.sui.bytecode.opcode import OPERAND_KINDS, OperandKind
from nexus_tools.sui.bytecode.token import (
    DatatypeToken,
    ReferenceToken,
    SignatureToken,
    TypeParameterToken,
    VectorToken,
)

NormalizedFields = tuple[tuple[str, Any], ...]


class NormalizedDatatype(Struct, frozen=True):
    """A struct or an enum. A struct has one variant without a name, which contains the fields."""

    abilities: Ability
    type_parameters: tuple[DatatypeTypeParameter, ...]
    variants: tuple[tuple[str | None, NormalizedFields], ...]


class NormalizedFunction(Struct, frozen=True):
    """A function. `code` has the jump tables, and pairs of an opcode and a resolved operand."""

    visibility: Visibility
    is_entry: bool
    type_parameters: tuple[Ability, ...]
    parameters: tuple[Any, ...]
    returns: tuple[Any, ...]
    code: tuple[Any, ...]


class NormalizedModule(Struct, frozen=True):
    """A module's types and functions by name. `version` is the version of the file format."""

    version: int
    datatypes: Mapping[str, NormalizedDatatype]
    functions: Mapping[str, NormalizedFunction]
    friend_count: int


def normalize(module: CompiledModule) -> NormalizedModule:
    """Return a module without indices."""
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
            variants_by_name = tuple(
                (module.identifiers[variant.name], self._fields(variant.fields))
                for variant in enum.variants
            )
            datatypes[self._datatype_name(enum.handle)] = self._datatype(
                enum.handle, variants_by_name
            )
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
        # Like the network, do not compare the types of local variables, because the instructions
        # determine these types.
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
        kind = OPERAND_KINDS.get(instruction.opcode)
        meaning = _MEANINGS.get(kind) if kind else None
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


# The functions that resolve operands, by kind. Operands of other kinds stay unchanged.
_MEANINGS: dict[OperandKind, Callable[[_Normalizer, int], Any]] = {
    OperandKind.CONSTANT: _Normalizer.constant,
    OperandKind.FIELD: _Normalizer.field,
    OperandKind.FIELD_INSTANTIATION: _Normalizer.field_generic,
    OperandKind.FUNCTION: _Normalizer.function,
    OperandKind.FUNCTION_INSTANTIATION: _Normalizer.function_generic,
    OperandKind.STRUCT: _Normalizer.struct,
    OperandKind.STRUCT_INSTANTIATION: _Normalizer.struct_generic,
    OperandKind.VARIANT: _Normalizer.variant,
    OperandKind.VARIANT_INSTANTIATION: _Normalizer.variant_generic,
    OperandKind.ELEMENT: _Normalizer.signature,
}
