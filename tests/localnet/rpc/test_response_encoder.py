from hpack import Decoder

from nexus_tools.localnet.rpc.response_encoder import ResponseEncoder

FIELDS = [(b":status", b"200"), (b"x-sui-epoch", b"0"), (b"grpc-message", b"m" * 300)]


def test_any_decoder_reads_the_fields_in_their_order():
    assert Decoder().decode(ResponseEncoder().encode(FIELDS), raw=True) == FIELDS


def test_a_block_does_not_depend_on_the_blocks_before_it():
    encoder = ResponseEncoder()
    encoder.encode(FIELDS)

    assert Decoder().decode(encoder.encode(FIELDS), raw=True) == FIELDS


def test_a_field_is_a_literal_without_indexing():
    # RFC 7541, 6.2.2: 0x00, then the name and the value, each behind its length.
    assert ResponseEncoder().encode([(b"a", b"bc")]) == b"\x00\x01a\x02bc"


def test_a_smaller_table_is_acknowledged_in_front_of_the_next_block():
    encoder = ResponseEncoder()
    encoder.header_table_size = 0

    # RFC 7541, 6.3: 001 and the new size in five bits.
    assert encoder.encode([(b"a", b"b")]).startswith(b"\x20\x00")
