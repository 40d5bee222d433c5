import pytest

from nexus_tools.contracts import load_package
from nexus_tools.sui.bytecode import (
    AlreadyPublished,
    MalformedModule,
    Opcode,
    UnpublishableModule,
    check_publishable,
    deserialize,
    original_id,
    relocate,
    relocate_module,
)
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.object import MovePackage

RET = bytes([Opcode.RET])
# A datatype `m` and its definition as a struct with one field `m` of type u64.
HANDLE = {2: bytes([0, 0, 0, 0])}
STRUCT = HANDLE | {0xA: bytes([0, 2, 1, 0, 0x3])}
# The types without parameters.
PLAIN = (0x1, 0x2, 0x3, 0x4, 0x5, 0xD, 0xE, 0xF)


@pytest.fixture(scope="module")
def unpublished_modules():
    """Return the modules of our own package as the compiler wrote them, at the address 0x0."""
    return load_package().modules


def check(assembly):
    check_publishable(deserialize(bytes(assembly)))


def refused(assembly, message):
    with pytest.raises(UnpublishableModule, match=message):
        check(assembly)


def test_compiled_modules_without_natives_are_publishable(framework_modules):
    modules = [deserialize(data) for data in framework_modules]
    pure = [m for m in modules if all(f.code is not None for f in m.function_definitions)]
    assert len(pure) > 50
    for module in pure:
        check_publishable(module)


def test_native_functions_are_rejected(assembly):
    refused(assembly.with_tables({12: bytes([0, 1, 2, 0])}), "a function is native")


def test_native_structs_are_rejected(assembly):
    refused(
        assembly.with_code(1, RET).with_tables(STRUCT | {0xA: bytes([0, 1])}), "a struct is native"
    )


def test_version_5_is_rejected(version_5):
    refused(version_5.with_code(1, RET), "too old")


def test_metadata_is_rejected(assembly):
    refused(assembly.with_code(1, RET).with_tables({0x10: b"\x00\x00"}), "metadata")


def test_long_names_are_rejected(assembly):
    check(assembly.with_code(1, RET).with_tables({7: bytes([128, 1]) + b"a" * 128}))
    refused(
        assembly.with_code(1, RET).with_tables({7: bytes([129, 1]) + b"a" * 129}), "is longer than"
    )


def test_too_many_rows_are_rejected(assembly):
    signatures = b"".join(bytes([3, a, b, c]) for a in PLAIN for b in PLAIN for c in PLAIN)
    more = b"".join(bytes([4, a, b, c, 1]) for a in PLAIN for b in PLAIN for c in PLAIN)
    refused(
        assembly.with_code(1, RET).with_tables({5: bytes([0]) + signatures + more}),
        "more than 1000 signatures",
    )


PACKAGE_ID = bytes.fromhex("ab" * 32)


def test_module_gets_address_of_its_package(assembly):
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


def test_module_of_published_package_is_not_relocated(framework_modules):
    with pytest.raises(AlreadyPublished):
        relocate(framework_modules[0], PACKAGE_ID)


def test_malformed_module_is_rejected():
    with pytest.raises(MalformedModule):
        relocate(b"no module", PACKAGE_ID)


def test_relocated_module_matches_its_bytes(unpublished_modules):
    for data in unpublished_modules:
        moved, module = relocate_module(data, deserialize(data), PACKAGE_ID)
        assert module == deserialize(moved)


def test_all_package_versions_have_original_id_of_the_first(unpublished_modules):
    files = tuple(
        (str(i), relocate(data, PACKAGE_ID)) for i, data in enumerate(unpublished_modules)
    )
    package = MovePackage(Address.of(0x77), 2, files, (), ())
    assert original_id(package) == PACKAGE_ID
