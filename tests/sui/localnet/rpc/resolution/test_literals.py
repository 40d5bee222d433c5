"""Literals as BCS, computed by hand."""

import pytest

from nexus_tools.sui.localnet.rpc.interface import Code, RpcError
from nexus_tools.sui.localnet.rpc.resolution.literals import write_literal
from nexus_tools.sui.localnet.vm import ReferenceType, TypeParameter
from nexus_tools.sui.types.address import MOVE_STDLIB
from nexus_tools.sui.types.type_tag import (
    ASCII_STRING,
    GAS_COIN,
    OBJECT_ID,
    STRING,
    Primitive,
    StructTag,
    VectorTag,
)


def option(tag):
    return StructTag(MOVE_STDLIB, "option", "Option", (tag,))


def listed(*values):
    return {"list_value": {"values": values}}


def text(value):
    return {"string_value": value}


def number(value):
    return {"number_value": value}


NULL = {"null_value": 0}
U8, U16, U32 = Primitive.U8, Primitive.U16, Primitive.U32
U64, U128, U256 = Primitive.U64, Primitive.U128, Primitive.U256

ACCEPTED = [
    (Primitive.BOOL, {"bool_value": True}, "01"),
    (Primitive.BOOL, text("false"), "00"),
    (U8, number(255), "ff"),
    (U8, text("255"), "ff"),
    (U16, number(258), "0201"),
    (U32, number(1), "01000000"),
    (U64, text("18446744073709551615"), "ff" * 8),
    (U64, number(1.9), "01" + "00" * 7),
    (U64, number(-3), "00" * 8),
    (U64, number(float("nan")), "00" * 8),
    (U64, number(1e30), "ff" * 8),
    (U64, number(float("inf")), "ff" * 8),
    (U128, text("340282366920938463463374607431768211455"), "ff" * 16),
    (U256, text(str(2**255)), "00" * 31 + "80"),
    (U256, text("+1"), "01" + "00" * 31),
    (Primitive.ADDRESS, text("0x2"), "00" * 31 + "02"),
    (Primitive.ADDRESS, text("ab" * 32), "ab" * 32),
    (STRING, text("grün"), "05" + "6772c3bc6e"),
    (ASCII_STRING, text(""), "00"),
    (option(U8), NULL, "00"),
    (option(U8), number(7), "0107"),
    (option(VectorTag(U8)), listed(), "0100"),
    (VectorTag(U16), listed(number(1), text("2")), "0201000200"),
    (VectorTag(VectorTag(U8)), listed(listed(number(1)), listed()), "02010100"),
    (VectorTag(option(STRING)), listed(NULL, text("a")), "0200010161"),
    (VectorTag(U8), listed(*[number(0)] * 128), "8001" + "00" * 128),
]
REFUSED = [
    (Primitive.BOOL, number(1)),
    (Primitive.BOOL, text("True")),
    (U8, number(256)),
    (U8, text("256")),
    (U8, text("-1")),
    (U8, text(" 1")),
    (U8, text("٣")),
    (U8, text("1_0")),
    (U8, {"bool_value": True}),
    (U8, NULL),
    (U8, {}),
    (U64, text("18446744073709551616")),
    (U256, text("9" * 5_000)),
    (Primitive.ADDRESS, number(2)),
    (Primitive.ADDRESS, text("2")),
    (Primitive.ADDRESS, text("0x")),
    (Primitive.ADDRESS, text("0x" + "1" * 65)),
    (STRING, number(1)),
    (option(U8), {"struct_value": {}}),
    (option(U8), {}),
    (option(option(U8)), {"struct_value": {}}),
    (VectorTag(U8), text("AQ==")),
    (VectorTag(U8), NULL),
    (Primitive.SIGNER, text("0x2")),
    (OBJECT_ID, text("0x2")),
    (GAS_COIN, text("0x2")),
    (TypeParameter(0), number(1)),
    (ReferenceType(U64, mutable=False), number(1)),
]


@pytest.fixture
def write(messages):
    def write(tag, value):
        out = bytearray()
        write_literal(out, tag, messages.message("google.protobuf.Value")(**value))
        return out.hex()

    return write


@pytest.mark.parametrize(("tag", "value", "expected"), ACCEPTED, ids=str)
def test_literal_becomes_the_bytes_of_its_type(write, tag, value, expected):
    assert write(tag, value) == expected


@pytest.mark.parametrize(("tag", "value"), REFUSED, ids=lambda value: str(value)[:60])
def test_literal_that_is_not_a_value_of_its_type_is_refused(write, tag, value):
    with pytest.raises(RpcError, match="literal") as caught:
        write(tag, value)
    assert caught.value.code is Code.INVALID_ARGUMENT
