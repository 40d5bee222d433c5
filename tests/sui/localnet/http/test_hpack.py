import pytest
from hpack import Decoder, Encoder

from nexus_tools.sui.localnet.http import hpack
from nexus_tools.sui.localnet.http.hpack import CompressionError, RequestDecoder

FIRST = [(b":method", b"POST"), (b":path", b"/a"), (b"te", b"trailers")]
SECOND = [(b":method", b"POST"), (b":path", b"/b"), (b"te", b"trailers")]


def test_repeated_header_block_has_the_same_fields():
    encoder, decoder = Encoder(), RequestDecoder()
    blocks = [encoder.encode(FIRST) for _ in range(4)]

    assert blocks[1] == blocks[2] != blocks[0]
    assert [decoder.decode(block, raw=True) for block in blocks] == [FIRST] * 4


def test_same_block_is_decoded_again_after_the_table_changed():
    # RFC 7541, 6.2.1: 0x40 puts a field into the table, at place 62: 0xbe.
    decoder = RequestDecoder()
    decoder.decode(b"\x40\x01a\x01b", raw=True)
    assert decoder.decode(b"\xbe", raw=True) == [(b"a", b"b")]
    decoder.decode(b"\x40\x01c\x01d", raw=True)

    assert decoder.decode(b"\xbe", raw=True) == [(b"c", b"d")]


def test_index_is_unknown_after_the_table_shrank():
    decoder = RequestDecoder()
    decoder.decode(b"\x40\x01a\x01b", raw=True)
    decoder.decode(b"\xbe", raw=True)
    decoder.decode(b"\x20", raw=True)  # RFC 7541, 6.3: its size is zero now

    with pytest.raises(CompressionError):
        decoder.decode(b"\xbe", raw=True)


def test_decoder_matches_the_standard_decoder_for_any_blocks():
    encoder, decoder, other = Encoder(), RequestDecoder(), Decoder()
    blocks = [encoder.encode(fields) for fields in (FIRST, SECOND, FIRST, SECOND, FIRST, FIRST)]

    for block in blocks:
        assert decoder.decode(block, raw=True) == other.decode(block, raw=True)


# --- Responses

FIELDS = ((":status", "200"), ("x-sui-epoch", "0"), ("grpc-message", "m" * 300))
DECODED = [(name.encode(), value.encode()) for name, value in FIELDS]


def test_standard_decoder_reads_encoded_fields_in_order():
    assert Decoder().decode(hpack.block(FIELDS), raw=True) == DECODED


def test_block_does_not_depend_on_earlier_blocks():
    decoder = Decoder()
    for number in range(3):
        fields = (*FIELDS, ("x-number", str(number)))
        expected = [*DECODED, (b"x-number", b"%d" % number)]
        assert decoder.decode(hpack.block(fields), raw=True) == expected
        assert Decoder().decode(hpack.block(fields), raw=True) == expected


def test_field_is_encoded_as_never_indexed():
    # RFC 7541, 6.2.3: 0x10, then the name and the value, each after its length.
    assert hpack.block((("a", "bc"),)) == b"\x10\x01a\x02bc"
