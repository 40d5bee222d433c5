"""A small assembler, so that tests can run exactly the instructions that they are about."""

from types import SimpleNamespace

import pytest

from nexus_tools.localnet.bytecode.opcode import Opcode
from nexus_tools.localnet.vm import Context, Machine, Meter
from nexus_tools.sui.address import Address
from nexus_tools.sui.object import Linkage, MovePackage, TypeOrigin

PACKAGE = Address.of(0xABC)
BUDGET = 100_000
PRIMITIVES = {"bool": 1, "u8": 2, "u64": 3, "u128": 4, "address": 5, "signer": 12}
PRIMITIVES |= {"u16": 13, "u32": 14, "u256": 15}
COPY, DROP, STORE, KEY = 1, 2, 4, 8
LITERALS = {"LD_U8": 1, "LD_U16": 2, "LD_U32": 4, "LD_U64": 8, "LD_U128": 16, "LD_U256": 32}


def uleb(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def counted(items):
    items = list(items)
    return uleb(len(items)) + b"".join(items)


class Assembler:
    """The tables of a module. What is added gives back its index.

    A type is the name of a primitive, or ("vector", type), ("&", type), ("&mut", type), ("T",
    index), or ("data", datatype handle, *type arguments). Code is a list of instructions: a name,
    or a tuple of a name and its operands.
    """

    def __init__(self, name="m", address=PACKAGE):
        self.name = name
        self.address = address
        self.rows = {kind: [] for kind in range(1, 21)}
        self.datatypes = []
        self.self_module = self.module(address, name)

    def row(self, kind, data):
        rows = self.rows[kind]
        if kind in (5, 7, 8) and data in rows:
            return rows.index(data)
        rows.append(data)
        return len(rows) - 1

    def identifier(self, name):
        return self.row(7, counted([bytes([byte]) for byte in name.encode()]))

    def module(self, address, name):
        return self.row(1, uleb(self.row(8, bytes(address))) + uleb(self.identifier(name)))

    def signature(self, *types):
        return self.row(5, counted(map(self.token, types)))

    def token(self, type_):
        if isinstance(type_, str):
            return bytes([PRIMITIVES[type_]])
        word, *rest = type_
        if word in ("&", "&mut", "vector"):
            return bytes([{"&": 6, "&mut": 7, "vector": 10}[word]]) + self.token(rest[0])
        if word == "T":
            return bytes([9]) + uleb(rest[0])
        handle, *arguments = rest
        if not arguments:
            return bytes([8]) + uleb(handle)
        return bytes([11]) + uleb(handle) + counted(map(self.token, arguments))

    def constant(self, type_, data):
        return self.row(6, self.token(type_) + uleb(len(data)) + data)

    def datatype(self, name, abilities, phantoms, module=None):
        """A handle; `phantoms` says for each type parameter whether it is phantom."""
        if module is None:
            self.datatypes.append(name)
        head = uleb(self.self_module if module is None else module) + uleb(self.identifier(name))
        parameters = counted([bytes([0, phantom]) for phantom in phantoms])
        return self.row(2, head + bytes([abilities]) + parameters)

    def fields(self, types):
        return counted(
            [uleb(self.identifier(f"f{i}")) + self.token(t) for i, t in enumerate(types)]
        )

    def struct(self, name, fields, abilities=COPY | DROP | STORE, phantoms=()):
        handle = self.datatype(name, abilities, phantoms)
        definition = self.row(10, uleb(handle) + bytes([2]) + self.fields(fields))
        return SimpleNamespace(handle=handle, definition=definition)

    def enum(self, name, variants, abilities=COPY | DROP | STORE, phantoms=()):
        handle = self.datatype(name, abilities, phantoms)
        rows = [
            uleb(self.identifier(f"V{tag}")) + self.fields(fields)
            for tag, fields in enumerate(variants)
        ]
        definition = self.row(17, uleb(handle) + bytes([2]) + counted(rows))
        return SimpleNamespace(handle=handle, definition=definition)

    def instance(self, kind, target, *type_arguments):
        """A row of a table of instantiations: 4 functions, 11 structs, 14 fields, 18 enums."""
        return self.row(kind, uleb(target) + uleb(self.signature(*type_arguments)))

    def field(self, struct, index):
        return self.row(13, uleb(struct.definition) + uleb(index))

    def variant(self, enum, tag):
        return self.row(19, uleb(enum.definition) + uleb(tag))

    def variant_instance(self, instance, tag):
        return self.row(20, uleb(instance) + uleb(tag))

    def handle(self, name, parameters=(), returns=(), type_parameters=(), module=None):
        """The handle of a function, so that it can be called before it is defined."""
        head = uleb(self.self_module if module is None else module) + uleb(self.identifier(name))
        signatures = uleb(self.signature(*parameters)) + uleb(self.signature(*returns))
        constraints = counted([bytes([bits]) for bits in type_parameters])
        return self.row(3, head + signatures + constraints)

    def define(self, handle, code, local_types=(), jump_tables=(), visibility=1):
        """The definition of a function; `code` is None if it is native."""
        if code is None:
            return self.row(12, uleb(handle) + bytes([visibility, 2, 0]))
        body = uleb(self.signature(*local_types)) + counted(map(self.instruction, code))
        tables = [
            uleb(enum.definition) + uleb(len(offsets)) + bytes([1]) + b"".join(map(uleb, offsets))
            for enum, offsets in jump_tables
        ]
        return self.row(12, uleb(handle) + bytes([visibility, 0, 0]) + body + counted(tables))

    def function(self, name, parameters, returns, code, type_parameters=(), **options):
        """A public function; gives its handle."""
        handle = self.handle(name, parameters, returns, type_parameters)
        self.define(handle, code, **options)
        return handle

    def instruction(self, instruction):
        name, *operands = (instruction,) if isinstance(instruction, str) else instruction
        head = bytes([Opcode[name]])
        if name in LITERALS:
            return head + operands[0].to_bytes(LITERALS[name], "little")
        if name in ("VEC_PACK", "VEC_UNPACK"):
            return head + uleb(self.signature(operands[0])) + operands[1].to_bytes(8, "little")
        if name.startswith("VEC_"):
            return head + uleb(self.signature(operands[0]))
        return head + b"".join(map(uleb, operands))

    def __bytes__(self):
        headers, contents = [], b""
        for kind, rows in self.rows.items():
            content = b"".join(rows)
            if content:
                headers.append(bytes([kind]) + uleb(len(contents)) + uleb(len(content)))
                contents += content
        head = bytes.fromhex("a11ceb0b07000005") + counted(headers)
        return head + contents + uleb(self.self_module)

    def package(self, storage=None, version=1, linkage=(), origins=None):
        """A package with this module alone; `origins` are defining ids that differ."""
        storage = storage or self.address
        origins = origins or {}
        types = [TypeOrigin(self.name, name, origins.get(name, storage)) for name in self.datatypes]
        links = tuple(Linkage(original, upgraded, 1) for original, upgraded in linkage)
        modules = ((self.name, bytes(self)),)
        return MovePackage(storage, version, modules, tuple(types), links)


@pytest.fixture
def assembler():
    return Assembler()


@pytest.fixture
def new_assembler():
    """The assembler of another module."""
    return Assembler


@pytest.fixture
def machine_of():
    """machine_of(*packages, natives): a machine that knows these packages."""

    def make(*packages, natives=None):
        known = {package.id: package for package in packages}
        return Machine(natives or {}, known.get)

    return make


@pytest.fixture
def call(machine_of):
    """call(assembler, function, *arguments, types, natives, budget): the results of a function."""

    def run(assembler, name, *arguments, types=(), natives=None, budget=BUDGET):
        machine = machine_of(assembler.package(), natives=natives)
        function = machine.function(assembler.address, assembler.name, name)
        context = Context(machine, Meter(budget))
        return machine.call(function, types, list(arguments), context)

    return run


@pytest.fixture
def run(assembler, call):
    """run(code, parameters, returns, *arguments): what a function with this code returns."""

    def run_code(code, parameters=(), returns=(), *arguments, local_types=(), budget=BUDGET):
        assembler.function("f", parameters, returns, code, local_types=local_types)
        return call(assembler, "f", *arguments, budget=budget)

    return run_code
