import pytest

from nexus_tools.sui.localnet.vm import ErrorKind, PrimitiveError, Reference
from nexus_tools.sui.types.type_tag import SUI, Primitive, VectorTag, coin_tag, parse_type_tag

TWO = "0" * 63 + "2"


def text_of(type_name):
    return type_name[0][0].decode()


@pytest.mark.parametrize(
    ("tag", "text"),
    [
        (Primitive.U64, "u64"),
        (VectorTag(Primitive.ADDRESS), "vector<address>"),
        (coin_tag(SUI), f"{TWO}::coin::Coin<{TWO}::sui::SUI>"),
        (
            parse_type_tag("0x2::table::Table<u8,vector<0x2::sui::SUI>>"),
            f"{TWO}::table::Table<u8,vector<{TWO}::sui::SUI>>",
        ),
    ],
)
def test_type_name_has_full_addresses_without_prefix(call, tag, text):
    for function in ("with_defining_ids", "with_original_ids"):
        assert text_of(call("type_name", function, types=(tag,), package=1)) == text


def test_primitive_type_has_no_package(call):
    for function in ("defining_id", "original_id"):
        assert call.aborts("type_name", function, types=(Primitive.U8,), package=1) == 0
        assert call("type_name", function, types=(SUI,), package=1).hex() == TWO


def test_bcs_encodes_value_by_its_type(call):
    value = Reference([[bytearray(b"ab"), bytearray(b"")]], 0)
    types = (VectorTag(VectorTag(Primitive.U8)),)
    assert call("bcs", "to_bytes", value, types=types, package=1) == b"\x02\x02ab\x00"


@pytest.mark.parametrize(
    ("data", "valid"), [(b"\xc3\xa4", True), (b"\xc3", False), (b"\xed\xa0\x80", False)]
)
def test_utf8_is_checked(call, ref, data, valid):
    assert call("string", "internal_check_utf8", ref(data), package=1) is valid


def test_character_boundaries_follow_utf8(call, ref):
    text = "aä€".encode()
    places = [
        call("string", "internal_is_char_boundary", ref(text), place, package=1)
        for place in range(len(text) + 2)
    ]
    assert places == [True, True, False, True, False, False, True, False]


def test_string_is_searched_and_cut(call, ref):
    text = b"hello"
    assert call("string", "internal_index_of", ref(text), ref(b"l"), package=1) == 2
    assert call("string", "internal_index_of", ref(text), ref(b"x"), package=1) == 5
    assert call("string", "internal_sub_string", ref(text), 1, 3, package=1) == b"el"


def test_vector_natives_work(call):
    numbers = [1, 2, 3]
    vector, types = Reference([numbers], 0), (Primitive.U64,)
    assert call("vector", "length", vector, types=types, package=1) == 3
    assert call("vector", "borrow", vector, 1, types=types, package=1).read() == 2
    call("vector", "push_back", vector, 4, types=types, package=1)
    call("vector", "swap", vector, 0, 3, types=types, package=1)
    assert call("vector", "pop_back", vector, types=types, package=1) == 1
    assert numbers == [4, 2, 3]


def test_empty_byte_vector_contains_bytes(call):
    assert call("vector", "empty", types=(Primitive.U8,), package=1) == bytearray()
    assert call("vector", "empty", types=(Primitive.U64,), package=1) == []


def test_vector_has_at_most_262144_elements(call):
    numbers = [0] * 262_143
    vector = Reference([numbers], 0)
    call("vector", "append", vector, [1], types=(Primitive.U64,), package=1)
    with pytest.raises(PrimitiveError) as failure:
        call("vector", "append", vector, [2], types=(Primitive.U64,), package=1)
    assert failure.value.kind is ErrorKind.VECTOR_OPERATION_ERROR
    assert failure.value.sub_status == 4
    assert failure.value.location.function_name == "append"
    assert len(numbers) == 262_144


def test_debug_prints_nothing(call, ref, capsys):
    call("debug", "print", ref(b"secret"), types=(VectorTag(Primitive.U8),), package=1)
    assert capsys.readouterr().out == ""
