"""An assembler of Move modules. It builds the tables of a module row by row, without a compiler."""

from collections.abc import Iterable
from typing import Any, Self

from nexus_tools.sui.bytecode import (
    Ability,
    CompiledModule,
    DatatypeHandle,
    DatatypeTypeParameter,
    FunctionHandle,
    Instantiation,
    ModuleHandle,
    SignatureToken,
)

_TABLES = CompiledModule.__struct_fields__[3:]
_VERSION, _FLAVOR = 7, 5


class Assembler:
    """The tables of a module. The methods store an added item once, and return the item's index.

    `rows` are the initial contents of the tables.
    """

    def __init__(self, address: bytes, name: str, **rows: Iterable[Any]) -> None:
        self.tables = {table: dict[Any, int]() for table in _TABLES}
        for table, given in rows.items():
            for row in given:
                self.row(table, row)
        self.self_handle = self.module(address, name)

    @classmethod
    def extending(cls, module: CompiledModule) -> Self:
        """Return an assembler that starts with the tables of a module."""
        tables = {table: getattr(module, table) for table in _TABLES}
        return cls(module.address, module.name, **tables)

    def row(self, table: str, row: Any) -> int:
        """Add a row to a table if the table does not contain it, and return its index."""
        rows = self.tables[table]
        return rows.setdefault(row, len(rows))

    def identifier(self, name: str) -> int:
        """Add a name."""
        return self.row("identifiers", name)

    def module(self, address: bytes, name: str) -> int:
        """Add the handle of a module."""
        handle = ModuleHandle(self.row("addresses", bytes(address)), self.identifier(name))
        return self.row("module_handles", handle)

    def signature(self, tokens: Iterable[SignatureToken]) -> int:
        """Add a list of types."""
        return self.row("signatures", tuple(tokens))

    def datatype_handle(
        self,
        module: int,
        name: str,
        abilities: Ability,
        type_parameters: Iterable[DatatypeTypeParameter] = (),
    ) -> int:
        """Add the handle of a struct or enum."""
        handle = DatatypeHandle(module, self.identifier(name), abilities, tuple(type_parameters))
        return self.row("datatype_handles", handle)

    def function_handle(
        self,
        module: int,
        name: str,
        parameters: Iterable[SignatureToken] = (),
        returns: Iterable[SignatureToken] = (),
        constraints: Iterable[Ability] = (),
    ) -> int:
        """Add the handle of a function. `constraints` belong to its type parameters."""
        handle = FunctionHandle(
            module,
            self.identifier(name),
            self.signature(parameters),
            self.signature(returns),
            tuple(constraints),
        )
        return self.row("function_handles", handle)

    def instantiation(self, table: str, target: int, types: Iterable[SignatureToken]) -> int:
        """Add a row to a table of instantiations."""
        return self.row(table, Instantiation(target, self.signature(types)))

    def build(self) -> CompiledModule:
        """Return the module."""
        tables: dict[str, Any] = {table: tuple(rows) for table, rows in self.tables.items()}
        return CompiledModule(_VERSION, _FLAVOR, self.self_handle, **tables)
