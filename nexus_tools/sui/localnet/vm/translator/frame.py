"""What the blocks of a function have in common: its locals, and the names that its code refers to.

| name in the Python code | is                                                  |
|-------------------------|-----------------------------------------------------|
| v0, v1, ...             | the value of a local                                |
| c0 and k0, ...          | container and key of a local that is a reference    |
| cell0, ...              | a list of one, for a local that is borrowed         |
| t1, t2, ...             | intermediate results of a block                     |
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
    """A function that is called, found in the linkage of the running code.

    `parameters` and `returns` are what the caller takes its types for.
    """

    module: ModuleId
    name: str
    type_arguments: tuple[Type, ...]
    parameters: tuple[Type, ...]
    returns: tuple[Type, ...]
    offset: int


class NewVector(Struct, frozen=True):
    """What makes a vector of these elements from a list: known with the type arguments."""

    element: Type


class Constant(Struct, frozen=True):
    """A value that the code copies from."""

    value: Value


class SizeOf(Struct, frozen=True):
    """What gives the size of a value of a type: known with the type arguments."""

    type: Type


class CopyOf(Struct, frozen=True):
    """What charges for a copy of a value of a type, and makes it: known with the type arguments."""

    type: Type


class Made(Struct, frozen=True):
    """What is made of `Types` and the type arguments when the function is called first."""

    make: Callable[..., Any]


Symbol = Callee | NewVector | Constant | SizeOf | CopyOf | Made

_BORROWS = frozenset({Opcode.MUT_BORROW_LOC, Opcode.IMM_BORROW_LOC})
# A Python variable has no address. A reference to a local needs one only if it is handed on,
# stored, or kept on the stack; otherwise the instruction after it can name the variable itself:
#
#     IMM_BORROW_LOC 0, IMM_BORROW_FIELD 1, READ_REF    v0[1]
#     MUT_BORROW_LOC 0, CALL f                          f(..., cell0, 0), and v0 is cell0[0]
#
# A reference to a part outlives the instruction, but leads into the list that `v0` has, which stays
# the same as long as the part is borrowed.
# Instructions that use up a reference and keep nothing of it but a part of its target.
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
# The same, of a reference below one other operand.
_USES_BELOW = frozenset({Opcode.VEC_IMM_BORROW, Opcode.VEC_MUT_BORROW, Opcode.VEC_PUSH_BACK})
_PLAIN_PUSHES = frozenset(
    {Opcode.COPY_LOC, Opcode.MOVE_LOC, Opcode.LD_U8, Opcode.LD_U64, Opcode.LD_TRUE, Opcode.LD_FALSE}
)


class Frame:
    """The locals of a function, and the symbols that its code is linked with."""

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
        """The variable of a local's value."""
        return f"cell{local}[0]" if local in self.cells else f"v{local}"

    def is_plain(self, local: int) -> bool:
        """Whether the local is one Python variable."""
        return local not in self.cells and not isinstance(self.locals[local], ReferenceType)

    def variables(self, local: int) -> list[str]:
        """The Python parameters for a Move parameter."""
        if isinstance(self.locals[local], ReferenceType):
            return [f"c{local}", f"k{local}"]
        return [f"v{local}"]

    def callee(self, handle: int, type_arguments: tuple[Type, ...], offset: int) -> str:
        """The name of a function that is called."""
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
        """The name of what makes a vector of such elements."""
        key = ("vector", element)
        if key not in self._names:
            self._names[key] = self._add("new_vector", NewVector(element))
        return self._names[key]

    def sizer(self, type_: Type) -> str:
        """The name of what gives the size of a value of the type."""
        key = ("size", type_)
        if key not in self._names:
            self._names[key] = self._add("size", SizeOf(type_))
        return self._names[key]

    def copier(self, type_: Type) -> str:
        """The name of what charges for a copy of a value of the type, and makes it."""
        key = ("copy", type_)
        if key not in self._names:
            self._names[key] = self._add("copy_of", CopyOf(type_))
        return self._names[key]

    def fixed_size(self, type_: Type) -> int | None:
        """The size of every value of a type, as far as the module alone tells it."""
        if isinstance(type_, Primitive):
            return scalar_bytes(type_)
        if isinstance(type_, ReferenceType):
            return REFERENCE_BYTES
        if not isinstance(type_, StructTag):
            return None
        datatype = self.module.datatype(type_.name)
        if datatype is None or datatype.fields is None:
            return None
        # A type of another module, whose name may be the same, is not looked up: which version of
        # its package it is of depends on the linkage, and translated code is the same for all
        # linkages.
        if datatype.tag != replace(type_, type_params=()) or type_ in self._measured:
            return None
        self._measured.add(type_)  # a type that contains itself has no size
        fields = [substitute(field, type_.type_params) for field in datatype.field_types()]
        sizes = [self.fixed_size(field) for field in fields]
        self._measured.discard(type_)
        known = [size for size in sizes if size is not None]
        return CONTAINER_BYTES + sum(known) if len(known) == len(sizes) else None

    def constant(self, index: int, value: Value) -> str:
        """The name of a constant of the module."""
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
    """The expression of the size of a packed vector; nothing for other types."""
    each = element_bytes(type_.element) if isinstance(type_, VectorTag) else None
    if each is None:
        return None
    length = f"len({text})" if each == 1 else f"len({text}) * {each}"
    return f"{CONTAINER_BYTES} + {length}"


def _escaping_borrows(instructions: tuple[Instruction, ...]) -> set[int]:
    """The locals with a reference that lives longer than the instructions right after it."""
    escaping = set()
    following = [*(instruction.opcode for instruction in instructions), None, None]
    for offset, instruction in enumerate(instructions):
        if instruction.opcode not in _BORROWS:
            continue
        one, two = following[offset + 1 : offset + 3]
        if one in _USES or (one in _PLAIN_PUSHES and two in _USES_BELOW):
            continue
        assert isinstance(instruction.operand, int)
        escaping.add(instruction.operand)
    return escaping
