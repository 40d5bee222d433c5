"""The type rules of the instructions on structs, enums and vectors."""

from collections.abc import Callable

from nexus_tools.sui.bytecode import (
    U64,
    CompiledModule,
    DatatypeToken,
    Opcode,
    ReferenceToken,
    SignatureToken,
    VecOperand,
    VectorToken,
)
from nexus_tools.sui.localnet.verifier.type_table import (
    NO_ARGUMENTS,
    NamedVariant,
    instantiated_variant,
    variant_of,
)
from nexus_tools.sui.localnet.verifier.types.type_checker import TypeChecker

Rule = Callable[[TypeChecker, object], None]
_Named = Callable[[CompiledModule, int], NamedVariant]

_PACK = "PACK_TYPE_MISMATCH_ERROR"
_UNPACK = "UNPACK_TYPE_MISMATCH_ERROR"
_BORROW = "BORROWFIELD_TYPE_MISMATCH_ERROR"


def _struct(_: TypeChecker, operand: object) -> tuple[int, int]:
    """Return the indices of the struct definition and of the signature with its type arguments."""
    assert isinstance(operand, int)
    return operand, NO_ARGUMENTS


def _struct_generic(checker: TypeChecker, operand: object) -> tuple[int, int]:
    assert isinstance(operand, int)
    row = checker.module.struct_instantiations[operand]
    return row.target, row.type_arguments


def _pack(resolve: Callable[[TypeChecker, object], tuple[int, int]]) -> Rule:
    def rule(checker: TypeChecker, operand: object) -> None:
        struct, arguments = resolve(checker, operand)
        definition = checker.module.struct_definitions[struct]
        if definition.fields is None:
            raise checker.refused(_PACK, "a native struct has no fields")
        checker.pop_all(checker.field_types(definition.fields), arguments, _PACK)
        checker.push(checker.datatype(definition.handle, arguments))

    return rule


def _unpack(resolve: Callable[[TypeChecker, object], tuple[int, int]]) -> Rule:
    def rule(checker: TypeChecker, operand: object) -> None:
        struct, arguments = resolve(checker, operand)
        definition = checker.module.struct_definitions[struct]
        if checker.stack.pop() is not checker.datatype(definition.handle, arguments):
            raise checker.refused(_UNPACK, "the value is not of this struct type")
        if definition.fields is None:
            raise checker.refused(_PACK, "a native struct has no fields")
        checker.push_all(checker.field_types(definition.fields), arguments)

    return rule


def _borrow_field(*, mutable: bool) -> Rule:
    def rule(checker: TypeChecker, operand: object) -> None:
        assert isinstance(operand, int)
        _borrow(checker, operand, NO_ARGUMENTS, mutable=mutable)

    return rule


def _borrow_field_generic(*, mutable: bool) -> Rule:
    def rule(checker: TypeChecker, operand: object) -> None:
        assert isinstance(operand, int)
        row = checker.module.field_instantiations[operand]
        _borrow(checker, row.target, row.type_arguments, mutable=mutable)

    return rule


def _borrow(checker: TypeChecker, field: int, arguments: int, *, mutable: bool) -> None:
    operand = checker.stack.pop()
    handle = checker.module.field_handles[field]
    definition = checker.module.struct_definitions[handle.struct]
    if not isinstance(operand, ReferenceToken) or (mutable and not operand.mutable):
        kind = "a mutable reference" if mutable else "a reference"
        raise checker.refused(_BORROW, f"the value is not {kind}")
    if operand.target is not checker.datatype(definition.handle, arguments):
        raise checker.refused(_BORROW, "the reference has another target type")
    if definition.fields is None:
        raise checker.refused("BORROWFIELD_BAD_FIELD_ERROR", "a native struct has no fields")
    field_type = checker.types.intern(definition.fields[handle.field].type)
    type_ = checker.types.substitute(field_type, arguments)
    checker.charge(type_)
    checker.push(checker.types.reference(type_, mutable=mutable))


def _pack_variant(resolve: _Named) -> Rule:
    def rule(checker: TypeChecker, operand: object) -> None:
        assert isinstance(operand, int)
        variant = resolve(checker.module, operand)
        types = checker.field_types(variant.definition.fields)
        checker.pop_all(types, variant.type_arguments, _PACK)
        handle = checker.module.enum_definitions[variant.enum].handle
        checker.push(checker.datatype(handle, variant.type_arguments))

    return rule


def _unpack_variant(resolve: _Named) -> Rule:
    def rule(checker: TypeChecker, operand: object) -> None:
        assert isinstance(operand, int)
        variant = resolve(checker.module, operand)
        handle = checker.module.enum_definitions[variant.enum].handle
        if checker.stack.pop() is not checker.datatype(handle, variant.type_arguments):
            raise checker.refused(_UNPACK, "the value is not of this enum type")
        types = checker.field_types(variant.definition.fields)
        checker.push_all(types, variant.type_arguments)

    return rule


def _unpack_variant_reference(resolve: _Named, *, mutable: bool) -> Rule:
    def rule(checker: TypeChecker, operand: object) -> None:
        assert isinstance(operand, int)
        variant = resolve(checker.module, operand)
        reference = checker.stack.pop()
        if not isinstance(reference, ReferenceToken) or reference.mutable is not mutable:
            kind = "a mutable reference" if mutable else "an immutable reference"
            raise checker.refused(_UNPACK, f"the value is not {kind}")
        handle = checker.module.enum_definitions[variant.enum].handle
        if reference.target is not checker.datatype(handle, variant.type_arguments):
            raise checker.refused(_UNPACK, "the reference has another target type")
        for field_type in checker.field_types(variant.definition.fields):
            type_ = checker.types.substitute(field_type, variant.type_arguments)
            checker.charge(type_)
            checker.push(checker.types.reference(type_, mutable=mutable))

    return rule


