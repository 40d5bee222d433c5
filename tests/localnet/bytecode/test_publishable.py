import pytest

from nexus_tools.localnet.bytecode import (
    Opcode,
    UnpublishableModule,
    check_publishable,
    deserialize,
)

RET = bytes([Opcode.RET])
# A datatype `m` and its definition as a struct with one field `m` of type u64.
HANDLE = {2: bytes([0, 0, 0, 0])}
STRUCT = HANDLE | {0xA: bytes([0, 2, 1, 0, 0x3])}
# The types without parameters.
PLAIN = (0x1, 0x2, 0x3, 0x4, 0x5, 0xD, 0xE, 0xF)


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


def test_native_functions_are_refused(assembly):
    refused(assembly.with_tables({12: bytes([0, 1, 2, 0])}), "a function is native")


def test_native_structs_are_refused(assembly):
    refused(
        assembly.with_code(1, RET).with_tables(STRUCT | {0xA: bytes([0, 1])}), "a struct is native"
    )


def test_version_5_is_refused(version_5):
    refused(version_5.with_code(1, RET), "too old")


def test_metadata_is_refused(assembly):
    refused(assembly.with_code(1, RET).with_tables({0x10: b"\x00\x00"}), "metadata")


def test_long_names_are_refused(assembly):
    check(assembly.with_code(1, RET).with_tables({7: bytes([128, 1]) + b"a" * 128}))
    refused(
        assembly.with_code(1, RET).with_tables({7: bytes([129, 1]) + b"a" * 129}), "is too long"
    )


def test_too_many_rows_are_refused(assembly):
    signatures = b"".join(bytes([3, a, b, c]) for a in PLAIN for b in PLAIN for c in PLAIN)
    more = b"".join(bytes([4, a, b, c, 1]) for a in PLAIN for b in PLAIN for c in PLAIN)
    refused(
        assembly.with_code(1, RET).with_tables({5: bytes([0]) + signatures + more}),
        "more than 1000 signatures",
    )
