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


@pytest.mark.parametrize("number", range(0x29, 0x2E))
def test_global_storage_is_refused(assembly, number):
    instructions = bytes([number, 0]) + RET
    refused(assembly.with_tables(STRUCT).with_code(2, instructions), "global storage")


def test_version_5_is_refused(version_5):
    refused(version_5.with_code(1, RET), "too old")


def test_metadata_is_refused(assembly):
    refused(assembly.with_code(1, RET).with_tables({0x10: b"\x00\x00"}), "metadata")


def test_code_ends_with_a_jump(assembly):
    refused(assembly.with_code(1, bytes([Opcode.NOP])), "runs past its end")
    refused(assembly.with_code(0, b""), "runs past its end")


def test_long_names_are_refused(assembly):
    check(assembly.with_code(1, RET).with_tables({7: bytes([128, 1]) + b"a" * 128}))
    refused(
        assembly.with_code(1, RET).with_tables({7: bytes([129, 1]) + b"a" * 129}), "is too long"
    )


def test_repeated_rows_are_refused(assembly):
    whole = assembly.with_code(1, RET)
    refused(whole.with_tables({7: b"\x01m\x01m"}), "twice in identifiers")
    refused(whole.with_tables({8: bytes(64)}), "twice in addresses")
    refused(whole.with_tables({5: bytes(2)}), "twice in signatures")
    refused(whole.with_tables({12: whole.tables[12] * 2}), "twice in function definitions")


def test_repeated_fields_and_variants_are_refused(assembly):
    whole = assembly.with_code(1, RET).with_tables(HANDLE)
    fields = bytes([2, 0, 0x3, 0, 0x3])
    refused(whole.with_tables({0xA: bytes([0, 2]) + fields}), "twice in the fields")
    refused(whole.with_tables({0x11: bytes([0, 2, 1, 0]) + fields}), "twice in the fields")
    refused(whole.with_tables({0x11: bytes([0, 2, 2, 0, 0, 0, 0])}), "twice in the variants")


def test_struct_and_enum_of_one_handle_are_refused(assembly):
    both = STRUCT | {0x11: bytes([0, 2, 1, 0, 0])}
    refused(assembly.with_code(1, RET).with_tables(both), "twice in datatype definitions")


def test_struct_without_fields_is_refused(assembly):
    empty = HANDLE | {0xA: bytes([0, 2, 0])}
    refused(assembly.with_code(1, RET).with_tables(empty), "no fields")


def test_too_many_rows_are_refused(assembly):
    signatures = b"".join(bytes([3, a, b, c]) for a in PLAIN for b in PLAIN for c in PLAIN)
    more = b"".join(bytes([4, a, b, c, 1]) for a in PLAIN for b in PLAIN for c in PLAIN)
    refused(
        assembly.with_code(1, RET).with_tables({5: bytes([0]) + signatures + more}),
        "more than 1000 signatures",
    )


PLAIN = (0x1, 0x2, 0x3, 0x4, 0x5, 0xD, 0xE, 0xF)


def test_handles_of_the_module_itself_are_defined(assembly):
    refused(assembly, "do not match")
    refused(assembly.with_code(1, RET).with_tables(HANDLE), "do not match")
