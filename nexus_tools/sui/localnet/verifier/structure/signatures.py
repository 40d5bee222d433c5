"""The check that types contain no references and that type arguments have the required abilities.

Fields must have the abilities that their datatype requires. Source:
`move-bytecode-verifier/src/{signature,ability_field_requirements}.rs`.
"""

from collections.abc import Iterable, Sequence

from nexus_tools.sui.bytecode import (
    ALL,
    OPERAND_KINDS,
    CompiledModule,
    DatatypeToken,
    DatatypeTypeParameter,
    FieldDefinition,
    FunctionDefinition,
    Instruction,
    OperandKind,
    ReferenceToken,
    SignatureToken,
    TypeParameterToken,
    VecOperand,
    VectorToken,
    preorder,
    required_part_abilities,
)
from nexus_tools.sui.localnet.verifier.errors import VerificationError
from nexus_tools.sui.localnet.verifier.type_table import Abilities, TypeTable

_ELEMENTS = frozenset({OperandKind.ELEMENT, OperandKind.ELEMENTS})


def verify_signatures(module: CompiledModule, types: TypeTable) -> None:
    """Raise `VerificationError` for an invalid type in a signature, a field or the code."""
    _Signatures(module, types).verify()


class _Signatures:
    def __init__(self, module: CompiledModule, types: TypeTable) -> None:
        self._module = module
        self._types = types
        self._instantiated: set[tuple[int, tuple[int, ...]]] = set()
        self._without_references: set[int] = set()
        self._applied: set[tuple[OperandKind, int, tuple[int, ...]]] = set()
        self._function: str | None = None
        self._offset: int | None = None

    def verify(self) -> None:
        for signature in self._module.signatures:
            for token in signature:
                inner = token.target if isinstance(token, ReferenceToken) else token
                self._refuse_references(inner)
        for handle in self._module.function_handles:
            type_parameters = tuple(map(int, handle.type_parameters))
            self._verify_instantiations(handle.returns, type_parameters)
            self._verify_instantiations(handle.parameters, type_parameters)
        self._verify_datatypes()
        for function in self._module.function_definitions:
            self._verify_code(function)

    def _refused(self, status: str, message: str) -> VerificationError:
        return VerificationError(status, message, self._module.name, self._function, self._offset)

    def _refuse_references(self, token: SignatureToken) -> None:
        if not isinstance(token, str) and any(
            isinstance(node, ReferenceToken) for node in preorder(token)
        ):
            raise self._refused("INVALID_SIGNATURE_TOKEN", "a type contains a reference")

    def _verify_instantiations(self, signature: int, type_parameters: tuple[int, ...]) -> None:
        if (signature, type_parameters) in self._instantiated:
            return
        abilities = self._types.abilities(type_parameters)
        for token in self._types.signature(signature):
            self._verify_type(token, abilities)
        self._instantiated.add((signature, type_parameters))

    def _verify_type(self, token: SignatureToken, abilities: Abilities) -> None:
        if isinstance(token, str):
            return
        for node in preorder(token):
            if isinstance(node, DatatypeToken) and node.type_arguments:
                constraints = self._constraints(node.handle)
                self._verify_arguments(node.type_arguments, constraints, abilities)

    def _constraints(self, datatype: int) -> tuple[int, ...]:
        parameters = self._module.datatype_handles[datatype].type_parameters
        return tuple([int(parameter.constraints) for parameter in parameters])

    def _verify_arguments(
        self, arguments: Sequence[SignatureToken], constraints: Sequence[int], abilities: Abilities
    ) -> None:
        if len(arguments) != len(constraints):
            message = f"expected {len(constraints)} type arguments, got {len(arguments)}"
            raise self._refused("NUMBER_OF_TYPE_ARGUMENTS_MISMATCH", message)
        for argument, constraint in zip(arguments, constraints, strict=True):
            if constraint & ~abilities.of(argument):
                message = "a type argument lacks a required ability"
                raise self._refused("CONSTRAINT_NOT_SATISFIED", message)

    def _verify_datatypes(self) -> None:
        for struct in self._module.struct_definitions:
            self._verify_fields(struct.handle, struct.fields or ())
        for enum in self._module.enum_definitions:
            for variant in enum.variants:
                self._verify_fields(enum.handle, variant.fields)

    def _verify_fields(self, handle: int, fields: Iterable[FieldDefinition]) -> None:
        parameters = self._module.datatype_handles[handle].type_parameters
        abilities = self._types.abilities(self._constraints(handle))
        for field in fields:
            self._refuse_references(field.type)
            self._verify_type(self._types.intern(field.type), abilities)
            self._verify_phantom(field.type, parameters)

    def _verify_phantom(
        self, token: SignatureToken, parameters: tuple[DatatypeTypeParameter, ...]
    ) -> None:
        """Check that a phantom type parameter is used only as a phantom type argument.

        For example, with `struct Coin<phantom T>`, `struct Purse<phantom T> { coin: Coin<T> }` is
        allowed, and `struct Purse<phantom T> { value: T }` is rejected.
        """
        if isinstance(token, VectorToken):
            self._verify_phantom(token.element, parameters)
        elif isinstance(token, TypeParameterToken):
            if parameters[token.index].is_phantom:
                message = "a phantom type parameter is the type of a value"
                raise self._refused("INVALID_PHANTOM_TYPE_PARAM_POSITION", message)
        elif isinstance(token, DatatypeToken):
            type_parameters = self._module.datatype_handles[token.handle].type_parameters
            for argument, type_parameter in zip(token.type_arguments, type_parameters, strict=True):
                if type_parameter.is_phantom and isinstance(argument, TypeParameterToken):
                    continue
                self._verify_phantom(argument, parameters)

    def _verify_code(self, function: FunctionDefinition) -> None:
        if function.code is None:
            return
        handle = self._module.function_handles[function.handle]
        self._function = self._module.identifiers[handle.name]
        type_parameters = tuple(map(int, handle.type_parameters))
        self._verify_instantiations(function.code.locals, type_parameters)
        for offset, instruction in enumerate(function.code.instructions):
            self._offset = offset
            self._verify_instruction(instruction, type_parameters)
        self._function = self._offset = None

    def _verify_instruction(
        self, instruction: Instruction, type_parameters: tuple[int, ...]
    ) -> None:
        kind = OPERAND_KINDS.get(instruction.opcode)
        if kind is None:
            return
        operand = instruction.operand
        if kind in _ELEMENTS:
            self._verify_element(operand.type if isinstance(operand, VecOperand) else operand)
        elif kind.is_instantiation:
            assert isinstance(operand, int)
            key = (kind, operand, type_parameters)
            if key not in self._applied:
                self._verify_application(kind, operand, type_parameters)
                self._applied.add(key)

    def _verify_element(self, signature: int | None) -> None:
        assert signature is not None
        count = len(self._module.signatures[signature])
        if count != 1:
            message = f"expected one element type of a vector, got {count}"
            raise self._refused("NUMBER_OF_TYPE_ARGUMENTS_MISMATCH", message)
        self._refuse_references_in(signature)

    def _refuse_references_in(self, signature: int) -> None:
        if signature not in self._without_references:
            for token in self._module.signatures[signature]:
                self._refuse_references(token)
            self._without_references.add(signature)

    def _verify_application(
        self, kind: OperandKind, operand: int, type_parameters: tuple[int, ...]
    ) -> None:
        """Check the type arguments of an instruction against the constraints on them."""
        signature, constraints = self._applied_to(kind, operand)
        self._refuse_references_in(signature)
        abilities = self._types.abilities(type_parameters)
        self._verify_arguments(self._types.signature(signature), constraints, abilities)

    def _applied_to(self, kind: OperandKind, operand: int) -> tuple[int, tuple[int, ...]]:
        """Return the signature with the type arguments, and the type arguments' constraints."""
        module = self._module
        if kind is OperandKind.VARIANT_INSTANTIATION:
            enum = module.enum_instantiations[module.variant_instantiations[operand].enum]
            handle = module.enum_definitions[enum.target].handle
            return enum.type_arguments, self._constraints(handle)
        row = getattr(module, kind)[operand]
        if kind is OperandKind.FUNCTION_INSTANTIATION:
            abilities = module.function_handles[row.target].type_parameters
            return row.type_arguments, tuple(map(int, abilities))
        struct = row.target
        if kind is OperandKind.FIELD_INSTANTIATION:
            struct = module.field_handles[struct].struct
        handle = module.struct_definitions[struct].handle
        return row.type_arguments, self._constraints(handle)


def verify_field_abilities(module: CompiledModule, types: TypeTable) -> None:
    """Raise `VerificationError` for a field without a required ability."""
    for struct in module.struct_definitions:
        _verify_abilities(module, types, struct.handle, struct.fields or ())
    for enum in module.enum_definitions:
        for variant in enum.variants:
            _verify_abilities(module, types, enum.handle, variant.fields)


def _verify_abilities(
    module: CompiledModule, types: TypeTable, handle: int, fields: Iterable[FieldDefinition]
) -> None:
    datatype = module.datatype_handles[handle]
    # Each ability of a struct requires that its fields have the same ability. Only `key` requires
    # `store` of the fields.
    required = required_part_abilities(int(datatype.abilities))
    # The abilities of type arguments are checked where the datatype is instantiated.
    abilities = types.abilities((ALL,) * len(datatype.type_parameters))
    for field in fields:
        if required & ~abilities.of(types.intern(field.type)):
            name = module.identifiers[datatype.name]
            message = f"the field {module.identifiers[field.name]} of {name} lacks an ability"
            raise VerificationError("FIELD_MISSING_TYPE_ABILITY", message, module.name)
