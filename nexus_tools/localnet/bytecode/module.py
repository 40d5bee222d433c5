"""A Move module as the binary format has it: tables of handles and definitions, linked by indices.

Source: the Move binary format, `move-binary-format/src/file_format.rs` (versions 5 to 7). Names are
its names. Nothing is resolved here: an index stays an index.
"""

from enum import IntEnum, IntFlag

from nexus_tools.dataclass import dataclass
from nexus_tools.localnet.bytecode.opcode import Opcode


class Ability(IntFlag):
    """What values of a type may be used for, as the bits of an ability set."""

    NONE = 0
    COPY = 1
    DROP = 2
    STORE = 4
    KEY = 8


class Visibility(IntEnum):
    """Who may call a function: this module, everyone, or the modules it names as friends."""

    PRIVATE = 0
    PUBLIC = 1
    FRIEND = 3


@dataclass(frozen=True, slots=True)
class DatatypeToken:
    """A struct or enum in a signature: an index of `datatype_handles` and its type arguments."""

    handle: int
    type_arguments: tuple["SignatureToken", ...] = ()


@dataclass(frozen=True, slots=True)
class VectorToken:
    """A vector in a signature."""

    element: "SignatureToken"


@dataclass(frozen=True, slots=True)
class ReferenceToken:
    """A reference in a signature."""

    target: "SignatureToken"
    mutable: bool


@dataclass(frozen=True, slots=True)
class TypeParameterToken:
    """The `index`th type parameter of the function or datatype around it."""

    index: int


# A primitive is its Move name: bool, u8, u16, u32, u64, u128, u256, address or signer.
SignatureToken = str | DatatypeToken | VectorToken | ReferenceToken | TypeParameterToken
Signature = tuple[SignatureToken, ...]


@dataclass(frozen=True, slots=True)
class ModuleHandle:
    """A module by indices of `addresses` and `identifiers`."""

    address: int
    name: int


@dataclass(frozen=True, slots=True)
class DatatypeTypeParameter:
    """What a type argument has to be able to do; a phantom one is in no field."""

    constraints: Ability
    is_phantom: bool


@dataclass(frozen=True, slots=True)
class DatatypeHandle:
    """A struct or enum of this module or another."""

    module: int
    name: int
    abilities: Ability
    type_parameters: tuple[DatatypeTypeParameter, ...]


@dataclass(frozen=True, slots=True)
class FunctionHandle:
    """A function of this module or another; `parameters` and `returns` index `signatures`."""

    module: int
    name: int
    parameters: int
    returns: int
    type_parameters: tuple[Ability, ...]


@dataclass(frozen=True, slots=True)
class Instantiation:
    """A generic thing by its index, with the signature of its type arguments."""

    target: int
    type_arguments: int


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant: its type and its BCS bytes."""

    type: SignatureToken
    data: bytes


@dataclass(frozen=True, slots=True)
class FieldDefinition:
    """A field: an index of `identifiers` and its type."""

    name: int
    type: SignatureToken


@dataclass(frozen=True, slots=True)
class StructDefinition:
    """A struct of this module; `fields` is None if it is native."""

    handle: int
    fields: tuple[FieldDefinition, ...] | None


@dataclass(frozen=True, slots=True)
class VariantDefinition:
    """A variant of an enum: an index of `identifiers` and its fields."""

    name: int
    fields: tuple[FieldDefinition, ...]


@dataclass(frozen=True, slots=True)
class EnumDefinition:
    """An enum of this module."""

    handle: int
    variants: tuple[VariantDefinition, ...]


@dataclass(frozen=True, slots=True)
class FieldHandle:
    """A field by its struct definition and its place in it."""

    struct: int
    field: int


@dataclass(frozen=True, slots=True)
class VariantHandle:
    """A variant by its enum definition (or enum instantiation) and its tag."""

    enum: int
    tag: int


@dataclass(frozen=True, slots=True)
class VecOperand:
    """The operand of VEC_PACK and VEC_UNPACK: a signature with the element type, and a length."""

    type: int
    length: int


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction; `operand` is an index, an offset, an integer literal or a `VecOperand`."""

    opcode: Opcode
    operand: int | VecOperand | None = None


@dataclass(frozen=True, slots=True)
class JumpTable:
    """Where VARIANT_SWITCH continues for each tag of the enum definition `enum`."""

    enum: int
    offsets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Code:
    """The body of a function; `locals` is the signature of the locals after the parameters."""

    locals: int
    instructions: tuple[Instruction, ...]
    jump_tables: tuple[JumpTable, ...]


@dataclass(frozen=True, slots=True)
class FunctionDefinition:
    """A function of this module; `code` is None if it is native."""

    handle: int
    visibility: Visibility
    is_entry: bool
    acquires: tuple[int, ...]
    code: Code | None


@dataclass(frozen=True, slots=True)
class Metadata:
    """Bytes under a key, which the VM does not look at."""

    key: bytes
    value: bytes


@dataclass(frozen=True, slots=True)
class CompiledModule:
    """A module with all its tables; `self_handle` is its own index of `module_handles`."""

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
        """The address that the module's own handle names: the original id of its package."""
        return self.addresses[self.module_handles[self.self_handle].address]

    @property
    def name(self) -> str:
        """The module's name."""
        return self.identifiers[self.module_handles[self.self_handle].name]

    def module_id(self, handle: int) -> tuple[bytes, str]:
        """Address and name of the module with this handle."""
        module = self.module_handles[handle]
        return self.addresses[module.address], self.identifiers[module.name]

    def datatype_id(self, handle: int) -> tuple[bytes, str, str]:
        """Address, module and name of the struct or enum with this handle."""
        datatype = self.datatype_handles[handle]
        return *self.module_id(datatype.module), self.identifiers[datatype.name]

    def function_id(self, handle: int) -> tuple[bytes, str, str]:
        """Address, module and name of the function with this handle."""
        function = self.function_handles[handle]
        return *self.module_id(function.module), self.identifiers[function.name]