def _switch(checker: TypeChecker, operand: object) -> None:
    assert isinstance(operand, int)
    table = checker.context.code.jump_tables[operand]
    enum = checker.module.enum_definitions[table.enum]
    reference = checker.stack.pop()
    if not isinstance(reference, ReferenceToken) or reference.mutable:
        message = "the value is not an immutable reference"
        raise checker.refused("ENUM_SWITCH_BAD_OPERAND", message)
    target = reference.target
    if not isinstance(target, DatatypeToken) or target.handle != enum.handle:
        raise checker.refused("ENUM_TYPE_MISMATCH", "the reference has another target type")
    if len(table.offsets) != len(enum.variants):
        message = "a jump table does not have one branch for each variant"
        raise checker.refused("INVALID_ENUM_SWITCH", message)


DATATYPE_RULES: dict[Opcode, Rule] = {
    Opcode.PACK: _pack(_struct),
    Opcode.PACK_GENERIC: _pack(_struct_generic),
    Opcode.UNPACK: _unpack(_struct),
    Opcode.UNPACK_GENERIC: _unpack(_struct_generic),
    Opcode.MUT_BORROW_FIELD: _borrow_field(mutable=True),
    Opcode.IMM_BORROW_FIELD: _borrow_field(mutable=False),
    Opcode.MUT_BORROW_FIELD_GENERIC: _borrow_field_generic(mutable=True),
    Opcode.IMM_BORROW_FIELD_GENERIC: _borrow_field_generic(mutable=False),
    Opcode.PACK_VARIANT: _pack_variant(variant_of),
    Opcode.PACK_VARIANT_GENERIC: _pack_variant(instantiated_variant),
    Opcode.UNPACK_VARIANT: _unpack_variant(variant_of),
    Opcode.UNPACK_VARIANT_GENERIC: _unpack_variant(instantiated_variant),
    Opcode.UNPACK_VARIANT_IMM_REF: _unpack_variant_reference(variant_of, mutable=False),
    Opcode.UNPACK_VARIANT_MUT_REF: _unpack_variant_reference(variant_of, mutable=True),
    Opcode.UNPACK_VARIANT_GENERIC_IMM_REF: _unpack_variant_reference(
        instantiated_variant, mutable=False
    ),
    Opcode.UNPACK_VARIANT_GENERIC_MUT_REF: _unpack_variant_reference(
        instantiated_variant, mutable=True
    ),
    Opcode.VARIANT_SWITCH: _switch,
}


_VECTOR = "TYPE_MISMATCH"


def _element(checker: TypeChecker, operand: object) -> SignatureToken:
    assert isinstance(operand, int)
    return checker.types.signature(operand)[0]


def _pop_vector(checker: TypeChecker, element: SignatureToken, *, mutable: bool) -> None:
    if checker.pop_vector(mutable=mutable) is not element:
        raise checker.refused(_VECTOR, "the value is not a suitable reference to this vector type")


def _pop_exactly(checker: TypeChecker, type_: SignatureToken) -> None:
    if checker.stack.pop() is not type_:
        raise checker.refused(_VECTOR, "a value on the stack has another type")


def _pack_vector(checker: TypeChecker, operand: object) -> None:
    assert isinstance(operand, VecOperand)
    element = checker.types.signature(operand.type)[0]
    for _ in range(operand.length):
        _pop_exactly(checker, element)
    checker.charge(element)
    checker.push(checker.types.vector(element))


def _unpack_vector(checker: TypeChecker, operand: object) -> None:
    assert isinstance(operand, VecOperand)
    element = checker.types.signature(operand.type)[0]
    vector = checker.stack.pop()
    if not isinstance(vector, VectorToken) or vector.element is not element:
        raise checker.refused(_VECTOR, "the value is not of this vector type")
    checker.charge(element)
    checker.push(element, operand.length)


def _length(checker: TypeChecker, operand: object) -> None:
    _pop_vector(checker, _element(checker, operand), mutable=False)
    checker.push(U64)


def _borrow_element(*, mutable: bool) -> Callable[[TypeChecker, object], None]:
    def rule(checker: TypeChecker, operand: object) -> None:
        element = _element(checker, operand)
        _pop_exactly(checker, U64)
        _pop_vector(checker, element, mutable=mutable)
        checker.push(checker.types.reference(element, mutable=mutable))

    return rule


def _push_back(checker: TypeChecker, operand: object) -> None:
    element = _element(checker, operand)
    _pop_exactly(checker, element)
    _pop_vector(checker, element, mutable=True)


def _pop_back(checker: TypeChecker, operand: object) -> None:
    element = _element(checker, operand)
    _pop_vector(checker, element, mutable=True)
    checker.push(element)


def _swap(checker: TypeChecker, operand: object) -> None:
    _pop_exactly(checker, U64)
    _pop_exactly(checker, U64)
    _pop_vector(checker, _element(checker, operand), mutable=True)


VECTOR_RULES: dict[Opcode, Callable[[TypeChecker, object], None]] = {
    Opcode.VEC_PACK: _pack_vector,
    Opcode.VEC_UNPACK: _unpack_vector,
    Opcode.VEC_LEN: _length,
    Opcode.VEC_IMM_BORROW: _borrow_element(mutable=False),
    Opcode.VEC_MUT_BORROW: _borrow_element(mutable=True),
    Opcode.VEC_PUSH_BACK: _push_back,
    Opcode.VEC_POP_BACK: _pop_back,
    Opcode.VEC_SWAP: _swap,
}
