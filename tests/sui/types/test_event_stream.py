"""Commitments to authenticated events, with the values of `sui-rust-sdk`'s own tests."""

from nexus_tools.sui.types.address import ACCUMULATOR_ROOT, SUI_FRAMEWORK, Address
from nexus_tools.sui.types.address_balance import accumulator_id
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.event import EVENT_STREAM_HEAD, EventCommitment, merkle_root


def test_merkle_root_of_three_commitments():
    commitments = [
        EventCommitment(1, transaction, event, Digest(bytes([byte]) * 32))
        for transaction, event, byte in ((0, 0, 0x11), (0, 1, 0x22), (1, 0, 0x33))
    ]
    assert merkle_root(commitments).hex() == (
        "feb757f7480e5a74ddc3f457faece2a1636ac7f6558ab46e7032674da068ef3d"
    )


def test_merkle_root_of_no_commitments_is_zero():
    assert merkle_root([]) == bytes(32)


def test_ids_of_stream_heads():
    heads = {
        Address.of(0): "0x9461a724d957b41485e094fdced6c668bd388070108dbfbdc12277ad68a2717f",
        SUI_FRAMEWORK: "0x1b877f5c7664df8957f127a95d1b2c8c1c239fd49566f9f69205df44133fc37f",
        ACCUMULATOR_ROOT: "0x452652326e8df295af20a4e0744acac9a74f87d93ba976dd97d3e93e1a542e37",
    }
    for stream, head in heads.items():
        assert str(accumulator_id(stream, EVENT_STREAM_HEAD)) == head
