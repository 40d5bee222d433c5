import pytest
from hypothesis import given
from hypothesis import strategies as st

from nexus_tools.errors import ValidationError
from nexus_tools.sui.bcs import BcsError, string, u8, u64
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.type_tag import (
    ASCII_STRING,
    GAS_COIN,
    STRUCT_TAG,
    SUI,
    TYPE_TAG,
    Primitive,
    StructTag,
    VectorTag,
    coin_tag,
    derived_object_id,
    parse_struct_tag,
    parse_type_tag,
)

# Numbers of the variants: `TypeTag` in `move-core-types/src/language_storage.rs`.
NUMBERS = {
    "bool": 0,
    "u8": 1,
    "u64": 2,
    "u128": 3,
    "address": 4,
    "signer": 5,
    "u16": 8,
    "u32": 9,
    "u256": 10,
}
PADDED_2 = "0x" + "0" * 63 + "2"


@pytest.mark.parametrize(("name", "number"), NUMBERS.items())
def test_primitive_type_is_one_byte(name, number):
    assert TYPE_TAG.encode(parse_type_tag(name)) == bytes([number])
    assert TYPE_TAG.decode(bytes([number])) == name


def test_vector_is_6_and_its_element():
    assert TYPE_TAG.encode(parse_type_tag("vector<vector<u8>>")) == bytes([6, 6, 1])


def test_struct_is_7_address_module_name_and_parameters():
    expected = b"\x07" + bytes(31) + b"\x02" + b"\x03sui\x03SUI" + b"\x00"
    assert TYPE_TAG.encode(SUI) == expected
    assert STRUCT_TAG.encode(SUI) == expected[1:]


def test_type_text_has_padded_addresses_and_a_space_after_commas():
    tag = parse_type_tag("0x2::table::Table<0x2::sui::SUI,vector<u8>>")
    assert str(tag) == f"{PADDED_2}::table::Table<{PADDED_2}::sui::SUI, vector<u8>>"


def test_coin_type_is_parsed_from_its_short_text():
    assert parse_struct_tag("0x2::coin::Coin<0x2::sui::SUI>") == GAS_COIN == coin_tag(SUI)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "u7",
        "U8",
        "vector",
        "vector<>",
        "vector<u8",
        "vector<u8>>",
        "vector<u8,u8>",
        "u8<u8>",
        "0x2::sui",
        "0x2::sui::SUI<",
        "0x2::sui::SUI<>",
        "0x2::sui::SUI<u8,>",
        "0x2::sui::SUI,u8",
        "0x2::su i::S-I",
        "0x2::9sui::SUI",
        "sui::sui::SUI",
        "0x2::sui::SUI::X",
        "0x2::süi::SUI",
        "vector<" * 200 + "u8" + ">" * 200,
    ],
)
def test_parse_refuses_invalid_types(text):
    with pytest.raises(ValidationError) as caught:
        parse_type_tag(text)
    assert caught.value.code in ("type_invalid", "address_invalid")


def test_primitive_is_not_a_struct():
    with pytest.raises(ValidationError) as caught:
        parse_struct_tag("u64")
    assert caught.value.code == "type_invalid"


def test_deep_nesting_is_refused():
    with pytest.raises(BcsError):
        TYPE_TAG.decode(b"\x06" * 10_000)
    with pytest.raises(BcsError):
        TYPE_TAG.decode((b"\x07" + bytes(32) + b"\x01m\x01S\x01") * 1000)


# MystenLabs: `sui-types/src/unit_tests/derived_object.rs`, packages/sui/test/unit/utils of ts-sdks.
@pytest.mark.parametrize(
    ("key_type", "key", "expected"),
    [
        (
            "vector<u8>",
            string.encode("foo"),
            "0xa2b411aa9588c398d8e3bc97dddbdd430b5ded7f81545d05e33916c3ca0f30c3",
        ),
        (
            "0x2::derived_object_tests::DemoStruct",
            u64.encode(1),
            "0x20c58d8790a5d2214c159c23f18a5fdc347211e511186353e785ad543abcea6b",
        ),
        (
            "0x2::derived_object_tests::GenericStruct<u64>",
            u64.encode(1),
            "0xb497b8dcf1e297ae5fa69c040e4a08ef8240d5373bbc9d6b686ffbd7dfe04cbe",
        ),
        ("u8", u8.encode(1), "0x4de7696edddfb592a8dc7c8b66053b1557eb4fa1a9194322562aabf3da9e9239"),
    ],
)
def test_derived_object_has_the_published_id(key_type, key, expected):
    assert str(derived_object_id(Address.of(2), parse_type_tag(key_type), key)) == expected


# Nexus Rust SDK: ids of tools in the registry of the published test.
@pytest.mark.parametrize(
    ("fqn", "expected"),
    [
        (
            "xyz.taluslabs.math.i64.add@1",
            "0x63152163bf12d54f38742656cba5d37a05e89d3ef5df7e9d22062e7bff0aed35",
        ),
        (
            "xyz.taluslabs.math.i64.mul@1",
            "0xc841b225a7e79c76942f3df05f1fcf17c2b259626ed51cb84e562cb3403604da",
        ),
    ],
)
def test_tool_has_the_id_of_the_nexus_sdk(fqn, expected):
    registry = Address.parse("0x940f0dd81d4e4ae2cd476ff61ca5699e0d9356e1874d6c4ba3a5bdf28e67b9e9")
    assert str(derived_object_id(registry, ASCII_STRING, string.encode(fqn))) == expected


@given(st.data())
def test_types_round_trip_as_bytes_and_text(strategies, data):
    tag = data.draw(strategies.type_tags)
    assert TYPE_TAG.decode(TYPE_TAG.encode(tag)) == tag
    assert parse_type_tag(str(tag)) == tag


@given(st.binary(max_size=120))
def test_any_bytes_are_a_canonical_type_or_are_refused(noise):
    try:
        tag = TYPE_TAG.decode(noise)
    except BcsError:
        return
    assert TYPE_TAG.encode(tag) == noise


@given(st.text("0x2:<>,vector u8sui", max_size=40))
def test_any_text_is_a_type_or_is_refused(text):
    try:
        tag = parse_type_tag(text)
    except ValidationError:
        return
    assert isinstance(tag, Primitive | VectorTag | StructTag)
