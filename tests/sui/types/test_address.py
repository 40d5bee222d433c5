import pytest
from hypothesis import given
from hypothesis import strategies as st

from nexus_tools.errors import ValidationError
from nexus_tools.sui.types.address import CLOCK, Address


def test_short_address_is_padded_on_the_left():
    assert Address.parse("0x2") == bytes(31) + b"\2"


def test_canonical_text_has_64_digits():
    assert str(Address.parse("0xBAD")) == "0x" + "0" * 61 + "bad"


def test_short_text_has_no_leading_zeros():
    assert Address.parse("0x" + "0" * 60 + "0403").short() == "0x403"
    assert Address.of(0).short() == "0x0"


def test_clock_is_at_6():
    assert str(CLOCK) == "0x" + "0" * 63 + "6"


@pytest.mark.parametrize(
    "text",
    ["", "0x", "2", "0xg", "0x" + "0" * 65, "0x-1", "0x 1", "0x1 ", "x2", "0x1\n", "0x٣", "@0x2"],
)
def test_parse_refuses_invalid_addresses(text):
    with pytest.raises(ValidationError) as caught:
        Address.parse(text)
    assert caught.value.code == "address_invalid"


@pytest.mark.parametrize("length", [0, 20, 31, 33, 64])
def test_address_has_32_bytes(length):
    with pytest.raises(ValidationError) as caught:
        Address(bytes(length))
    assert caught.value.code == "address_invalid"


@given(st.binary(min_size=32, max_size=32))
def test_text_and_bytes_name_the_same_address(data):
    address = Address(data)
    assert Address.parse(str(address)) == Address.parse(address.short()) == data


@given(st.text(max_size=70) | st.text("0123456789abcdefxX", max_size=70).map("0x".__add__))
def test_any_text_is_an_address_or_is_refused(text):
    try:
        address = Address.parse(text)
    except ValidationError as error:
        refused = error.code
    else:
        refused = None
        assert int(text, 16) == int.from_bytes(address, "big")
    assert refused in (None, "address_invalid")
