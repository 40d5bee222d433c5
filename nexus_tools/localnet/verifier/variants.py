"""The variant of an enum that an instruction names."""

from nexus_tools.dataclass import dataclass
from nexus_tools.localnet.bytecode.module import CompiledModule, VariantDefinition
from nexus_tools.localnet.verifier.type_table import NO_ARGUMENTS


@dataclass(frozen=True, slots=True)
class NamedVariant:
    """A variant: its enum definition, its tag, and the signature of the type arguments."""

    enum: int
    tag: int
    type_arguments: int
    definition: VariantDefinition


def variant_of(module: CompiledModule, index: int) -> NamedVariant:
    """The variant of a variant handle."""
    handle = module.variant_handles[index]
    definition = module.enum_definitions[handle.enum].variants[handle.tag]
    return NamedVariant(handle.enum, handle.tag, NO_ARGUMENTS, definition)


def instantiated_variant(module: CompiledModule, index: int) -> NamedVariant:
    """The variant of a variant instantiation."""
    handle = module.variant_instantiations[index]
    enum = module.enum_instantiations[handle.enum]
    definition = module.enum_definitions[enum.target].variants[handle.tag]
    return NamedVariant(enum.target, handle.tag, enum.type_arguments, definition)
