"""An assembler with which tests run exact instructions."""

from types import SimpleNamespace

import pytest

from assembler import Assembler
from nexus_tools.sui.bytecode import (
    Ability,
    Code,
    Constant,
    DatatypeToken,
    DatatypeTypeParameter,
    EnumDefinition,
    FieldDefinition,
    FieldHandle,
    FunctionDefinition,
    Instruction,
    JumpTable,
    Opcode,
    ReferenceToken,
    StructDefinition,
    TableKind,
    TypeParameterToken,
    VariantDefinition,
    VariantHandle,
    VecOperand,
    VectorToken,
    Visibility,
    serialize,
)
from nexus_tools.sui.localnet.vm import Context, Machine, Meter
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.object import Linkage, MovePackage, TypeOrigin

PACKAGE = Address.of(0xABC)
BUDGET = 100_000
VALUE = Ability.COPY | Ability.DROP | Ability.STORE


class Sketch(Assembler):
    """An assembler for which types and code are written in short.

    A type is the name of a primitive, or ("vector", type), ("&", type), ("&mut", type), ("T",
    index), or ("data", datatype handle, *type arguments). Code is a list of instructions: a name,
    or a tuple of a name and its operands.
    """

    def __init__(self, name="m", address=PACKAGE):
        super().__init__(address, name)
        self.name = name
        self.address = address

    def signature(self, types):
        return super().signature(map(self.token, types))

    def token(self, type_):
        if not isinstance(type_, tuple):
            return type_
        word, *rest = type_
        if word == "vector":
            return VectorToken(self.token(rest[0]))
        if word in ("&", "&mut"):
            return ReferenceToken(self.token(rest[0]), mutable=word == "&mut")
        if word == "T":
            return TypeParameterToken(rest[0])
        handle, *arguments = rest
        return DatatypeToken(handle, tuple(map(self.token, arguments)))

    def constant(self, type_, data):
        return self.row("constants", Constant(self.token(type_), data))

    def datatype(self, name, abilities, phantoms, module=None):
        """Return a handle; `phantoms` marks the phantom type parameters."""
        parameters = [DatatypeTypeParameter(Ability.NONE, bool(phantom)) for phantom in phantoms]
        module = self.self_handle if module is None else module
        return self.datatype_handle(module, name, Ability(abilities), parameters)

    def fields(self, types):
        rows = [(self.identifier(f"f{i}"), self.token(type_)) for i, type_ in enumerate(types)]
        return tuple(FieldDefinition(*row) for row in rows)

    def struct(self, name, fields, abilities=VALUE, phantoms=()):
        handle = self.datatype(name, abilities, phantoms)
        definition = StructDefinition(handle, self.fields(fields))
        return SimpleNamespace(handle=handle, definition=self.row("struct_definitions", definition))

    def enum(self, name, variants, abilities=VALUE, phantoms=()):
        handle = self.datatype(name, abilities, phantoms)
        rows = [
            VariantDefinition(self.identifier(f"V{tag}"), self.fields(fields))
            for tag, fields in enumerate(variants)
        ]
        definition = self.row("enum_definitions", EnumDefinition(handle, tuple(rows)))
        return SimpleNamespace(handle=handle, definition=definition)

    def instance(self, kind, target, *type_arguments):
        """Add a row to an instantiation table: 4 functions, 11 structs, 14 fields, 18 enums."""
        return self.instantiation(TableKind(kind).name.lower(), target, type_arguments)

    def field(self, struct, index):
        return self.row("field_handles", FieldHandle(struct.definition, index))

    def variant(self, enum, tag):
        return self.row("variant_handles", VariantHandle(enum.definition, tag))

    def variant_instance(self, instance, tag):
        return self.row("variant_instantiations", VariantHandle(instance, tag))

    def handle(self, name, parameters=(), returns=(), type_parameters=(), module=None):
        """Return the handle of a function, so that it can be called before it is defined."""
        module = self.self_handle if module is None else module
        constraints = map(Ability, type_parameters)
        return self.function_handle(module, name, parameters, returns, constraints)

    def define(self, handle, code, local_types=(), jump_tables=(), visibility=1):
        """Define a function; `code` is None if it is native."""
        if code is not None:
            tables = [JumpTable(enum.definition, tuple(rows)) for enum, rows in jump_tables]
            rows = tuple(map(self.instruction, code))
            code = Code(self.signature(local_types), rows, tuple(tables))
        row = FunctionDefinition(handle, Visibility(visibility), False, (), code)
        return self.row("function_definitions", row)

    def function(self, name, parameters, returns, code, type_parameters=(), **options):
        """Add a public function and return its handle."""
        handle = self.handle(name, parameters, returns, type_parameters)
        self.define(handle, code, **options)
        return handle

    def instruction(self, instruction):
        name, *operands = (instruction,) if isinstance(instruction, str) else instruction
        if name in ("VEC_PACK", "VEC_UNPACK"):
            operands = [VecOperand(self.signature(operands[:1]), operands[1])]
        elif name.startswith("VEC_"):
            operands = [self.signature(operands)]
        return Instruction(Opcode[name], *operands)

    def package(self, storage=None, version=1, linkage=(), origins=None):
        """Return a package with only this module; `origins` are defining ids that differ."""
        storage = storage or self.address
        origins = origins or {}
        module = self.build()
        defined = (*module.struct_definitions, *module.enum_definitions)
        names = [module.datatype_id(definition.handle)[2] for definition in defined]
        types = [TypeOrigin(self.name, name, origins.get(name, storage)) for name in names]
        links = tuple(Linkage(original, upgraded, 1) for original, upgraded in linkage)
        modules = ((self.name, serialize(module)),)
        return MovePackage(storage, version, modules, tuple(types), links)


@pytest.fixture
def assembler():
    return Sketch()


@pytest.fixture
def new_assembler():
    """Return the assembler of another module."""
    return Sketch


@pytest.fixture
def machine_of():
    """Return machine_of(*packages, natives), which makes a machine with these packages."""

    def make(*packages, natives=None):
        known = {package.id: package for package in packages}
        return Machine(natives or {}, known.get)

    return make


@pytest.fixture
def call(machine_of):
    """Return call(assembler, function, *arguments, types, natives, budget) -> results."""

    def run(assembler, name, *arguments, types=(), natives=None, budget=BUDGET):
        machine = machine_of(assembler.package(), natives=natives)
        function = machine.types.function(assembler.address, assembler.name, name)
        context = Context(machine.types, Meter(budget))
        return machine.call(function, types, list(arguments), context)

    return run


@pytest.fixture
def run(assembler, call):
    """Return run(code, parameters, returns, *arguments), which runs a function with this code."""

    def run_code(code, parameters=(), returns=(), *arguments, local_types=(), budget=BUDGET):
        assembler.function("f", parameters, returns, code, local_types=local_types)
        return call(assembler, "f", *arguments, budget=budget)

    return run_code
