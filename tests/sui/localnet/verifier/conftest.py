"""Published modules, and a small assembler for modules that no compiler produces."""

from functools import cache

import pytest
from msgspec.structs import replace

from nexus_tools.sui.bytecode import (
    Ability,
    Code,
    CompiledModule,
    DatatypeHandle,
    DatatypeToken,
    DatatypeTypeParameter,
    EnumDefinition,
    FieldDefinition,
    FieldHandle,
    FunctionDefinition,
    FunctionHandle,
    Instantiation,
    Instruction,
    JumpTable,
    ModuleHandle,
    Opcode,
    ReferenceToken,
    StructDefinition,
    TypeParameterToken,
    VariantDefinition,
    VariantHandle,
    Visibility,
    deserialize,
)
from nexus_tools.sui.localnet.framework import load_framework
from nexus_tools.sui.localnet.verifier import VerificationError, verify_module

_VALUE = Ability.COPY | Ability.DROP | Ability.STORE
# Handles and definitions of the datatypes: a Resource has no abilities, a Pair is a value, a Box
# is generic, a Shape is an enum. A Marked has a phantom type parameter.
RESOURCE, PAIR, BOX, SHAPE = range(4)
_NAMES = ("m", "f", "pick", "same", "Resource", "Pair", "Box", "Shape", "a", "b", "Dot", "Line")


class Assembler:
    """A module with one function to fill in, `f`, and two to call.

    `pick` (function handle 1) is `&mut u64 -> &mut u64`, `same` (2) is `<T: copy> T -> T`.
    """

    def __init__(self):
        self.signatures = [()]

    def signature(self, *tokens):
        if tokens not in self.signatures:
            self.signatures.append(tokens)
        return self.signatures.index(tokens)

    def module(self, code, parameters=(), returns=(), local_types=(), **changes):
        """Return a module; `code` is a list of (opcode name, operand)s or names."""
        mutable = ReferenceToken("u64", mutable=True)
        first = TypeParameterToken(0)
        handles = (
            FunctionHandle(0, 1, self.signature(*parameters), self.signature(*returns), ()),
            FunctionHandle(0, 2, self.signature(mutable), self.signature(mutable), ()),
            FunctionHandle(0, 3, self.signature(first), self.signature(first), (Ability.COPY,)),
        )
        passed = self.code(["MOVE_LOC 0", "RET"])
        functions = (
            self.function(0, replace(self.code(code), locals=self.signature(*local_types))),
            self.function(1, passed),
            self.function(2, passed),
        )
        module = CompiledModule(
            version=7,
            flavor=5,
            self_handle=0,
            module_handles=(ModuleHandle(0, 0),),
            datatype_handles=(
                DatatypeHandle(0, 4, Ability.NONE, ()),
                DatatypeHandle(0, 5, _VALUE, ()),
                DatatypeHandle(0, 6, _VALUE, (DatatypeTypeParameter(Ability.NONE, False),)),
                DatatypeHandle(0, 7, _VALUE, ()),
            ),
            function_handles=handles,
            function_instantiations=(
                Instantiation(2, self.signature("u64")),
                Instantiation(2, self.signature(DatatypeToken(RESOURCE))),
                Instantiation(2, self.signature("u64", "u64")),
            ),
            signatures=tuple(self.signatures),
            constants=(),
            identifiers=_NAMES,
            addresses=(bytes(31) + b"\x09",),
            struct_definitions=(
                StructDefinition(RESOURCE, (FieldDefinition(8, "u64"),)),
                StructDefinition(PAIR, (FieldDefinition(8, "u64"), FieldDefinition(9, "u64"))),
                StructDefinition(BOX, (FieldDefinition(8, first),)),
            ),
            struct_instantiations=(Instantiation(BOX, self.signature("u64")),),
            function_definitions=functions,
            field_handles=(FieldHandle(PAIR, 0), FieldHandle(PAIR, 1), FieldHandle(BOX, 0)),
            field_instantiations=(Instantiation(2, self.signature("u64")),),
            friends=(),
            metadata=(),
            enum_definitions=(
                EnumDefinition(
                    SHAPE,
                    (
                        VariantDefinition(10, (FieldDefinition(8, "u64"),)),
                        VariantDefinition(
                            11, (FieldDefinition(8, "u64"), FieldDefinition(9, "u64"))
                        ),
                    ),
                ),
            ),
            enum_instantiations=(),
            variant_handles=(VariantHandle(0, 0), VariantHandle(0, 1)),
            variant_instantiations=(),
        )
        module = replace(module, signatures=tuple(self.signatures))
        return replace(module, **changes)

    def function(self, handle, code):
        return FunctionDefinition(handle, Visibility.PUBLIC, False, (), code)

    def code(self, lines, jump_tables=()):
        return Code(0, tuple(self.instruction(line) for line in lines), jump_tables)

    def instruction(self, line):
        if isinstance(line, Instruction):
            return line
        name, *operand = line.split()
        return Instruction(Opcode[name], int(operand[0]) if operand else None)


@pytest.fixture
def assembler():
    return Assembler()


@pytest.fixture
def assemble(assembler):
    """Return assemble(code, parameters, returns, locals, **tables), which makes such a module."""
    return assembler.module


@pytest.fixture
def switching(assembler):
    """Return switching(code, offsets, ...): like `assemble`, with one jump table for the enum."""

    def build(code, offsets, **signature):
        module = assembler.module(code, **signature)
        first, *others = module.function_definitions
        switched = replace(first, code=replace(first.code, jump_tables=(JumpTable(0, offsets),)))
        return replace(module, function_definitions=(switched, *others))

    return build


@cache
def _framework():
    files = [file for package in load_framework().values() for file in package.modules]
    modules = [deserialize(file) for file in files]
    return {(module.address, module.name): module for module in modules}


@pytest.fixture(scope="session")
def framework():
    """Return the modules of the framework by their ids."""
    return _framework()


@pytest.fixture
def status():
    """Return status(module), which returns the status of its rejection, or None."""

    def verify(module, dependencies=None):
        try:
            verify_module(module, (dependencies or _framework()).get)
        except VerificationError as error:
            return error.status
        return None

    return verify
