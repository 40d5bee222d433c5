"""The conversion of the bytes of a module file to a `CompiledModule`.

Source: `move-binary-format`, `deserializer.rs` and `check_bounds.rs`. A table is read after the
tables that it refers to, so each index is checked when it is read. The running time is linear in
the size of the file.
"""

from collections.abc import Callable
from typing import TypeVar

from nexus_tools.sui.bytecode.format import rows
from nexus_tools.sui.bytecode.format.code import lazy_code
from nexus_tools.sui.bytecode.format.cursor import Cursor, MalformedModule
from nexus_tools.sui.bytecode.format.draft import Draft
from nexus_tools.sui.bytecode.format.file_format import TableKind
from nexus_tools.sui.bytecode.format.header import Header, read_header
from nexus_tools.sui.bytecode.format.signature import read_signature
from nexus_tools.sui.bytecode.module import CompiledModule, FunctionDefinition

_Row = TypeVar("_Row")
_ReadFunction = Callable[[Cursor, Draft], FunctionDefinition]


def deserialize(data: bytes) -> CompiledModule:
    """Read a module file of version 5, 6 or 7.

    Raises:
        MalformedModule: The bytes are not exactly one module, or an index has no row in its table.
            No other exception is raised.
    """
    module, end = deserialize_at(data, 0)
    if end != len(data):
        raise MalformedModule("the file continues after the module", end)
    return module


def deserialize_published(data: bytes) -> CompiledModule:
    """Read a module file that was already validated, for example when its package was published.

    The code of a function is parsed at its first use, so an error in the code is raised only then.
    Raises `MalformedModule`.
    """
    return _Reading(data, read_header(data)).module(_read_function_without_code)


def deserialize_at(data: bytes, offset: int) -> tuple[CompiledModule, int]:
    """Read the module at `offset` in a larger file. Return the module and its end offset.

    Raises `MalformedModule`.
    """
    header = read_header(data, offset)
    return _Reading(data, header).module(), header.end


def declared_types(data: bytes) -> tuple[str, tuple[str, ...]]:
    """Return the name of a module, and the names of its structs followed by its enums.

    This function is faster than `deserialize` because it skips the other tables. Raises
    `MalformedModule`.
    """
    return _Reading(data, read_header(data, 0)).declared_types()


def own_address(data: bytes) -> bytes:
    """Return the 32-byte address of a module, reading only its handles.

    Raises `MalformedModule`.
    """
    return _Reading(data, read_header(data, 0)).own_address()


def _read_function_without_code(cursor: Cursor, draft: Draft) -> FunctionDefinition:
    return rows.read_function_definition(cursor, draft, lazy_code)


