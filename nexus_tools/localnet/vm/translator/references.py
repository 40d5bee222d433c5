"""Instructions that read, write and make references."""

from dataclasses import replace

from nexus_tools.localnet.bytecode.module import Instantiation
from nexus_tools.localnet.bytecode.opcode import Opcode
from nexus_tools.localnet.vm.translator.block import BlockTranslator, InstructionTable
from nexus_tools.localnet.vm.translator.locals import charged_copy_of
from nexus_tools.localnet.vm.translator.operand import Operand
from nexus_tools.localnet.vm.types import Primitive, ReferenceType, StructTag, substitute


def part_of(container: Operand, type_: ReferenceType, text: str, key: str) -> Operand:
    """A reference to a part of what `container` refers to."""
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
        raise block.invalid(f"a reference to {tag} is expected, not to {target}")
    declared = block.frame.module.struct_at(struct).field_types()[field]
    type_ = ReferenceType(substitute(declared, tag.type_params), mutable)
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
