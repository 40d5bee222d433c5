"""Values built by hand, as JSON and as text."""

import pytest

from nexus_tools.sui.localnet.trace import EnumContent, MoveValue, StructContent, as_json, as_text
from nexus_tools.sui.types.address import MOVE_STDLIB, SUI_FRAMEWORK, Address
from nexus_tools.sui.types.type_tag import OBJECT_ID, STRING, SUI, Primitive, StructTag, VectorTag

HOME = Address.of(0xA << 200)
U8, U64, BOOL, ADDRESS = Primitive.U8, Primitive.U64, Primitive.BOOL, Primitive.ADDRESS
BYTES = VectorTag(U8)
OPTION = StructTag(MOVE_STDLIB, "option", "Option", (U64,))
BALANCE = StructTag(SUI_FRAMEWORK, "balance", "Balance", (SUI,))
PAIR = StructTag(HOME, "shop", "Pair", (U64, VectorTag(SUI)))
STATE = StructTag(HOME, "shop", "State")
TX_CONTEXT = StructTag(SUI_FRAMEWORK, "tx_context", "TxContext")


def number(value):
    return MoveValue(U64, value)


def struct(tag, **fields):
    return MoveValue(tag, StructContent(tuple(fields.items())))


def variant(name, **fields):
    return MoveValue(STATE, EnumContent(name, tuple(fields.items())))


NOTHING = MoveValue(BOOL, content=False)

VALUES = [
    (MoveValue(BOOL, content=True), True, "true"),
    (MoveValue(U8, 255), 255, "255"),
    (MoveValue(Primitive.U32, 7), 7, "7"),
    (number(7), "7", "7"),
    (MoveValue(Primitive.U256, 2**255), str(2**255), str(2**255)),
    (MoveValue(ADDRESS, HOME), str(HOME), str(HOME)),
    (MoveValue(OBJECT_ID, Address.of(6)), f"0x{6:064x}", "0x6"),
    (MoveValue(BYTES, b"hello"), "aGVsbG8=", 'b"hello"'),
    (MoveValue(BYTES, b""), "", 'b""'),
    (MoveValue(BYTES, b'"\0'), "IgA=", 'x"2200"'),
    (MoveValue(STRING, 'a "b"\n'), 'a "b"\n', '"a \\"b\\"\\n"'),
    (MoveValue(BALANCE, 5), "5", "5"),
    (MoveValue(OPTION, None), None, "none"),
    (MoveValue(OPTION, number(5)), "5", "some(5)"),
    (MoveValue(VectorTag(U64), (number(1), number(2))), ["1", "2"], "[1, 2]"),
    (struct(PAIR, one=number(1), other=number(2)), {"one": "1", "other": "2"}, None),
    (struct(PAIR, pos0=number(1), pos1=number(2)), {"pos0": "1", "pos1": "2"}, None),
    (struct(STATE, dummy_field=NOTHING), {"dummy_field": False}, "State {}"),
    (variant("Idle"), {"@variant": "Idle"}, "State::Idle"),
    (
        variant("On", since=number(3)),
        {"@variant": "On", "since": "3"},
        "State::On {since: 3}",
    ),
    (struct(TX_CONTEXT, epoch=number(3)), {"epoch": "3"}, "TxContext"),
]


@pytest.mark.parametrize(("value", "json", "text"), VALUES)
def test_value_is_formatted_as_json_and_text(value, json, text):
    assert as_json(value) == json
    assert text is None or as_text(value) == text


def test_struct_text_has_type_arguments_and_fields():
    value = struct(PAIR, one=number(1), other=number(2))
    assert as_text(value) == "Pair<u64, vector<SUI>> {one: 1, other: 2}"


def test_fields_without_names_are_in_parentheses():
    value = struct(PAIR, pos0=number(1), pos1=number(2))
    assert as_text(value) == "Pair<u64, vector<SUI>>(1, 2)"


def test_truncated_vector_shows_the_number_of_omitted_elements():
    values = MoveValue(VectorTag(U64), (number(1),), omitted=9)
    assert as_json(values) == {"first": ["1"], "omitted": 9}
    assert as_text(values) == "[1, 9 more]"
    data = MoveValue(BYTES, b"a", omitted=9)
    assert as_json(data) == {"first": "YQ==", "omitted": 9}
    assert as_text(data) == 'b"a" and 9 more'


def test_field_is_found_by_name():
    assert struct(PAIR, one=number(1))["one"].content == 1
    assert variant("On", since=number(3))["since"].content == 3
    with pytest.raises(KeyError):
        struct(PAIR)["one"]
    with pytest.raises(KeyError):
        number(1)["one"]
