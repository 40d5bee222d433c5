import pytest

from nexus_tools.localnet.bytecode import MalformedModule, deserialize


def refused(assembly, message):
    with pytest.raises(MalformedModule, match=message):
        deserialize(bytes(assembly))


@pytest.mark.parametrize("name", [b"a", b"A9", b"_a", b"__", b"Z_9"])
def test_move_name_is_an_identifier(assembly, name):
    module = deserialize(bytes(assembly.with_tables({7: bytes([len(name)]) + name})))
    assert module.name == name.decode()


@pytest.mark.parametrize("name", [b"", b"_", b"9a", b"a-b", b"a b", "é".encode(), b"\xff", b"a\n"])
def test_other_text_is_no_identifier(assembly, name):
    refused(assembly.with_tables({7: bytes([len(name)]) + name}), "no Move name")


def test_identifier_ends_in_its_table(assembly):
    refused(assembly.with_tables({7: b"\x05m"}), "ends too early")


def test_address_has_32_bytes(assembly):
    refused(assembly.with_tables({8: bytes(33)}), "ends too early")


@pytest.mark.parametrize("handle", [bytes([1, 0]), bytes([0, 1])])
def test_module_handle_names_what_is_there(assembly, handle):
    refused(assembly.with_tables({1: handle}), "has no row 1")


@pytest.mark.parametrize("place", range(4))
def test_function_handle_names_what_is_there(assembly, place):
    handle = bytearray(5)
    handle[place] = 1
    refused(assembly.with_tables({3: bytes(handle)}), "has no row 1")


def test_function_uses_its_own_type_parameters_only(assembly):
    # The signature has the type parameter 0; the function of one type parameter may use it.
    signature = {5: bytes([1, 0x9, 0])}
    refused(assembly.with_tables(signature), "type parameter")
    generic = assembly.with_tables(signature | {3: bytes([0, 0, 0, 0, 1, 0])})
    assert len(deserialize(bytes(generic)).function_handles[0].type_parameters) == 1


def test_abilities_are_four_bits(assembly):
    refused(assembly.with_tables({2: bytes([0, 0, 0x10, 0])}), "above the limit of 15")


def test_phantom_flag_is_a_bit(assembly):
    refused(assembly.with_tables({2: bytes([0, 0, 0, 1, 0, 2])}), "above the limit of 1")


def test_constant_ends_in_its_table(assembly):
    refused(assembly.with_tables({6: bytes([0x2, 2, 7])}), "ends too early")


def test_metadata_is_read(assembly):
    module = deserialize(bytes(assembly.with_tables({0x10: b"\x01k\x02vv"})))
    assert [(row.key, row.value) for row in module.metadata] == [(b"k", b"vv")]


def test_friend_is_a_module_handle(assembly):
    refused(assembly.with_tables({0xF: bytes([1, 0])}), "has no row 1")


def test_instantiation_names_what_is_there(assembly):
    refused(assembly.with_tables({4: bytes([1, 0])}), "function handles has no row 1")
    refused(assembly.with_tables({4: bytes([0, 1])}), "signatures has no row 1")
    refused(assembly.with_tables({0xB: bytes([0, 0])}), "struct definitions has no row 0")
    refused(assembly.with_tables({0xE: bytes([0, 0])}), "field handles has no row 0")
    refused(assembly.with_tables({0x12: bytes([0, 0])}), "enum definitions has no row 0")
    refused(assembly.with_tables({0x14: bytes([0, 0])}), "enum instantiations has no row 0")
