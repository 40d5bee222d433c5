"""Vectors are those of the BCS specification: github.com/diem/bcs, "Detailed Specifications"."""

from dataclasses import dataclass
from enum import Enum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nexus_tools.sui import bcs
from nexus_tools.sui.bcs import BcsError, Codec
from nexus_tools.sui.support.uleb128 import write_uleb128


@pytest.mark.parametrize(
    ("codec", "value", "encoded"),
    [
        (bcs.boolean, True, "01"),
        (bcs.boolean, False, "00"),
        (bcs.u8, 1, "01"),
        (bcs.u16, 0x1234, "3412"),
        (bcs.u32, 0x12345678, "78563412"),
        (bcs.u64, 0x12345678ABCDEF00, "00efcdab78563412"),
        (bcs.u128, 1, "01" + "00" * 15),
        (bcs.u256, 2**255, "00" * 31 + "80"),
        (bcs.option(bcs.u8), 8, "0108"),
        (bcs.option(bcs.u8), None, "00"),
        (bcs.vector(bcs.u16), (1, 2), "0201000200"),
        (bcs.record((bcs.u8, bcs.string)), (0xFF, "diem"), "ff046469656d"),
        (bcs.byte_vector, b"\1\2", "020102"),
        (bcs.fixed(3, bytes), b"\1\2\3", "010203"),
        (
            bcs.string,
            "çå∞≠¢õß∂ƒ∫",
            "18c3a7c3a5e2889ee289a0c2a2c3b5c39fe28882c692e288ab",
        ),
    ],
)
def test_value_has_the_bytes_of_the_specification(codec, value, encoded):
    assert codec.encode(value).hex() == encoded
    assert codec.decode(bytes.fromhex(encoded)) == value


@pytest.mark.parametrize(
    ("length", "encoded"),
    [
        (0, "00"),
        (1, "01"),
        (128, "8001"),
        (16384, "808001"),
        (2097152, "80808001"),
        (268435456, "8080808001"),
        (9487, "8f4a"),
        (2**32 - 1, "ffffffff0f"),
    ],
)
def test_length_is_written_in_uleb128(length, encoded):
    out = bytearray()
    write_uleb128(length, out)
    assert out.hex() == encoded
    assert bcs.read_uleb128(bytes(out), 0) == (length, len(out))


@pytest.mark.parametrize(
    "encoded", ["8000", "808000", "ffffffff10", "8080808080", "ffffffffff01", "80808080808001"]
)
def test_length_that_is_too_long_or_not_minimal_is_refused(encoded):
    with pytest.raises(BcsError):
        bcs.read_uleb128(bytes.fromhex(encoded), 0)


@dataclass(frozen=True)
class Point:
    x: int
    name: str


@dataclass(frozen=True)
class Other:
    inner: Point


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


POINT = bcs.struct(Point, bcs.u8, bcs.string)
EITHER = bcs.choice("Either", (Point, POINT), bcs.wrapper(Other, POINT))


def test_struct_is_its_fields_in_order():
    assert POINT.encode(Point(7, "a")) == b"\x07\x01a"
    assert POINT.decode(b"\x07\x01a") == Point(7, "a")


def test_enum_is_its_variant_number_and_the_variant():
    assert EITHER.encode(Other(Point(7, "a"))) == b"\x01\x07\x01a"
    assert EITHER.decode(b"\x00\x07\x01a") == Point(7, "a")


def test_enum_without_data_is_a_number():
    codec = bcs.unit_enum(Colour)
    assert codec.encode(Colour.BLUE) == b"\1"
    assert codec.decode(b"\0") is Colour.RED


def test_type_may_contain_itself():
    nested: Codec = bcs.vector(bcs.lazy(lambda: nested))
    assert nested.encode(((), ((),))) == bytes.fromhex("02000100")
    assert nested.decode(bytes.fromhex("02000100")) == ((), ((),))


def test_struct_refuses_another_number_of_codecs():
    with pytest.raises(TypeError):
        bcs.struct(Point, bcs.u8)


def test_codec_only_reads_and_writes():
    assert not hasattr(bcs.struct(Point, bcs.u8, bcs.u8), "read_all")


@pytest.mark.parametrize(
    ("codec", "encoded"),
    [
        (bcs.boolean, "02"),
        (bcs.u8, ""),
        (bcs.u64, "00000000000000"),
        (bcs.u8, "0000"),
        (bcs.byte_vector, "05000000"),
        (bcs.byte_vector, "ffffffff0f"),
        (bcs.string, "02c328"),
        (bcs.option(bcs.u8), "02"),
        (bcs.fixed(3, bytes), "0102"),
        (bcs.vector(bcs.u8), "020a"),
        (bcs.unit_enum(Colour), "02"),
        (EITHER, "02"),
        (EITHER, ""),
    ],
)
def test_decode_refuses_other_bytes(codec, encoded):
    with pytest.raises(BcsError):
        codec.decode(bytes.fromhex(encoded))


@pytest.mark.parametrize(
    ("codec", "value"),
    [
        (bcs.u8, 256),
        (bcs.u8, -1),
        (bcs.u64, 2**64),
        (bcs.u8, "1"),
        (bcs.string, 5),
        (bcs.fixed(2, bytes), b"\1"),
        (POINT, Other(Point(1, "a"))),
        (EITHER, Colour.RED),
        (bcs.unit_enum(Colour), Point(1, "a")),
        (bcs.vector(bcs.u8), 5),
        (bcs.record((bcs.u8,)), (1, 2)),
        (bcs.string, "\ud800"),
    ],
)
def test_encode_refuses_values_of_another_type(codec, value):
    with pytest.raises(BcsError):
        codec.encode(value)


codecs = st.deferred(
    lambda: (
        st.sampled_from(
            [
                (bcs.boolean, st.booleans()),
                (bcs.u8, st.integers(0, 255)),
                (bcs.u256, st.integers(0, 2**256 - 1)),
                (bcs.string, st.text(max_size=8)),
                (bcs.byte_vector, st.binary(max_size=8)),
            ]
        )
        | codecs.map(lambda pair: (bcs.option(pair[0]), st.none() | pair[1]))
        | codecs.map(
            lambda pair: (bcs.vector(pair[0]), st.lists(pair[1], max_size=4).map(tuple)),
        )
    )
)


@given(st.data())
def test_encoded_value_is_decoded(data):
    codec, values = data.draw(codecs)
    value = data.draw(values)
    encoded = codec.encode(value)
    decoded = codec.decode(encoded)
    assert codec.encode(decoded) == encoded


@given(st.data(), st.binary(max_size=64))
def test_bytes_have_at_most_one_value(data, noise):
    codec, _ = data.draw(codecs)
    try:
        value = codec.decode(noise)
    except BcsError:
        return
    assert codec.encode(value) == noise
