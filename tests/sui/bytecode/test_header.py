import pytest

from nexus_tools.sui.bytecode import MalformedModule, TableKind, deserialize, read_header


def refused(data, message):
    with pytest.raises(MalformedModule, match=message):
        deserialize(bytes(data))


def test_smallest_module_is_read(assembly):
    module = deserialize(bytes(assembly))
    assert (module.version, module.flavor, module.name) == (7, 5, "m")
    assert module.function_definitions == ()


def test_header_has_ends_of_tables_and_module(assembly):
    data = bytes(assembly)
    header = read_header(data)
    start, end = header.tables[TableKind.ADDRESSES]
    assert data[start:end] == bytes(32)
    assert header.end == len(data)


def test_other_magic_is_rejected(assembly):
    refused(b"\xde\xad\xc0\xde" + bytes(assembly)[4:], "magic")


@pytest.mark.parametrize("version", ["04000000", "08000005", "07000000", "07000006", "ffffffff"])
def test_unknown_version_or_flavor_is_rejected(assembly, version):
    data = bytes(assembly)
    refused(data[:4] + bytes.fromhex(version) + data[8:], "of the format")


@pytest.mark.parametrize("kind", [0, 9, 0x15, 0xFF])
def test_unknown_table_is_rejected(assembly, kind):
    refused(assembly.with_tables({kind: b"\x00"}), "unknown table kind")


def test_enum_table_needs_version_7(version_6):
    refused(version_6.with_tables({0x11: b"\x00"}), "needs version 7")


def test_empty_table_is_rejected(assembly):
    refused(assembly.with_tables({4: b""}), "empty")


# The headers start at byte 9, with three bytes each: kind, offset, size.
def test_repeated_table_is_rejected(assembly):
    data = bytearray(bytes(assembly))
    data[12] = data[9]
    refused(data, "twice")


def test_gap_between_tables_is_rejected(assembly):
    data = bytearray(bytes(assembly))
    data[13] += 1
    refused(data, "adjacent")


def test_overlapping_tables_are_rejected(assembly):
    data = bytearray(bytes(assembly))
    data[11] += 1
    refused(data, "adjacent")


def test_tables_may_be_in_any_order(assembly):
    data = bytearray(bytes(assembly))
    data[9:12], data[12:15] = data[12:15], data[9:12]
    assert deserialize(bytes(data)) == deserialize(bytes(assembly))


def test_table_beyond_the_file_is_rejected(assembly):
    refused(bytes(assembly)[:-2], "longer than the file")


def test_module_without_own_handle_is_rejected(assembly):
    data = bytes(assembly)
    refused(data[:-1] + b"\x01", "no handle for itself")


@pytest.mark.parametrize("number", ["8000", "ffffffffffffffffff02", "80808080808080808080"])
def test_integer_in_longer_form_is_rejected(assembly, number):
    refused(bytes(assembly)[:-1] + bytes.fromhex(number), "integer|above")


def test_integer_above_its_limit_is_rejected(assembly):
    refused(bytes(assembly)[:-1] + bytes.fromhex("808004"), "above the limit of 65535")
