from hypothesis import given
from hypothesis import strategies as st

from nexus_tools.sui.types.checkpoint import (
    CHECKPOINT_CONTENTS,
    CHECKPOINT_SUMMARY,
    CheckpointArtifacts,
    CheckpointContents,
    CheckpointSummary,
    EndOfEpochData,
    LiveObjectSet,
)
from nexus_tools.sui.types.digest import Digest, blake2b256
from nexus_tools.sui.types.effects import GasCostSummary


def test_summary_has_its_fields_in_order():
    summary = CheckpointSummary(
        1, 2, 3, Digest(bytes(32)), None, GasCostSummary(4, 5, 6, 7), 8, (), None, b"\0\0"
    )
    numbers = [value.to_bytes(8, "little") for value in range(9)]
    expected = b"".join(
        [*numbers[1:4], b"\x20", bytes(32), b"\0", *numbers[4:9], b"\0", b"\0", b"\2\0\0"]
    )
    assert summary.encode() == expected
    assert summary.digest() == blake2b256(b"CheckpointSummary::", expected)


def test_contents_are_pairs_of_digests_and_lists_of_signatures():
    contents = CheckpointContents(((Digest(bytes(32)), Digest(b"\1" * 32)),), ((b"\7",),))
    expected = b"\0\1\x20" + bytes(32) + b"\x20" + b"\1" * 32 + b"\1\1\1\7"
    assert contents.encode() == expected
    assert contents.digest() == blake2b256(b"CheckpointContents::", expected)
    assert CHECKPOINT_CONTENTS.decode(expected) == contents


@given(st.data())
def test_summaries_round_trip(strategies, data):
    u64, digests = strategies.u64, strategies.digests
    commitments = strategies.tuples(
        st.builds(LiveObjectSet, digests) | st.builds(CheckpointArtifacts, digests)
    )
    committee = strategies.tuples(st.tuples(strategies.raw, u64))
    summary = data.draw(
        st.builds(
            CheckpointSummary,
            u64,
            u64,
            u64,
            digests,
            st.none() | digests,
            st.builds(GasCostSummary, u64, u64, u64, u64),
            u64,
            commitments,
            st.none() | st.builds(EndOfEpochData, committee, u64, commitments),
            strategies.raw,
        )
    )
    assert CHECKPOINT_SUMMARY.decode(summary.encode()) == summary