class _Reading:
    """One pass over the tables of a module."""

    def __init__(self, data: bytes, header: Header) -> None:
        self._data = data
        self._header = header
        self._draft = Draft(header.version)

    def module(
        self, read_function: _ReadFunction = rows.read_function_definition
    ) -> CompiledModule:
        self._read_names()
        self._read_datatypes()
        self._read_functions()
        draft, header = self._draft, self._header
        return CompiledModule(
            version=header.version,
            flavor=header.flavor,
            self_handle=header.self_handle,
            module_handles=tuple(draft.module_handles),
            datatype_handles=tuple(draft.datatype_handles),
            function_handles=tuple(draft.function_handles),
            function_instantiations=tuple(draft.function_instantiations),
            signatures=tuple(draft.signatures),
            constants=tuple(draft.constants),
            identifiers=tuple(draft.identifiers),
            addresses=tuple(draft.addresses),
            struct_definitions=tuple(draft.struct_definitions),
            struct_instantiations=tuple(draft.struct_instantiations),
            function_definitions=self._rows(TableKind.FUNCTION_DEFINITIONS, read_function),
            field_handles=tuple(draft.field_handles),
            field_instantiations=tuple(draft.field_instantiations),
            friends=self._rows(TableKind.FRIENDS, rows.read_module_handle),
            metadata=self._rows(TableKind.METADATA, rows.read_metadata),
            enum_definitions=tuple(draft.enum_definitions),
            enum_instantiations=tuple(draft.enum_instantiations),
            variant_handles=tuple(draft.variant_handles),
            variant_instantiations=tuple(draft.variant_instantiations),
        )

    def declared_types(self) -> tuple[str, tuple[str, ...]]:
        self._read_handles()
        draft, read = self._draft, self._rows
        structs = read(TableKind.STRUCT_DEFINITIONS, rows.read_struct_definition)
        enums = read(TableKind.ENUM_DEFINITIONS, rows.read_enum_definition)
        rows_of_types = [row.handle for row in structs] + [row.handle for row in enums]
        names = [draft.datatype_handles[handle].name for handle in rows_of_types]
        own_name = draft.module_handles[self._header.self_handle].name
        return draft.identifiers[own_name], tuple(draft.identifiers[name] for name in names)

    def own_address(self) -> bytes:
        self._read_module_handles()
        draft = self._draft
        return draft.addresses[draft.module_handles[self._header.self_handle].address]

    def _read_names(self) -> None:
        self._read_handles()
        draft = self._draft
        signatures = self._rows(TableKind.SIGNATURES, read_signature)
        draft.signatures = tuple([signature for signature, _ in signatures])
        draft.signature_arities = tuple([arity for _, arity in signatures])

    def _read_handles(self) -> None:
        self._read_module_handles()
        self._draft.datatype_handles = self._rows(
            TableKind.DATATYPE_HANDLES, rows.read_datatype_handle
        )

    def _read_module_handles(self) -> None:
        draft = self._draft
        draft.identifiers = self._rows(TableKind.IDENTIFIERS, rows.read_identifier)
        draft.addresses = self._rows(TableKind.ADDRESSES, rows.read_address)
        draft.module_handles = self._rows(TableKind.MODULE_HANDLES, rows.read_module_handle)
        if self._header.self_handle >= len(draft.module_handles):
            raise MalformedModule("the module has no handle for itself", self._header.end)

    def _read_datatypes(self) -> None:
        draft, read = self._draft, self._rows
        draft.struct_definitions = read(TableKind.STRUCT_DEFINITIONS, rows.read_struct_definition)
        draft.struct_instantiations = read(
            TableKind.STRUCT_INSTANTIATIONS, rows.read_struct_instantiation
        )
        draft.field_handles = read(TableKind.FIELD_HANDLES, rows.read_field_handle)
        draft.field_instantiations = read(
            TableKind.FIELD_INSTANTIATIONS, rows.read_field_instantiation
        )
        draft.enum_definitions = read(TableKind.ENUM_DEFINITIONS, rows.read_enum_definition)
        draft.enum_instantiations = read(
            TableKind.ENUM_INSTANTIATIONS, rows.read_enum_instantiation
        )
        draft.variant_handles = read(TableKind.VARIANT_HANDLES, rows.read_variant_handle)
        draft.variant_instantiations = read(
            TableKind.VARIANT_INSTANTIATIONS, rows.read_variant_instantiation
        )

    def _read_functions(self) -> None:
        draft, read = self._draft, self._rows
        draft.constants = read(TableKind.CONSTANTS, rows.read_constant)
        draft.function_handles = read(TableKind.FUNCTION_HANDLES, rows.read_function_handle)
        draft.function_instantiations = read(
            TableKind.FUNCTION_INSTANTIATIONS, rows.read_function_instantiation
        )

    def _rows(self, kind: TableKind, read: Callable[[Cursor, Draft], _Row]) -> tuple[_Row, ...]:
        """Return all rows of a table. The cursor rejects a row that crosses the table's end."""
        cursor = self._header.cursor(self._data, kind)
        rows_read = []
        while cursor.position < cursor.end:
            rows_read.append(read(cursor, self._draft))
        return tuple(rows_read)
