import pytest

from nexus_tools.sui.bytecode import (
    DatatypeToken,
    MalformedModule,
    ReferenceToken,
    TypeParameterToken,
    VectorToken,
    deserialize,
)

# A handle of a datatype with two type parameters.
PAIR = bytes([0, 0, 0, 2, 0, 0, 0, 0])


def signature(assembly, *types):
    tables = {2: PAIR, 3: bytes([0, 0, 0, 0, 2, 0, 0]), 5: bytes([len(types)]) + b"".join(types)}
    return deserialize(bytes(assembly.with_tables(tables))).signatures[0]


def refused(assembly, message, *types):
    with pytest.raises(MalformedModule, match=message):
        signature(assembly, *types)


def test_primitives_have_their_move_names(assembly):
    numbers = (0x1, 0x2, 0xD, 0xE, 0x3, 0x4, 0xF, 0x5, 0xC)
    names = ("bool", "u8", "u16", "u32", "u64", "u128", "u256", "address", "signer")
    assert signature(assembly, *(bytes([number]) for number in numbers)) == names


def test_types_may_be_nested(assembly):
    # &mut Pair<vector<u8>, T1>, &u64
    tokens = signature(assembly, bytes([0x7, 0xB, 0, 2, 0xA, 0x2, 0x9, 1]), bytes([0x6, 0x3]))
    pair = DatatypeToken(0, (VectorToken("u8"), TypeParameterToken(1)))
    assert tokens == (ReferenceToken(pair, mutable=True), ReferenceToken("u64", mutable=False))


def test_depth_may_reach_limit_of_the_format(assembly):
    assert len(signature(assembly, b"\x0a" * 255 + b"\x02")) == 1


def test_greater_depth_is_rejected(assembly):
    refused(assembly, "nested too deeply", b"\x0a" * 256 + b"\x02")


@pytest.mark.parametrize("number", [0xD, 0xE, 0xF])
def test_newer_integers_need_version_6(version_5, version_6, number):
    assert len(signature(version_6, bytes([number]))) == 1
    refused(version_5, "needs version 6", bytes([number]))


@pytest.mark.parametrize("number", [0x0, 0x10, 0xFF])
def test_unknown_type_is_rejected(assembly, number):
    refused(assembly, "unknown type", bytes([number]))


def test_type_argument_count_must_match_datatype(assembly):
    refused(assembly, "expected 2 type arguments, got 0", bytes([0x8, 0]))
    refused(assembly, "expected 2 type arguments, got 1", bytes([0xB, 0, 1, 0x2]))
    refused(assembly, "without type arguments", bytes([0xB, 0, 0]))


def test_datatype_must_exist(assembly):
    refused(assembly, "datatype handles has no row 1", bytes([0x8, 1]))


def test_type_must_end_in_its_table(assembly):
    refused(assembly, "ends too early", bytes([0xA]))
