"""The rules for each instruction that uses references: its requirements and its effects."""

from collections.abc import Callable

from nexus_tools.sui.bytecode import CompiledModule, Opcode, ReferenceToken
from nexus_tools.sui.localnet.verifier.references.borrow_graph import Label
from nexus_tools.sui.localnet.verifier.references.reference_state import (
    VALUE,
    ReferenceChecker,
    local_label,
)
from nexus_tools.sui.localnet.verifier.type_table import (
    NamedVariant,
    instantiated_variant,
    variant_of,
)

Rule = Callable[[ReferenceChecker, object], None]

_FIELD_STATUS = "FIELD_EXISTS_MUTABLE_BORROW_ERROR"
_READ_STATUS = "READREF_EXISTS_MUTABLE_BORROW_ERROR"


def _drop(checker: ReferenceChecker, _: object) -> None:
    checker.state.release(checker.stack.pop())


def _copy(checker: ReferenceChecker, operand: object) -> None:
    assert isinstance(operand, int)
    state = checker.state
    value = state.locals[operand]
    if value != VALUE:
        # If a `&mut` is copied, the original must not be used until the copy is dropped.
        value = state.copied(value, mutable=state.graph.is_mutable(value))
    elif state.is_local_borrowed(operand, mutably=True):
        message = f"local {operand} is mutably borrowed"
        raise checker.refused("COPYLOC_EXISTS_BORROW_ERROR", message)
    checker.stack.append(value)


def _move(checker: ReferenceChecker, operand: object) -> None:
    assert isinstance(operand, int)
    state = checker.state
    value = state.locals[operand]
    state.locals[operand] = VALUE
    if value == VALUE and state.is_local_borrowed(operand, mutably=False):
        message = f"local {operand} is borrowed"
        raise checker.refused("MOVELOC_EXISTS_BORROW_ERROR", message)
    checker.stack.append(value)


def _store(checker: ReferenceChecker, operand: object) -> None:
    assert isinstance(operand, int)
    state = checker.state
    old = state.locals[operand]
    state.locals[operand] = checker.stack.pop()
    if old != VALUE:
        state.release(old)
    elif state.is_local_borrowed(operand, mutably=False):
        message = f"local {operand} is borrowed"
        raise checker.refused("STLOC_UNSAFE_TO_DESTROY_ERROR", message)


def _freeze(checker: ReferenceChecker, _: object) -> None:
    ref = checker.stack.pop()
    if not checker.state.is_readable(ref):
        message = "the target of the reference is mutably borrowed"
        raise checker.refused("FREEZEREF_EXISTS_MUTABLE_BORROW_ERROR", message)
    # The frozen reference replaces the mutable reference. Borrows from the mutable reference become
    # borrows from the frozen reference.
    checker.stack.append(checker.state.copied(ref, mutable=False))
    checker.state.release(ref)


def _equality(checker: ReferenceChecker, _: object) -> None:
    operands = checker.stack.pop(), checker.stack.pop()
    for value in operands:
        if value != VALUE and not checker.state.is_readable(value):
            raise checker.refused(_READ_STATUS, "a compared value is mutably borrowed")
    for value in operands:
        checker.state.release(value)
    checker.stack.append(VALUE)


def _read(checker: ReferenceChecker, _: object) -> None:
    ref = checker.stack.pop()
    if not checker.state.is_readable(ref):
        raise checker.refused(_READ_STATUS, "the value to read is mutably borrowed")
    checker.state.release(ref)
    checker.stack.append(VALUE)


def _write(checker: ReferenceChecker, _: object) -> None:
    ref = checker.stack.pop()
    checker.stack.pop()
    if not checker.state.is_writable(ref):
        message = "the target of the write is borrowed"
        raise checker.refused("WRITEREF_EXISTS_BORROW_ERROR", message)
    checker.state.release(ref)


