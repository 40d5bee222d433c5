"""The tables of a Move module in the binary format: handles and definitions, linked by indices.

Source: the Move binary format, `move-binary-format/src/file_format.rs` (versions 5 to 7), which
uses the same names. Handles and definitions contain indices of table rows, not the rows themselves.
"""

from enum import IntEnum

from msgspec import Struct

from nexus_tools.sui.bytecode.ability import Ability
from nexus_tools.sui.bytecode.opcode import Opcode
from nexus_tools.sui.bytecode.token import Signature, SignatureToken


class Visibility(IntEnum):
    """The permitted callers of a function: this module, all modules, or its friend modules."""

    PRIVATE = 0
    PUBLIC = 1
    FRIEND = 3


class ModuleHandle(Struct, frozen=True):
    """A reference to a module.

    `address` is an index of `addresses`, and `name` is an index of `identifiers`.
    """

    address: int
    name: int


class DatatypeTypeParameter(Struct, frozen=True):
    """A type parameter: the abilities that a type argument must have, and whether it is phantom."""

    constraints: Ability
    is_phantom: bool


class DatatypeHandle(Struct, frozen=True):
    """A reference to a struct or enum of this module or another module."""

    module: int
    name: int
    abilities: Ability
    type_parameters: tuple[DatatypeTypeParameter, ...]


class FunctionHandle(Struct, frozen=True):
    """A reference to a function of any module.

    `parameters` and `returns` are indices of `signatures`.
    """

    module: int
    name: int
    parameters: int
    returns: int
    type_parameters: tuple[Ability, ...]


class Instantiation(Struct, frozen=True):
    """A generic definition with type arguments. `target` and `type_arguments` are indices."""

    target: int
    type_arguments: int


class Constant(Struct, frozen=True):
    """A constant: its type and its BCS bytes."""

    type: SignatureToken
    data: bytes


class FieldDefinition(Struct, frozen=True):
    """A field of a struct or a variant. `name` is an index of `identifiers`."""

    name: int
    type: SignatureToken


class StructDefinition(Struct, frozen=True):
    """A struct of this module. `fields` is None for a native struct."""

    handle: int
    fields: tuple[FieldDefinition, ...] | None


class VariantDefinition(Struct, frozen=True):
    """A variant of an enum. `name` is an index of `identifiers`."""

    name: int
    fields: tuple[FieldDefinition, ...]


class EnumDefinition(Struct, frozen=True):
    """An enum of this module."""

    handle: int
    variants: tuple[VariantDefinition, ...]


class FieldHandle(Struct, frozen=True):
    """A reference to a field.

    `struct` is the index of a struct definition, and `field` is the position in its fields.
    """

    struct: int
    field: int


class VariantHandle(Struct, frozen=True):
    """A reference to a variant: its tag, and the index of the enum definition or instantiation."""

    enum: int
    tag: int


class VecOperand(Struct, frozen=True):
    """The operand of VEC_PACK and VEC_UNPACK.

    `type` is the index of the element type's signature.
    """

    type: int
    length: int


class Instruction(Struct, frozen=True):
    """One instruction. `operand` is an index, an offset, an integer literal or a `VecOperand`."""

    opcode: Opcode
    operand: int | VecOperand | None = None


class JumpTable(Struct, frozen=True):
    """The jump table of a VARIANT_SWITCH.

    `offsets` has one target for each tag of the enum.
    """

    enum: int
    offsets: tuple[int, ...]


class Code(Struct, frozen=True):
    """The body of a function.

    `locals` is the index of the signature with the types of the local variables, not counting
    parameters.
    """

    locals: int
    instructions: tuple[Instruction, ...]
    jump_tables: tuple[JumpTable, ...]


class FunctionDefinition(Struct, frozen=True):
    """A function of this module. `code` is None for a native function."""

    handle: int
    visibility: Visibility
    is_entry: bool
    acquires: tuple[int, ...]
    code: Code | None


class Metadata(Struct, frozen=True):
    """A metadata entry, which the VM ignores."""

    key: bytes
    value: bytes


class CompiledModule(Struct, frozen=True):
    """A module with all its tables. `module_handles[self_handle]` refers to the module itself."""

    version: int
    flavor: int
    self_handle: int
    module_handles: tuple[ModuleHandle, ...]
    datatype_handles: tuple[DatatypeHandle, ...]
    function_handles: tuple[FunctionHandle, ...]
    function_instantiations: tuple[Instantiation, ...]
    signatures: tuple[Signature, ...]
    constants: tuple[Constant, ...]
    identifiers: tuple[str, ...]
    addresses: tuple[bytes, ...]
    struct_definitions: tuple[StructDefinition, ...]
    struct_instantiations: tuple[Instantiation, ...]
    function_definitions: tuple[FunctionDefinition, ...]
    field_handles: tuple[FieldHandle, ...]
    field_instantiations: tuple[Instantiation, ...]
    friends: tuple[ModuleHandle, ...]
    metadata: tuple[Metadata, ...]
    enum_definitions: tuple[EnumDefinition, ...]
    enum_instantiations: tuple[Instantiation, ...]
    variant_handles: tuple[VariantHandle, ...]
    variant_instantiations: tuple[VariantHandle, ...]

    @property
    def address(self) -> bytes:
        """The address in the module's own handle: the original ID of the module's package."""
        return self.addresses[self.module_handles[self.self_handle].address]

    @property
    def name(self) -> str:
        """The module's name."""
        return self.identifiers[self.module_handles[self.self_handle].name]

    @property
    def datatype_names(self) -> list[str]:
        """The names of the structs and then of the enums, in the order of their definitions."""
        handles = [row.handle for row in self.struct_definitions]
        handles += [row.handle for row in self.enum_definitions]
        return [self.identifiers[self.datatype_handles[handle].name] for handle in handles]

    def module_id(self, handle: int) -> tuple[bytes, str]:
        """Return the address and name of the module with this handle."""
        module = self.module_handles[handle]
        return self.addresses[module.address], self.identifiers[module.name]

    def datatype_id(self, handle: int) -> tuple[bytes, str, str]:
        """Return the address, module and name of the struct or enum with this handle."""
        datatype = self.datatype_handles[handle]
        return *self.module_id(datatype.module), self.identifiers[datatype.name]

    def function_id(self, handle: int) -> tuple[bytes, str, str]:
        """Return the address, module and name of the function with this handle."""
        function = self.function_handles[handle]
        return *self.module_id(function.module), self.identifiers[function.name]
