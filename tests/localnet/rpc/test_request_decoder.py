import pytest
from hpack import Decoder, Encoder, HPACKError

from nexus_tools.localnet.rpc.request_decoder import RequestDecoder

FIRST = [(b":method", b"POST"), (b":path", b"/a"), (b"te", b"trailers")]
SECOND = [(b":method", b"POST"), (b":path", b"/b"), (b"te", b"trailers")]


def test_a_head_that_comes_again_has_the_same_fields():
    encoder, decoder = Encoder(), RequestDecoder()
    blocks = [encoder.encode(FIRST) for _ in range(4)]

    assert blocks[1] == blocks[2] != blocks[0]
    assert [decoder.decode(block, raw=True) for block in blocks] == [FIRST] * 4


def test_the_same_bytes_are_read_anew_when_the_table_has_changed():
    # RFC 7541, 6.2.1: 0x40 puts a field into the table, at place 62: 0xbe.
    decoder = RequestDecoder()
    decoder.decode(b"\x40\x01a\x01b", raw=True)
    assert decoder.decode(b"\xbe", raw=True) == [(b"a", b"b")]
    decoder.decode(b"\x40\x01c\x01d", raw=True)

    assert decoder.decode(b"\xbe", raw=True) == [(b"c", b"d")]


def test_a_place_is_not_known_any_more_when_the_table_has_become_smaller():
    decoder = RequestDecoder()
    decoder.decode(b"\x40\x01a\x01b", raw=True)
    decoder.decode(b"\xbe", raw=True)
    decoder.decode(b"\x20", raw=True)  # RFC 7541, 6.3: its size is zero now

    with pytest.raises(HPACKError):
        decoder.decode(b"\xbe", raw=True)


def test_heads_in_any_order_are_decoded_as_by_any_decoder():
    encoder, decoder, other = Encoder(), RequestDecoder(), Decoder()
    blocks = [encoder.encode(fields) for fields in (FIRST, SECOND, FIRST, SECOND, FIRST, FIRST)]

    for block in blocks:
        assert decoder.decode(block, raw=True) == other.decode(block, raw=True)
