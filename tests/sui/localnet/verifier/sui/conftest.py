"""Published modules, and hand-made modules that no compiler produces."""

from importlib import resources
from pathlib import Path

import pytest

from assembler import Assembler
from nexus_tools.sui.bytecode import (
    Ability,
    Code,
    Constant,
    DatatypeToken,
    EnumDefinition,
    FieldDefinition,
    FunctionDefinition,
    Instruction,
    JumpTable,
    Opcode,
    ReferenceToken,
    StructDefinition,
    VariantDefinition,
    Visibility,
    deserialize,
)
from nexus_tools.sui.localnet.framework import load_framework
from nexus_tools.sui.localnet.verifier import VerificationError, verify_sui_module
from nexus_tools.sui.types.address import SUI_FRAMEWORK, Address

ROOT = Path(__file__).parents[5]
HERE = Address.of(0x77)


class Sketch(Assembler):
    """A module that grows row by row."""

    def __init__(self, name="m", address=HERE):
        super().__init__(address, name, constants=[Constant("bool", b"\1")])
        self.uid = self.foreign("object", "UID", Ability.STORE)
        self.context = self.foreign("tx_context", "TxContext", Ability.DROP)
        self.new = self.callee("object", "new", [self.mutable(self.context)], [self.uid])

    # --- Types

    def mutable(self, token):
        return ReferenceToken(token, mutable=True)

    def foreign(self, module, name, abilities=Ability.NONE, parameters=(), address=SUI_FRAMEWORK):
        """Return a type of another module, by default of the framework."""
        owner = self.module(address, module)
        return DatatypeToken(self.datatype_handle(owner, name, abilities, parameters))

    def own(self, name, abilities, parameters=()):
        return DatatypeToken(self.datatype_handle(self.self_handle, name, abilities, parameters))

    def fields(self, fields):
        return tuple(
            FieldDefinition(self.identifier(name), token) for name, token in fields.items()
        )

    def struct(self, name, abilities, fields, parameters=()):
        """Add a struct to the module and return its type."""
        token = self.own(name, abilities, parameters)
        self.row("struct_definitions", StructDefinition(token.handle, self.fields(fields)))
        return token

    def object(self, name):
        return self.struct(name, Ability.KEY, {"id": self.uid})

    def enum(self, name, abilities, variants):
        token = self.own(name, abilities)
        rows = tuple(
            VariantDefinition(self.identifier(v), self.fields(f)) for v, f in variants.items()
        )
        self.row("enum_definitions", EnumDefinition(token.handle, rows))
        return token

    def definition(self, token):
        """Return the operand of PACK and UNPACK."""
        rows = self.tables["struct_definitions"]
        return next(index for index, row in enumerate(rows) if row.handle == token.handle)

    # --- Functions

    def callee(self, module, name, parameters=(), returns=(), generic=None, address=SUI_FRAMEWORK):
        """Return the operand of CALL, or of CALL_GENERIC if `generic` has the type arguments."""
        constraints = [Ability.NONE] * len(generic or ())
        owner = self.module(address, module)
        handle = self.function_handle(owner, name, parameters, returns, constraints)
        if generic is None:
            return handle
        return self.instantiation("function_instantiations", handle, generic)

    def function(
        self,
        name,
        code,
        parameters=(),
        returns=(),
        *,
        type_parameters=(),
        visibility=Visibility.PRIVATE,
        entry=False,
        switch=None,
    ):
        """Add a function whose code is a sequence of opcodes, or of pairs with their operands."""
        handle = self.function_handle(self.self_handle, name, parameters, returns, type_parameters)
        rows = tuple(Instruction(*(row if isinstance(row, tuple) else (row,))) for row in code)
        tables = () if switch is None else (JumpTable(0, tuple(switch)),)
        body = Code(self.signature(()), rows, tables)
        row = FunctionDefinition(handle, visibility, entry, (), body)
        self.row("function_definitions", row)
        return handle

    # --- Verdicts

    def verify(self):
        verify_sui_module(self.build())

    def refused(self):
        """Return the `VerificationError` of the module."""
        with pytest.raises(VerificationError) as caught:
            self.verify()
        return caught.value

    def reason(self):
        """Return the error message, with `_` for the own address and `sui` for the framework's."""
        error = self.refused()
        assert error.status == "SUI_MOVE_VERIFICATION_ERROR"
        assert error.module == self.build().name
        text = str(error).replace(HERE.hex(), "_").replace(SUI_FRAMEWORK.hex(), "sui")
        return text.replace("0x77::", "_::").replace("0x2::", "sui::")


@pytest.fixture
def sketch():
    """Return an empty module `m`."""
    return Sketch()


@pytest.fixture
def sketched():
    """Return a function that makes empty modules by name and address."""
    return Sketch


@pytest.fixture(scope="session")
def genuine():
    """Return all modules of the framework and of our own package."""
    modules = [deserialize(data) for row in load_framework().values() for data in row.modules]
    folder = resources.files("nexus_tools.contracts") / "bytecode"
    files = [entry for entry in folder.iterdir() if entry.name.endswith(".mv")]
    return modules + [deserialize(entry.read_bytes()) for entry in files]


@pytest.fixture
def returning():
    """Return the code of a function that does nothing."""
    return [Opcode.RET]
