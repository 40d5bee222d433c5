"""Instructions that pack and unpack structs and variants."""

from collections.abc import Callable

from msgspec.structs import replace

from nexus_tools.sui.bytecode import Opcode
from nexus_tools.sui.localnet.vm.definitions import ReferenceType, Type, substitute
from nexus_tools.sui.localnet.vm.loaded_module import LoadedModule
from nexus_tools.sui.localnet.vm.translator.block import BlockTranslator, InstructionTable
from nexus_tools.sui.localnet.vm.translator.references import part_of
from nexus_tools.sui.types.type_tag import StructTag

# A function that resolves an operand index to a struct with the types of its fields.
_StructOf = Callable[[LoadedModule, int], tuple[StructTag, list[Type]]]
# A function that resolves an operand index to an enum, a variant's tag and the types of its fields.
_VariantOf = Callable[[LoadedModule, int], tuple[StructTag, int, list[Type]]]


def _struct(module: LoadedModule, index: int) -> tuple[StructTag, list[Type]]:
    datatype = module.struct_at(index)
    return datatype.tag, list(datatype.field_types())


def _struct_generic(module: LoadedModule, index: int) -> tuple[StructTag, list[Type]]:
    instantiation = module.compiled.struct_instantiations[index]
    tag = module.struct_type(instantiation)
    fields = module.struct_at(instantiation.target).field_types()
    return tag, [substitute(field, tag.type_params) for field in fields]


def _variant(module: LoadedModule, index: int) -> tuple[StructTag, int, list[Type]]:
    handle = module.compiled.variant_handles[index]
    tag = module.enum_at(handle.enum).tag
    return tag, handle.tag, _variant_fields(module, handle.enum, handle.tag, ())


def _variant_generic(module: LoadedModule, index: int) -> tuple[StructTag, int, list[Type]]:
    handle = module.compiled.variant_instantiations[index]
    instantiation = module.compiled.enum_instantiations[handle.enum]
    tag = module.enum_type(instantiation)
    fields = _variant_fields(module, instantiation.target, handle.tag, tag.type_params)
    return tag, handle.tag, fields


def _variant_fields(
    module: LoadedModule, enum: int, tag: int, type_arguments: tuple[Type, ...]
) -> list[Type]:
    variants = module.enum_at(enum).variants
    assert variants is not None
    return [substitute(type_, type_arguments) for _, type_ in variants[tag][1]]


def _pop_fields(block: BlockTranslator, types: list[Type]) -> str:
    fields = block.pop_many(len(types))
    for operand, type_ in zip(fields, types, strict=True):
        block.expect(operand, type_)
    return ", ".join([operand.text for operand in fields])


def _pack(resolve: _StructOf) -> Callable[[BlockTranslator, int], None]:
    def pack(block: BlockTranslator, index: int) -> None:
        tag, types = resolve(block.frame.module, index)
        fields = _pop_fields(block, types)
        block.frame.packed.append((tag, block.offset))
        block.push_result(tag, f"[{fields}]")

    return pack


def _unpack(resolve: _StructOf) -> Callable[[BlockTranslator, int], None]:
    def unpack(block: BlockTranslator, index: int) -> None:
        tag, types = resolve(block.frame.module, index)
        value = block.expect(block.pop(), tag)
        block.charge(len(types), 0)
        block.push_items(types, value.text)

    return unpack


def _pack_variant(resolve: _VariantOf) -> Callable[[BlockTranslator, int], None]:
    def pack(block: BlockTranslator, index: int) -> None:
        enum, tag, types = resolve(block.frame.module, index)
        fields = _pop_fields(block, types)
        block.frame.packed.append((enum, block.offset))
        block.push_result(enum, f"Variant({tag}, [{fields}])")

    return pack


def _unpack_variant(resolve: _VariantOf) -> Callable[[BlockTranslator, int], None]:
    def unpack(block: BlockTranslator, index: int) -> None:
        enum, tag, types = resolve(block.frame.module, index)
        value = block.name(block.expect(block.pop(), enum).text)
        block.check(f"{value}.tag != {tag}", "variant_error(function, {offset})")
        block.charge(len(types), 0)
        block.push_items(types, f"{value}.fields")

    return unpack


def _borrow_variant(
    resolve: _VariantOf, *, mutable: bool
) -> Callable[[BlockTranslator, int], None]:
    def unpack(block: BlockTranslator, index: int) -> None:
        enum, tag, types = resolve(block.frame.module, index)
        reference, target = block.pop_reference(mutable=mutable)
        if target != enum:
            raise block.invalid(f"expected a reference to {enum}, got a reference to {target}")
        block.charge(len(types), 0)
        value = block.name(reference.target)
        block.check(f"{value}.tag != {tag}", "variant_error(function, {offset})")
        for field, type_ in enumerate(types):
            part = ReferenceType(type_, mutable)
            block.push(part_of(reference, part, f"{value}.fields", str(field)))

    return unpack


def _switch(block: BlockTranslator, table: int) -> None:
    reference, target = block.pop_reference()
    enum = block.frame.module.enum_at(block.frame.code.jump_tables[table].enum)
    if not isinstance(target, StructTag) or replace(target, type_params=()) != enum.tag:
        raise block.invalid(f"expected a reference to {enum.tag}, got a reference to {target}")
    block.tag = f"{reference.target}.tag"


DATATYPES: InstructionTable = {
    Opcode.PACK: _pack(_struct),
    Opcode.PACK_GENERIC: _pack(_struct_generic),
    Opcode.UNPACK: _unpack(_struct),
    Opcode.UNPACK_GENERIC: _unpack(_struct_generic),
    Opcode.PACK_VARIANT: _pack_variant(_variant),
    Opcode.PACK_VARIANT_GENERIC: _pack_variant(_variant_generic),
    Opcode.UNPACK_VARIANT: _unpack_variant(_variant),
    Opcode.UNPACK_VARIANT_GENERIC: _unpack_variant(_variant_generic),
    Opcode.UNPACK_VARIANT_IMM_REF: _borrow_variant(_variant, mutable=False),
    Opcode.UNPACK_VARIANT_MUT_REF: _borrow_variant(_variant, mutable=True),
    Opcode.UNPACK_VARIANT_GENERIC_IMM_REF: _borrow_variant(_variant_generic, mutable=False),
    Opcode.UNPACK_VARIANT_GENERIC_MUT_REF: _borrow_variant(_variant_generic, mutable=True),
    Opcode.VARIANT_SWITCH: _switch,
}
