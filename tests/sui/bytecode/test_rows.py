import pytest

from nexus_tools.sui.bytecode import (
    Ability,
    FieldDefinition,
    MalformedModule,
    Visibility,
    deserialize,
)


def refused(assembly, message):
    with pytest.raises(MalformedModule, match=message):
        deserialize(bytes(assembly))


@pytest.mark.parametrize("name", [b"a", b"A9", b"_a", b"__", b"Z_9"])
def test_move_name_is_an_identifier(assembly, name):
    module = deserialize(bytes(assembly.with_tables({7: bytes([len(name)]) + name})))
    assert module.name == name.decode()


@pytest.mark.parametrize("name", [b"", b"_", b"9a", b"a-b", b"a b", "é".encode(), b"\xff", b"a\n"])
def test_other_text_is_not_an_identifier(assembly, name):
    refused(assembly.with_tables({7: bytes([len(name)]) + name}), "not a valid Move name")


def test_identifier_must_end_in_its_table(assembly):
    refused(assembly.with_tables({7: b"\x05m"}), "ends too early")


def test_address_has_32_bytes(assembly):
    refused(assembly.with_tables({8: bytes(33)}), "ends too early")


@pytest.mark.parametrize("handle", [bytes([1, 0]), bytes([0, 1])])
def test_module_handle_must_refer_to_existing_rows(assembly, handle):
    refused(assembly.with_tables({1: handle}), "has no row 1")


@pytest.mark.parametrize("place", range(4))
def test_function_handle_must_refer_to_existing_rows(assembly, place):
    handle = bytearray(5)
    handle[place] = 1
    refused(assembly.with_tables({3: bytes(handle)}), "has no row 1")


def test_function_uses_only_its_own_type_parameters(assembly):
    # The signature has the type parameter 0; the function of one type parameter may use it.
    signature = {5: bytes([1, 0x9, 0])}
    refused(assembly.with_tables(signature), "type parameter")
    generic = assembly.with_tables(signature | {3: bytes([0, 0, 0, 0, 1, 0])})
    assert len(deserialize(bytes(generic)).function_handles[0].type_parameters) == 1


def test_abilities_are_four_bits(assembly):
    refused(assembly.with_tables({2: bytes([0, 0, 0x10, 0])}), "above the limit of 15")


def test_phantom_flag_is_a_bit(assembly):
    refused(assembly.with_tables({2: bytes([0, 0, 0, 1, 0, 2])}), "above the limit of 1")


def test_constant_must_end_in_its_table(assembly):
    refused(assembly.with_tables({6: bytes([0x2, 2, 7])}), "ends too early")


def test_metadata_is_read(assembly):
    module = deserialize(bytes(assembly.with_tables({0x10: b"\x01k\x02vv"})))
    assert [(row.key, row.value) for row in module.metadata] == [(b"k", b"vv")]


def test_friend_is_a_module_handle(assembly):
    refused(assembly.with_tables({0xF: bytes([1, 0])}), "has no row 1")


def test_instantiation_must_refer_to_existing_row(assembly):
    refused(assembly.with_tables({4: bytes([1, 0])}), "function handles has no row 1")
    refused(assembly.with_tables({4: bytes([0, 1])}), "signatures has no row 1")
    refused(assembly.with_tables({0xB: bytes([0, 0])}), "struct definitions has no row 0")
    refused(assembly.with_tables({0xE: bytes([0, 0])}), "field handles has no row 0")
    refused(assembly.with_tables({0x12: bytes([0, 0])}), "enum definitions has no row 0")
    refused(assembly.with_tables({0x14: bytes([0, 0])}), "enum instantiations has no row 0")


# Definitions

# A handle of a datatype `m` with the abilities copy and drop and without type parameters.
HANDLE = {2: bytes([0, 0, 3, 0])}


def read(assembly, tables):
    return deserialize(bytes(assembly.with_tables(HANDLE | tables)))


def refused_with(assembly, message, tables):
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


def test_enum_without_variants_is_rejected_with(assembly):
    refused_with(assembly, "no variants", {0x11: bytes([0, 2, 0])})


@pytest.mark.parametrize(("table", "flag"), [(0xA, 0), (0xA, 3), (0x11, 1), (0x11, 3)])
def test_unknown_kind_of_datatype_is_rejected_with(assembly, table, flag):
    refused_with(assembly, "unknown kind of", {table: bytes([0, flag, 0])})


def test_field_uses_only_type_parameters_of_its_datatype(assembly):
    refused_with(assembly, "type parameter", {0xA: bytes([0, 2, 1, 0, 0x9, 0])})


def test_field_handle_must_refer_to_existing_field(assembly):
    struct = {0xA: bytes([0, 2, 1, 0, 0x3])}
    assert read(assembly, struct | {0xD: bytes([0, 0])}).field_handles[0].field == 0
    refused_with(assembly, "a struct has no row 1", struct | {0xD: bytes([0, 1])})


def test_native_struct_has_no_field_handles(assembly):
    refused_with(assembly, "a struct has no row 0", {0xA: bytes([0, 1]), 0xD: bytes([0, 0])})


def test_variant_handle_must_refer_to_existing_variant(assembly):
    enum = {0x11: bytes([0, 2, 1, 0, 0])}
    assert read(assembly, enum | {0x13: bytes([0, 0])}).variant_handles[0].tag == 0
    refused_with(assembly, "an enum has no row 1", enum | {0x13: bytes([0, 1])})


def test_native_function_has_no_code(assembly):
    module = read(assembly, {12: bytes([0, 1, 2, 0])})
    function = module.function_definitions[0]
    assert (function.visibility, function.code, function.is_entry) == (
        Visibility.PUBLIC,
        None,
        False,
    )


@pytest.mark.parametrize("visibility", [2, 4, 0xFF])
def test_unknown_visibility_is_rejected_with(assembly, visibility):
    refused_with(assembly, "unknown visibility", {12: bytes([0, visibility, 2, 0])})


@pytest.mark.parametrize("flags", [1, 8, 0x80])
def test_unknown_flags_are_rejected_with(assembly, flags):
    refused_with(assembly, "unknown flags", {12: bytes([0, 0, flags, 0])})


def test_function_must_acquire_existing_structs(assembly):
    refused_with(assembly, "struct definitions has no row 0", {12: bytes([0, 0, 2, 1, 0])})