def _borrow_local(*, mutable: bool) -> Rule:
    def rule(checker: ReferenceChecker, operand: object) -> None:
        assert isinstance(operand, int)
        state = checker.state
        # All earlier borrows of a local become borrows from the new mutable reference. So code
        # cannot write through the new reference while one of the earlier references is in use.
        if not mutable and state.is_local_borrowed(operand, mutably=True):
            message = f"local {operand} is mutably borrowed"
            raise checker.refused("BORROWLOC_EXISTS_BORROW_ERROR", message)
        ref = state.borrowed_at(state.frame, local_label(operand), mutable=mutable)
        checker.stack.append(ref)

    return rule


def _refuse_part(
    checker: ReferenceChecker, ref: int, label: Label | None, *, mutable: bool
) -> None:
    """Raise `VerificationError` if a reference to a part of the target of `ref` is not allowed."""
    # `&mut s.a` and `&mut s.b` may exist together. Only a reference to s itself, or to an unknown
    # part of s, prevents another mutable reference.
    if mutable:
        is_refused = checker.state.graph.is_fully_borrowed(ref)
    else:
        is_refused = not checker.state.is_readable(ref, label)
    if is_refused:
        raise checker.refused(_FIELD_STATUS, "the value whose part is borrowed is already borrowed")


def _borrow_field(checker: ReferenceChecker, field: int, *, mutable: bool) -> None:
    ref = checker.stack.pop()
    label: Label = ("field", field)
    _refuse_part(checker, ref, label, mutable=mutable)
    checker.stack.append(checker.state.borrowed_at(ref, label, mutable=mutable))
    checker.state.release(ref)


def _field(*, mutable: bool) -> Rule:
    def rule(checker: ReferenceChecker, operand: object) -> None:
        assert isinstance(operand, int)
        _borrow_field(checker, operand, mutable=mutable)

    return rule


def _field_generic(*, mutable: bool) -> Rule:
    def rule(checker: ReferenceChecker, operand: object) -> None:
        assert isinstance(operand, int)
        field = checker.module.field_instantiations[operand].target
        _borrow_field(checker, field, mutable=mutable)

    return rule


def _unpack_variant(
    resolve: Callable[[CompiledModule, int], NamedVariant], *, mutable: bool
) -> Rule:
    def rule(checker: ReferenceChecker, operand: object) -> None:
        assert isinstance(operand, int)
        variant = resolve(checker.module, operand)
        ref = checker.stack.pop()
        _refuse_part(checker, ref, None, mutable=mutable)
        for position in range(len(variant.definition.fields)):
            label: Label = ("variant", variant.enum, variant.tag, position)
            checker.stack.append(checker.state.borrowed_at(ref, label, mutable=mutable))
        checker.state.release(ref)

    return rule


def _call(checker: ReferenceChecker, operand: object) -> None:
    assert isinstance(operand, int)
    _call_function(checker, operand)


def _call_generic(checker: ReferenceChecker, operand: object) -> None:
    assert isinstance(operand, int)
    _call_function(checker, checker.module.function_instantiations[operand].target)


def _call_function(checker: ReferenceChecker, function: int) -> None:
    """Pop a call's arguments and push its results, which may point into the arguments.

    A mutable result points into a mutable argument. For example, `fun f(a: &mut S, b: &T): &mut
    u64` can only return a reference into a. During the call, no other reference to the target of a
    mutable argument may exist.
    """
    state, signatures = checker.state, checker.module.signatures
    handle = checker.module.function_handles[function]
    first = len(checker.stack) - len(signatures[handle.parameters])
    references = [value for value in checker.stack[first:] if value != VALUE]
    del checker.stack[first:]
    mutable = [ref for ref in references if state.graph.is_mutable(ref)]
    for ref in mutable:
        if not state.is_writable(ref):
            message = "the target of a mutable argument is borrowed"
            raise checker.refused("CALL_BORROWED_MUTABLE_REFERENCE_ERROR", message)
    for type_ in signatures[handle.returns]:
        value = VALUE
        if isinstance(type_, ReferenceToken):
            sources = mutable if type_.mutable else references
            value = state.borrowed_from(sources, mutable=type_.mutable)
        checker.stack.append(value)
    for ref in references:
        state.release(ref)


