"""The check that every index refers to an existing row, and every type parameter is declared.

The deserializer of module files also makes these bounds checks. This pass also checks modules that
were not read from a file. Source: `move-binary-format/src/check_bounds.rs`.
"""

from collections.abc import Iterable, Sequence

from nexus_tools.sui.bytecode import (
    LITERAL_BYTES,
    LOCALS_COUNT_MAX,
    OPERAND_KINDS,
    PRIMITIVES,
    TYPE_PARAMETER_INDEX_MAX,
    CompiledModule,
    DatatypeToken,
    FieldDefinition,
    FunctionDefinition,
    Instruction,
    OperandKind,
    SignatureToken,
    TypeParameterToken,
    VecOperand,
    preorder,
)
from nexus_tools.sui.localnet.verifier.errors import VerificationError

# The columns of each table that contain indices, with the tables to which the indices refer.
_INDICES = {
    "module_handles": {"address": "addresses", "name": "identifiers"},
    "friends": {"address": "addresses", "name": "identifiers"},
    "datatype_handles": {"module": "module_handles", "name": "identifiers"},
    "function_handles": {
        "module": "module_handles",
        "name": "identifiers",
        "parameters": "signatures",
        "returns": "signatures",
    },
    "struct_definitions": {"handle": "datatype_handles"},
    "enum_definitions": {"handle": "datatype_handles"},
    "function_definitions": {"handle": "function_handles"},
    "field_handles": {"struct": "struct_definitions"},
    "variant_handles": {"enum": "enum_definitions"},
    "struct_instantiations": {"target": "struct_definitions", "type_arguments": "signatures"},
    "enum_instantiations": {"target": "enum_definitions", "type_arguments": "signatures"},
    "field_instantiations": {"target": "field_handles", "type_arguments": "signatures"},
    "function_instantiations": {"target": "function_handles", "type_arguments": "signatures"},
    "variant_instantiations": {"enum": "enum_instantiations"},
}


def verify_bounds(module: CompiledModule) -> None:
    """Raise `VerificationError` for an index that does not refer to an existing row."""
    _Bounds(module).verify()


class _Bounds:
    def __init__(self, module: CompiledModule) -> None:
        self._module = module
        # The name of the module is looked up by index, so it is available only after the first
        # checks.
        self._name = "<unknown>"

    def verify(self) -> None:
        module = self._module
        self._index(module.self_handle, "module_handles")
        for table, columns in _INDICES.items():
            for row in getattr(module, table):
                for column, target in columns.items():
                    self._index(getattr(row, column), target)
        self._name = module.name
        self._verify_members()
        arities = [max(map(self._arity, row), default=0) for row in module.signatures]
        for constant in module.constants:
            self._arity(constant.type)
        self._verify_functions(arities)
        self._verify_datatypes()
        for function in module.function_definitions:
            for acquired in function.acquires:
                self._index(acquired, "struct_definitions")
            if function.code is not None:
                CodeBounds(module, function, arities).verify()

    def _refused(self, status: str, message: str) -> VerificationError:
        return VerificationError(status, message, self._name)

    def _index(self, index: int, table: str) -> None:
        self._within(index, len(getattr(self._module, table)), table)

    def _within(self, index: int, count: int, table: str) -> None:
        if not 0 <= index < count:
            message = f"{table} has no row {index}, because it has only {count} rows"
            raise self._refused("INDEX_OUT_OF_BOUNDS", message)

    def _verify_members(self) -> None:
        """Check that fields and variants are members of their struct or enum."""
        module = self._module
        for field in module.field_handles:
            fields = module.struct_definitions[field.struct].fields or ()
            self._within(field.field, len(fields), "a struct")
        for variant in module.variant_handles:
            variants = module.enum_definitions[variant.enum].variants
            self._within(variant.tag, len(variants), "an enum")
        for variant in module.variant_instantiations:
            enum = module.enum_instantiations[variant.enum].target
            variants = module.enum_definitions[enum].variants
            self._within(variant.tag, len(variants), "an enum")

    def _arity(self, token: SignatureToken) -> int:
        """Check the indices in a type, and return the number of type parameters that it requires.

        The result for `Map<T0, vector<T2>>` is 3.
        """
        if isinstance(token, str) and token in PRIMITIVES:
            return 0
        arity = 0
        for node in preorder(token):
            if isinstance(node, TypeParameterToken):
                arity = max(arity, node.index + 1)
                self._within(node.index, TYPE_PARAMETER_INDEX_MAX, "the type parameters")
            elif isinstance(node, DatatypeToken):
                self._verify_arguments(node)
            elif isinstance(node, str) and node not in PRIMITIVES:
                raise self._refused("INVALID_SIGNATURE_TOKEN", f"the type {node} does not exist")
        return arity

    def _declared(self, arity: int, type_parameters: int) -> None:
        if arity > type_parameters:
            message = f"type parameter {arity - 1} is used, but only {type_parameters} are declared"
            raise self._refused("INDEX_OUT_OF_BOUNDS", message)

    def _verify_arguments(self, token: DatatypeToken) -> None:
        self._index(token.handle, "datatype_handles")
        expected = len(self._module.datatype_handles[token.handle].type_parameters)
        if len(token.type_arguments) != expected:
            message = f"expected {expected} type arguments, got {len(token.type_arguments)}"
            raise self._refused("NUMBER_OF_TYPE_ARGUMENTS_MISMATCH", message)

    def _verify_functions(self, arities: Sequence[int]) -> None:
        module = self._module
        for row in module.function_handles:
            for signature in (row.parameters, row.returns):
                self._declared(arities[signature], len(row.type_parameters))
        for function in module.function_definitions:
            if function.code is None:
                continue
            handle = module.function_handles[function.handle]
            local_types = function.code.locals
            self._index(local_types, "signatures")
            count = len(module.signatures[handle.parameters]) + len(module.signatures[local_types])
            if count > LOCALS_COUNT_MAX:
                raise self._refused("TOO_MANY_LOCALS", f"a function has {count} locals")
            self._declared(arities[local_types], len(handle.type_parameters))

    def _verify_datatypes(self) -> None:
        for struct in self._module.struct_definitions:
            self._verify_fields(struct.handle, struct.fields or ())
        for enum in self._module.enum_definitions:
            for variant in enum.variants:
                self._index(variant.name, "identifiers")
                self._verify_fields(enum.handle, variant.fields)

    def _verify_fields(self, handle: int, fields: Iterable[FieldDefinition]) -> None:
        parameter_count = len(self._module.datatype_handles[handle].type_parameters)
        for field in fields:
            self._index(field.name, "identifiers")
            self._declared(self._arity(field.type), parameter_count)


