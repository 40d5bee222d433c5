"""The state that the blocks of a function share: its locals and its global names.

The Python code uses these names:

    v0, v1, ...      the value of a local
    c0 and k0, ...   container and key of a local that is a reference
    cell0, ...       a list of one element, for a local that has references
    t1, t2, ...      intermediate results of a block
"""

from collections.abc import Callable, Hashable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from nexus_tools.sui.bytecode import Code, Instruction, Opcode
from nexus_tools.sui.localnet.vm.definitions import (
    Function,
    ModuleId,
    ReferenceType,
    Type,
    substitute,
)
from nexus_tools.sui.localnet.vm.loaded_module import LoadedModule
from nexus_tools.sui.localnet.vm.values.size import (
    CONTAINER_BYTES,
    REFERENCE_BYTES,
    element_bytes,
    scalar_bytes,
)
from nexus_tools.sui.localnet.vm.values.values import Value
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.type_tag import Primitive, StructTag, VectorTag


class Callee(Struct, frozen=True):
    """A called function. The linkage of the running code selects the version of its package.

    `parameters` and `returns` are the types that the caller expects.
    """

    module: ModuleId
    name: str
    type_arguments: tuple[Type, ...]
    parameters: tuple[Type, ...]
    returns: tuple[Type, ...]
    offset: int


class NewVector(Struct, frozen=True):
    """A function that converts a list to a vector of `element`, by the type arguments."""

    element: Type


class Constant(Struct, frozen=True):
    """A constant value that translated code reads or copies."""

    value: Value


class SizeOf(Struct, frozen=True):
    """A function that measures values of `type`, depending on the type arguments."""

    type: Type


class CopyOf(Struct, frozen=True):
    """A function that copies values of `type` and charges, depending on the type arguments."""

    type: Type


class LazySymbol(Struct, frozen=True):
    """An object that `make` creates from `Types` and the type arguments at the first call."""

    make: Callable[..., Any]


Symbol = Callee | NewVector | Constant | SizeOf | CopyOf | LazySymbol

_BORROWS = frozenset({Opcode.MUT_BORROW_LOC, Opcode.IMM_BORROW_LOC})
# A Python variable has no address. A reference to a local needs an address only if it is passed on,
# stored, or kept on the stack. Otherwise the translation of the next instruction uses the variable
# itself. Examples:
#
#     IMM_BORROW_LOC 0, IMM_BORROW_FIELD 1, READ_REF    v0[1]
#     MUT_BORROW_LOC 0, CALL f                          f(..., cell0, 0), and v0 is cell0[0].
#
# A reference to a field outlives the instruction, but it points into the list in `v0`. No code
# assigns to `v0` while the reference exists. The following instructions consume a reference and
# keep at most a reference to a part of its target.
_USES = frozenset(
    {
        Opcode.READ_REF,
        Opcode.WRITE_REF,
        Opcode.MUT_BORROW_FIELD,
        Opcode.IMM_BORROW_FIELD,
        Opcode.MUT_BORROW_FIELD_GENERIC,
        Opcode.IMM_BORROW_FIELD_GENERIC,
        Opcode.VEC_LEN,
        Opcode.VARIANT_SWITCH,
        Opcode.UNPACK_VARIANT_IMM_REF,
        Opcode.UNPACK_VARIANT_MUT_REF,
        Opcode.UNPACK_VARIANT_GENERIC_IMM_REF,
        Opcode.UNPACK_VARIANT_GENERIC_MUT_REF,
    }
)
# The following instructions also consume a reference, which is below one other operand on the
# stack.
_USES_BELOW = frozenset({Opcode.VEC_IMM_BORROW, Opcode.VEC_MUT_BORROW, Opcode.VEC_PUSH_BACK})
_PLAIN_PUSHES = frozenset(
    {Opcode.COPY_LOC, Opcode.MOVE_LOC, Opcode.LD_U8, Opcode.LD_U64, Opcode.LD_TRUE, Opcode.LD_FALSE}
)


