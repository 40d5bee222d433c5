"""The check that no row occurs twice, and that a module defines exactly its own handles.

Source: `move-bytecode-verifier/src/check_duplication.rs`.
"""

from collections.abc import Hashable, Iterable

from nexus_tools.sui.bytecode import CompiledModule, FieldDefinition
from nexus_tools.sui.localnet.verifier.errors import VerificationError

_TABLES = (
    "identifiers",
    "addresses",
    "constants",
    "signatures",
    "module_handles",
    "friends",
)
_LATER_TABLES = ("function_instantiations", "variant_handles", "field_handles")


def verify_duplication(module: CompiledModule) -> None:
    """Raise `VerificationError` for a duplicate row or a definition with a foreign handle."""
    for table in _TABLES:
        _refuse_twice(module, getattr(module, table), table)
    datatypes = [(row.module, row.name) for row in module.datatype_handles]
    functions = [(row.module, row.name) for row in module.function_handles]
    _refuse_twice(module, datatypes, "datatype_handles")
    _refuse_twice(module, functions, "function_handles")
    for table in _LATER_TABLES:
        _refuse_twice(module, getattr(module, table), table)
    _refuse_twice(module, module.field_instantiations, "field_instantiations")
    _verify_functions(module)
    _verify_structs(module)
    _refuse_twice(module, module.struct_instantiations, "struct_instantiations")
    _verify_enums(module)
    _refuse_twice(module, module.enum_instantiations, "enum_instantiations")
    _verify_implemented(module)


def _refused(module: CompiledModule, status: str, message: str) -> VerificationError:
    return VerificationError(status, message, module.name)


def _refuse_twice(module: CompiledModule, rows: Iterable[Hashable], table: str) -> None:
    seen: set[Hashable] = set()
    for index, row in enumerate(rows):
        if row in seen:
            message = f"row {index} of {table} is a duplicate"
            raise _refused(module, "DUPLICATE_ELEMENT", message)
        seen.add(row)


def _verify_functions(module: CompiledModule) -> None:
    handles = [row.handle for row in module.function_definitions]
    _refuse_twice(module, handles, "function_definitions")
    for row in module.function_definitions:
        if len(set(row.acquires)) != len(row.acquires):
            message = f"{module.function_id(row.handle)[2]} acquires a resource twice"
            raise _refused(module, "DUPLICATE_ACQUIRES_ANNOTATION", message)
    _refuse_foreign(module, [module.function_handles[handle].module for handle in handles])
    defined = set(handles)
    for index, function in enumerate(module.function_handles):
        if function.module == module.self_handle and index not in defined:
            message = f"the function {module.function_id(index)[2]} has no definition"
            raise _refused(module, "UNIMPLEMENTED_HANDLE", message)


def _verify_structs(module: CompiledModule) -> None:
    handles = [row.handle for row in module.struct_definitions]
    _refuse_twice(module, handles, "struct_definitions")
    for row in module.struct_definitions:
        if row.fields is None:
            continue
        if not row.fields:
            message = f"the struct {module.datatype_id(row.handle)[2]} has no fields"
            raise _refused(module, "ZERO_SIZED_STRUCT", message)
        _refuse_same_names(module, row.fields)
    _refuse_foreign(module, [module.datatype_handles[handle].module for handle in handles])


def _verify_enums(module: CompiledModule) -> None:
    structs = [row.handle for row in module.struct_definitions]
    handles = [row.handle for row in module.enum_definitions]
    _refuse_twice(module, structs + handles, "enum_definitions")
    for row in module.enum_definitions:
        if not row.variants:
            message = f"the enum {module.datatype_id(row.handle)[2]} has no variants"
            raise _refused(module, "ZERO_SIZED_ENUM", message)
        _refuse_twice(module, [variant.name for variant in row.variants], "the variants")
        for variant in row.variants:
            _refuse_same_names(module, variant.fields)
    _refuse_foreign(module, [module.datatype_handles[handle].module for handle in handles])


def _refuse_same_names(module: CompiledModule, fields: tuple[FieldDefinition, ...]) -> None:
    _refuse_twice(module, [field.name for field in fields], "the fields")


def _refuse_foreign(module: CompiledModule, modules: list[int]) -> None:
    if any(handle != module.self_handle for handle in modules):
        message = "a definition uses a handle of another module"
        raise _refused(module, "INVALID_MODULE_HANDLE", message)


def _verify_implemented(module: CompiledModule) -> None:
    defined = {row.handle for row in module.struct_definitions}
    defined.update(row.handle for row in module.enum_definitions)
    for index, row in enumerate(module.datatype_handles):
        if row.module == module.self_handle and index not in defined:
            message = f"the type {module.datatype_id(index)[2]} has no definition"
            raise _refused(module, "UNIMPLEMENTED_HANDLE", message)