class CodeBounds:
    """The bounds check of one function's code."""

    def __init__(
        self, module: CompiledModule, function: FunctionDefinition, arities: Sequence[int]
    ) -> None:
        """Store the function. `arities` has the number of type parameters of each signature."""
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
        """Raise `VerificationError` for an operand that is out of bounds."""
        for offset, instruction in enumerate(self._code.instructions):
            kind = OPERAND_KINDS.get(instruction.opcode)
            if kind is not None:
                self._verify_operand(kind, instruction, offset)
        for table in self._code.jump_tables:
            self._within(table.enum, len(self._module.enum_definitions), "enum_definitions", 0)
            if len(table.offsets) != len(self._module.enum_definitions[table.enum].variants):
                message = "a jump table does not have one branch for each variant"
                raise self._refused("INVALID_ENUM_SWITCH", message, 0)
            for target in table.offsets:
                self._within(target, len(self._code.instructions), "the code", 0)

    def _refused(self, status: str, message: str, offset: int) -> VerificationError:
        return VerificationError(status, message, self._module.name, self._name, offset)

    def _within(self, index: int, count: int, table: str, offset: int) -> None:
        if not 0 <= index < count:
            message = f"{table} has no row {index}, because it has only {count} rows"
            raise self._refused("INDEX_OUT_OF_BOUNDS", message, offset)

    def _verify_operand(self, kind: OperandKind, instruction: Instruction, offset: int) -> None:
        operand = instruction.operand
        if kind is OperandKind.ELEMENTS:
            if not isinstance(operand, VecOperand):
                raise self._refused("MALFORMED", "the operand lacks a type or a length", offset)
            self._verify_type_arguments(operand.type, offset)
            return
        if not isinstance(operand, int):
            raise self._refused("MALFORMED", "the operand is not a number", offset)
        if kind is OperandKind.ELEMENT:
            self._verify_type_arguments(operand, offset)
        elif kind is OperandKind.LITERAL:
            bits = 8 * LITERAL_BYTES[instruction.opcode]
            self._within(operand, 1 << bits, "the type", offset)
        else:
            self._within(operand, self._count(kind), kind, offset)
            self._verify_instantiation(kind, operand, offset)

    def _count(self, kind: OperandKind) -> int:
        if kind is OperandKind.BRANCH:
            return len(self._code.instructions)
        if kind is OperandKind.LOCAL:
            return self._locals
        if kind is OperandKind.JUMP_TABLE:
            return len(self._code.jump_tables)
        return len(getattr(self._module, kind))

    def _verify_instantiation(self, kind: OperandKind, operand: int, offset: int) -> None:
        module = self._module
        if kind is OperandKind.VARIANT_INSTANTIATION:
            enum = module.enum_instantiations[module.variant_instantiations[operand].enum]
            self._verify_type_arguments(enum.type_arguments, offset)
        elif kind.is_instantiation:
            self._verify_type_arguments(getattr(module, kind)[operand].type_arguments, offset)

    def _verify_type_arguments(self, signature: int, offset: int) -> None:
        self._within(signature, len(self._module.signatures), "signatures", offset)
        if self._arities[signature] > self._type_parameters:
            message = "the function does not have the type parameter"
            raise self._refused("INDEX_OUT_OF_BOUNDS", message, offset)