class Frame:
    """The locals of a function, and the symbols for the global names in its code."""

    def __init__(self, module: LoadedModule, function: Function, code: Code) -> None:
        self.module = module
        self.function = function
        self.code = code
        self.locals = (*function.parameters, *module.signature(code.locals))
        self.cells = {
            local
            for local in _escaping_borrows(code.instructions)
            if not isinstance(self.locals[local], ReferenceType)
        }
        self.packed: list[tuple[Type, int]] = []
        self.symbols: dict[str, Symbol] = {}
        self._names: dict[Hashable, str] = {}
        self._measured: set[Type] = set()

    def value(self, local: int) -> str:
        """Return the Python expression for the value of a local."""
        return f"cell{local}[0]" if local in self.cells else f"v{local}"

    def is_plain(self, local: int) -> bool:
        """Return whether a local is a single Python variable, and not a cell or a reference."""
        return local not in self.cells and not isinstance(self.locals[local], ReferenceType)

    def variables(self, local: int) -> list[str]:
        """Return the Python parameters for a Move parameter."""
        if isinstance(self.locals[local], ReferenceType):
            return [f"c{local}", f"k{local}"]
        return [f"v{local}"]

    def callee(self, handle: int, type_arguments: tuple[Type, ...], offset: int) -> str:
        """Return the global name of a called function."""
        address, module, name = self.module.compiled.function_id(handle)
        key = (handle, type_arguments)
        if key not in self._names:
            row = self.module.compiled.function_handles[handle]
            callee = Callee(
                ModuleId(Address(address), module),
                name,
                type_arguments,
                self.module.signature(row.parameters),
                self.module.signature(row.returns),
                offset,
            )
            self._names[key] = self._add(f"call_{module}_{name}", callee)
        return self._names[key]

    def new_vector(self, element: Type) -> str:
        """Return the name of the function that creates a vector of this element type."""
        key = ("vector", element)
        if key not in self._names:
            self._names[key] = self._add("new_vector", NewVector(element))
        return self._names[key]

    def sizer(self, type_: Type) -> str:
        """Return the name of the function that measures values of the type."""
        key = ("size", type_)
        if key not in self._names:
            self._names[key] = self._add("size", SizeOf(type_))
        return self._names[key]

    def copier(self, type_: Type) -> str:
        """Return the name of the function that copies values of the type and charges for this."""
        key = ("copy", type_)
        if key not in self._names:
            self._names[key] = self._add("copy_of", CopyOf(type_))
        return self._names[key]

    def fixed_size(self, type_: Type) -> int | None:
        """Return the size of all values of a type, or None if the size varies or is unknown."""
        if isinstance(type_, Primitive):
            return scalar_bytes(type_)
        if isinstance(type_, ReferenceType):
            return REFERENCE_BYTES
        if not isinstance(type_, StructTag):
            return None
        datatype = self.module.datatype(type_.name)
        if datatype is None or datatype.fields is None:
            return None
        # A type of another module may have the same name. The other type's size is unknown here,
        # because its version depends on the linkage, and translated code is the same for all
        # linkages.
        if datatype.tag != replace(type_, type_params=()) or type_ in self._measured:
            return None
        self._measured.add(type_)  # a type that contains itself has no fixed size
        fields = [substitute(field, type_.type_params) for field in datatype.field_types()]
        sizes = [self.fixed_size(field) for field in fields]
        self._measured.discard(type_)
        known_sizes = [size for size in sizes if size is not None]
        return CONTAINER_BYTES + sum(known_sizes) if len(known_sizes) == len(sizes) else None

    def constant(self, index: int, value: Value) -> str:
        """Return the global name of the module's constant with this index and value."""
        name = f"constant{index}"
        self.symbols[name] = Constant(value)
        return name

    def _add(self, name: str, symbol: Symbol) -> str:
        unique, number = name, 1
        while unique in self.symbols:
            number += 1
            unique = f"{name}_{number}"
        self.symbols[unique] = symbol
        return unique


def packed_size(text: str, type_: Type) -> str | None:
    """Return the Python expression for the size of a packed vector, or None for other types."""
    element_size = element_bytes(type_.element) if isinstance(type_, VectorTag) else None
    if element_size is None:
        return None
    length = f"len({text})" if element_size == 1 else f"len({text}) * {element_size}"
    return f"{CONTAINER_BYTES} + {length}"


def _escaping_borrows(instructions: tuple[Instruction, ...]) -> set[int]:
    """Return the locals with a reference that outlives the instructions right after the borrow."""
    escaping = set()
    following = [*(instruction.opcode for instruction in instructions), None, None]
    for offset, instruction in enumerate(instructions):
        if instruction.opcode not in _BORROWS:
            continue
        next_opcode, second_opcode = following[offset + 1 : offset + 3]
        if next_opcode in _USES or (next_opcode in _PLAIN_PUSHES and second_opcode in _USES_BELOW):
            continue
        assert isinstance(instruction.operand, int)
        escaping.add(instruction.operand)
    return escaping