def _return(checker: ReferenceChecker, _: object) -> None:
    state = checker.state
    for value in state.locals:
        state.release(value)
    state.charge_graph()
    if state.graph.is_borrowed(state.frame):
        message = "a reference to a local is returned"
        raise checker.refused("UNSAFE_RET_LOCAL_OR_RESOURCE_STILL_BORROWED", message)
    for value in checker.stack:
        if value != VALUE and state.graph.is_mutable(value) and not state.is_writable(value):
            message = "the target of a returned mutable reference is borrowed"
            raise checker.refused("RET_BORROWED_MUTABLE_REFERENCE_ERROR", message)
    checker.stack.clear()


def _vector(values: int, *, writes: bool, result: bool) -> Rule:
    """Return the rule of a vector instruction that takes a reference and `values` more operands."""

    def rule(checker: ReferenceChecker, _: object) -> None:
        del checker.stack[len(checker.stack) - values :]
        ref = checker.stack.pop()
        if writes and not checker.state.is_writable(ref):
            message = "the vector is borrowed"
            raise checker.refused("VEC_UPDATE_EXISTS_MUTABLE_BORROW_ERROR", message)
        checker.state.release(ref)
        if result:
            checker.stack.append(VALUE)

    return rule


# Elements have no labels, because an index is known only at run time. A reference to an element
# borrows from the whole vector, so `&mut v[0]` and `&mut v[1]` exclude each other.
def _element(*, mutable: bool) -> Rule:
    def rule(checker: ReferenceChecker, _: object) -> None:
        checker.stack.pop()
        ref = checker.stack.pop()
        if mutable and not checker.state.is_writable(ref):
            message = "the vector is borrowed"
            status = "VEC_BORROW_ELEMENT_EXISTS_MUTABLE_BORROW_ERROR"
            raise checker.refused(status, message)
        checker.stack.append(checker.state.borrowed_from([ref], mutable=mutable))
        checker.state.release(ref)

    return rule


REFERENCE_RULES: dict[Opcode, Rule] = {
    Opcode.POP: _drop,
    Opcode.VARIANT_SWITCH: _drop,
    Opcode.RET: _return,
    Opcode.COPY_LOC: _copy,
    Opcode.MOVE_LOC: _move,
    Opcode.ST_LOC: _store,
    Opcode.MUT_BORROW_LOC: _borrow_local(mutable=True),
    Opcode.IMM_BORROW_LOC: _borrow_local(mutable=False),
    Opcode.FREEZE_REF: _freeze,
    Opcode.EQ: _equality,
    Opcode.NEQ: _equality,
    Opcode.READ_REF: _read,
    Opcode.WRITE_REF: _write,
    Opcode.MUT_BORROW_FIELD: _field(mutable=True),
    Opcode.IMM_BORROW_FIELD: _field(mutable=False),
    Opcode.MUT_BORROW_FIELD_GENERIC: _field_generic(mutable=True),
    Opcode.IMM_BORROW_FIELD_GENERIC: _field_generic(mutable=False),
    Opcode.UNPACK_VARIANT_IMM_REF: _unpack_variant(variant_of, mutable=False),
    Opcode.UNPACK_VARIANT_MUT_REF: _unpack_variant(variant_of, mutable=True),
    Opcode.UNPACK_VARIANT_GENERIC_IMM_REF: _unpack_variant(instantiated_variant, mutable=False),
    Opcode.UNPACK_VARIANT_GENERIC_MUT_REF: _unpack_variant(instantiated_variant, mutable=True),
    Opcode.CALL: _call,
    Opcode.CALL_GENERIC: _call_generic,
    Opcode.VEC_LEN: _vector(0, writes=False, result=True),
    Opcode.VEC_PUSH_BACK: _vector(1, writes=True, result=False),
    Opcode.VEC_POP_BACK: _vector(0, writes=True, result=True),
    Opcode.VEC_SWAP: _vector(2, writes=True, result=False),
    Opcode.VEC_IMM_BORROW: _element(mutable=False),
    Opcode.VEC_MUT_BORROW: _element(mutable=True),
}
