import pytest

from nexus_tools.localnet.bytecode import MalformedModule, deserialize
from nexus_tools.localnet.bytecode.module import Ability, FieldDefinition, Visibility

# A handle of a datatype `m` with the abilities copy and drop and without type parameters.
HANDLE = {2: bytes([0, 0, 3, 0])}


def read(assembly, tables):
    return deserialize(bytes(assembly.with_tables(HANDLE | tables)))


def refused(assembly, message, tables):
    with pytest.raises(MalformedModule, match=message):
        read(assembly, tables)


def test_struct_has_abilities_and_fields(assembly):
    module = read(assembly, {0xA: bytes([0, 2, 1, 0, 0x3])})
    assert module.datatype_handles[0].abilities == Ability.COPY | Ability.DROP
    assert module.struct_definitions[0].fields == (FieldDefinition(0, "u64"),)


def test_native_struct_has_no_fields(assembly):
    assert read(assembly, {0xA: bytes([0, 1])}).struct_definitions[0].fields is None


def test_enum_has_variants(assembly):
    module = read(assembly, {0x11: bytes([0, 2, 2, 0, 0, 0, 1, 0, 0x3])})
    assert [len(variant.fields) for variant in module.enum_definitions[0].variants] == [0, 1]


def test_enum_without_variants_is_refused(assembly):
    refused(assembly, "no variants", {0x11: bytes([0, 2, 0])})


@pytest.mark.parametrize(("table", "flag"), [(0xA, 0), (0xA, 3), (0x11, 1), (0x11, 3)])
def test_unknown_kind_of_datatype_is_refused(assembly, table, flag):
    refused(assembly, "no kind of", {table: bytes([0, flag, 0])})


def test_field_uses_type_parameters_of_its_datatype_only(assembly):
    refused(assembly, "type parameter", {0xA: bytes([0, 2, 1, 0, 0x9, 0])})


def test_field_handle_names_a_field_that_is_there(assembly):
    struct = {0xA: bytes([0, 2, 1, 0, 0x3])}
    assert read(assembly, struct | {0xD: bytes([0, 0])}).field_handles[0].field == 0
    refused(assembly, "a struct has no row 1", struct | {0xD: bytes([0, 1])})


def test_native_struct_has_no_field_handles(assembly):
    refused(assembly, "a struct has no row 0", {0xA: bytes([0, 1]), 0xD: bytes([0, 0])})


def test_variant_handle_names_a_variant_that_is_there(assembly):
    enum = {0x11: bytes([0, 2, 1, 0, 0])}
    assert read(assembly, enum | {0x13: bytes([0, 0])}).variant_handles[0].tag == 0
    refused(assembly, "an enum has no row 1", enum | {0x13: bytes([0, 1])})


def test_native_function_has_no_code(assembly):
    module = read(assembly, {12: bytes([0, 1, 2, 0])})
    function = module.function_definitions[0]
    assert (function.visibility, function.code, function.is_entry) == (
        Visibility.PUBLIC,
        None,
        False,
    )


@pytest.mark.parametrize("visibility", [2, 4, 0xFF])
def test_unknown_visibility_is_refused(assembly, visibility):
    refused(assembly, "no visibility", {12: bytes([0, visibility, 2, 0])})


@pytest.mark.parametrize("flags", [1, 8, 0x80])
def test_unknown_flags_are_refused(assembly, flags):
    refused(assembly, "unknown flags", {12: bytes([0, 0, flags, 0])})


def test_function_acquires_structs_that_are_there(assembly):
    refused(assembly, "struct definitions has no row 0", {12: bytes([0, 0, 2, 1, 0])})
