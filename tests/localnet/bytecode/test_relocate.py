import pytest

from nexus_tools.localnet.bytecode import (
    AlreadyPublished,
    MalformedModule,
    deserialize,
    relocate,
)

PACKAGE_ID = bytes.fromhex("ab" * 32)


def test_module_gets_the_address_of_its_package(assembly):
    data = bytes(assembly)
    relocated = relocate(data, PACKAGE_ID)
    assert deserialize(relocated).address == PACKAGE_ID
    assert relocated.replace(PACKAGE_ID, bytes(32)) == data


def test_sibling_modules_get_the_address_and_others_keep_theirs(assembly):
    # Modules 0x0::m, 0x2::n and 0x0::n, with the module's own handle in the second place.
    other = bytes(31) + b"\x02"
    tables = {1: bytes([0, 1, 1, 0, 1, 1]), 7: b"\x01m\x01n", 8: other + bytes(32)}
    data = bytes(assembly.with_tables(tables))[:-1] + b"\x01"
    module = deserialize(relocate(data, PACKAGE_ID))
    assert [module.module_id(index) for index in range(3)] == [
        (other, "n"),
        (PACKAGE_ID, "m"),
        (PACKAGE_ID, "n"),
    ]


def test_module_of_a_published_package_is_not_moved(framework_modules):
    with pytest.raises(AlreadyPublished):
        relocate(framework_modules[0], PACKAGE_ID)


def test_malformed_module_is_refused():
    with pytest.raises(MalformedModule):
        relocate(b"no module", PACKAGE_ID)
