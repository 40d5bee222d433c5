"""Instructions on locals, constants and references."""

from msgspec.structs import replace

from nexus_tools.sui.bytecode import Instantiation, Opcode
from nexus_tools.sui.localnet.vm.definitions import ReferenceType, Type, substitute
from nexus_tools.sui.localnet.vm.translator.block import BlockTranslator, InstructionTable, Operand
from nexus_tools.sui.types.type_tag import Primitive, StructTag, VectorTag


def copy_of(type_: Type, text: str) -> str:
    """Return the Python expression for a deep copy, without charging for the copy."""
    if isinstance(type_, Primitive):
        return text
    # Integers, booleans and addresses are immutable in Python, so two vectors may share them.
    flat = isinstance(type_, VectorTag) and isinstance(type_.element, Primitive)
    return f"{text}[:]" if flat else f"copy({text})"


def charged_copy_of(block: BlockTranslator, type_: Type, text: str) -> str:
    """Return the Python expression for a deep copy, and charge for the size of the copy."""
    fixed_size = block.frame.fixed_size(type_)
    if fixed_size is None:
        return f"{block.frame.copier(type_)}(meter, {text})"
    block.charge_size(fixed_size)
    return copy_of(type_, text)


def _load(block: BlockTranslator, local: int) -> Operand:
    frame, mentioned_locals = block.frame, frozenset({local})
    type_ = frame.locals[local]
    if isinstance(type_, ReferenceType):
        return Operand(type_, f"c{local}", f"k{local}", mentioned_locals)
    return Operand(type_, frame.value(local), None, mentioned_locals, local in frame.cells)


def _copy_local(block: BlockTranslator, local: int) -> None:
    operand = _load(block, local)
    if isinstance(operand.type, ReferenceType | Primitive):
        block.charge_value(operand.type, operand.text)
        block.push(operand)
    else:
        block.push_result(operand.type, charged_copy_of(block, operand.type, operand.text))


def _move_local(block: BlockTranslator, local: int) -> None:
    block.push(_load(block, local))


def _store_local(block: BlockTranslator, local: int) -> None:
    frame = block.frame
    operand = block.expect(block.pop(), frame.locals[local])
    block.settle_local(local)
    if operand.key is not None:
        block.line(f"c{local} = {operand.text}")
        block.line(f"k{local} = {operand.key}")
        return
    if local in frame.cells:
        block.settle()
    variable = frame.value(local)
    if operand.text != variable:
        block.line(f"{variable} = {operand.text}")


def _borrow_local(block: BlockTranslator, local: int, *, mutable: bool) -> None:
    frame = block.frame
    type_ = frame.locals[local]
    if isinstance(type_, ReferenceType):
        raise block.invalid("a local that is a reference cannot be borrowed")
    reference = ReferenceType(type_, mutable)
    if local in frame.cells:
        block.push(Operand(reference, f"cell{local}", "0"))
    else:
        block.push(Operand(reference, frame.value(local), None, frozenset({local})))


def _load_constant(block: BlockTranslator, index: int) -> None:
    frame = block.frame
    constant = frame.module.compiled.constants[index]
    # Like `charge_ld_const`, this statement charges the BCS bytes of a constant and not the size of
    # its value.
    block.charge(0, len(constant.data))
    type_, value = frame.module.constant(index)
    if isinstance(type_, Primitive) and type_ is not Primitive.ADDRESS:
        block.push(Operand(type_, str(value)))
    elif isinstance(type_, Primitive):
        block.push(Operand(type_, frame.constant(index, value)))
    else:
        name = frame.constant(index, value)
        block.push_result(type_, copy_of(type_, name))


LOCALS: InstructionTable = {
    Opcode.COPY_LOC: _copy_local,
    Opcode.MOVE_LOC: _move_local,
    Opcode.ST_LOC: _store_local,
    Opcode.MUT_BORROW_LOC: lambda block, local: _borrow_local(block, local, mutable=True),
    Opcode.IMM_BORROW_LOC: lambda block, local: _borrow_local(block, local, mutable=False),
    Opcode.LD_CONST: _load_constant,
}


def part_of(container: Operand, type_: ReferenceType, text: str, key: str) -> Operand:
    """Return a reference to `text[key]`, which is a part of the target of `container`."""
    return Operand(type_, text, key, container.locals, reads_memory=True, depth=container.depth + 1)


def _read(block: BlockTranslator, _: object) -> None:
    reference, target = block.pop_reference()
    if isinstance(target, Primitive):
        block.charge_value(target, reference.target)
        block.push(
            Operand(
                target,
                reference.target,
                locals=reference.locals,
                reads_memory=True,
                depth=reference.depth,
            )
        )
    else:
        block.push_result(target, charged_copy_of(block, target, reference.target))


def _write(block: BlockTranslator, _: object) -> None:
    reference, target = block.pop_reference(mutable=True)
    value = block.expect(block.pop(), target)
    block.charge_value(target, value.text)
    block.settle()
    # If the reference has no key, the statement assigns to the local itself.
    for local in reference.locals if reference.key is None else ():
        block.settle_local(local)
    block.line(f"{reference.target} = {value.text}")


def _freeze(block: BlockTranslator, _: object) -> None:
    reference, target = block.pop_reference(mutable=True)
    block.push(replace(reference, type=ReferenceType(target, mutable=False)))


def _borrow_field(block: BlockTranslator, index: int, *, mutable: bool) -> None:
    module = block.frame.module
    handle = module.compiled.field_handles[index]
    struct = module.struct_at(handle.struct)
    _push_field(block, struct.tag, handle.struct, handle.field, mutable=mutable)


def _borrow_field_generic(block: BlockTranslator, index: int, *, mutable: bool) -> None:
    module = block.frame.module
    instantiation = module.compiled.field_instantiations[index]
    handle = module.compiled.field_handles[instantiation.target]
    tag = module.struct_type(Instantiation(handle.struct, instantiation.type_arguments))
    _push_field(block, tag, handle.struct, handle.field, mutable=mutable)


def _push_field(
    block: BlockTranslator, tag: StructTag, struct: int, field: int, *, mutable: bool
) -> None:
    reference, target = block.pop_reference(mutable=mutable)
    if target != tag:
        raise block.invalid(f"expected a reference to {tag}, got a reference to {target}")
    field_type = block.frame.module.struct_at(struct).field_types()[field]
    type_ = ReferenceType(substitute(field_type, tag.type_params), mutable)
    block.push(part_of(reference, type_, reference.target, str(field)))


REFERENCES: InstructionTable = {
    Opcode.READ_REF: _read,
    Opcode.WRITE_REF: _write,
    Opcode.FREEZE_REF: _freeze,
    Opcode.MUT_BORROW_FIELD: lambda block, index: _borrow_field(block, index, mutable=True),
    Opcode.IMM_BORROW_FIELD: lambda block, index: _borrow_field(block, index, mutable=False),
    Opcode.MUT_BORROW_FIELD_GENERIC: lambda block, index: _borrow_field_generic(
        block, index, mutable=True
    ),
    Opcode.IMM_BORROW_FIELD_GENERIC: lambda block, index: _borrow_field_generic(
        block, index, mutable=False
    ),
}
