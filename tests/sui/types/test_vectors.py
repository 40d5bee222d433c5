"""Bytes of real networks, from `tests/vectors`, with their digests on those networks.

Each vector names its chain, and the checkpoint that contains it or a transaction that wrote it.
Digests of transactions and effects come from the checkpoint's contents, and digests of events and
objects from the effects. A vector without a digest is only decoded and encoded. Signatures are from
the tests of the project that they name.
"""

import base64
import json
from pathlib import Path

import pytest

from nexus_tools.sui.signature import TRANSACTION_INTENT, UserSignature
from nexus_tools.sui.types.checkpoint import (
    ANY_CHECKPOINT_CONTENTS,
    CHECKPOINT_SUMMARY,
    CheckpointContentsV2,
    SignedTransactionDigests,
)
from nexus_tools.sui.types.digest import Digest, events_digest
from nexus_tools.sui.types.effects import TransactionEffects
from nexus_tools.sui.types.effects_v1 import ANY_EFFECTS, TransactionEffectsV1
from nexus_tools.sui.types.event import EVENTS
from nexus_tools.sui.types.object import OBJECT, MovePackage
from nexus_tools.sui.types.system_transaction import (
    AuthenticatorStateExpire,
    ChangeEpoch,
    EndOfEpoch,
)
from nexus_tools.sui.types.transaction import TRANSACTION_DATA

FOLDER = Path(__file__).parents[2] / "vectors"


def vectors(kind):
    found = json.loads((FOLDER / f"{kind}.json").read_text())
    return [
        pytest.param(vector, id=f"{place}-{vector.get('digest', '')}")
        for place, vector in enumerate(found)
    ]


def decoded(kind, codec):
    return [codec.decode(bcs(vector.values[0])) for vector in vectors(kind)]


def bcs(vector, field="bcs"):
    return base64.b64decode(vector[field])


def assert_digest(vector, value):
    if "digest" in vector:
        assert str(value.digest()) == vector["digest"]


@pytest.mark.parametrize("vector", vectors("transactions"))
def test_transaction_keeps_its_bytes_and_digest(vector):
    data = TRANSACTION_DATA.decode(bcs(vector))
    assert data.encode() == bcs(vector)
    assert_digest(vector, data)


@pytest.mark.parametrize("vector", vectors("transactions"))
def test_signatures_are_those_of_the_sender(vector):
    sender = TRANSACTION_DATA.decode(bcs(vector)).sender
    for text in vector["signatures"]:
        signature = UserSignature.parse(base64.b64decode(text))
        assert signature.address() == sender
        signature.verify(TRANSACTION_INTENT + bcs(vector))


@pytest.mark.parametrize("vector", vectors("signatures"))
def test_signature_of_every_scheme_is_parsed(vector):
    signature = UserSignature.parse(base64.b64decode(vector["signature"]))
    assert signature.scheme.name == vector["scheme"]


@pytest.mark.parametrize("vector", vectors("effects"))
def test_effects_of_either_version_keep_their_bytes_and_digest(vector):
    effects = ANY_EFFECTS.decode(bcs(vector))
    assert effects.encode() == bcs(vector)
    assert_digest(vector, effects)


@pytest.mark.parametrize("vector", vectors("events"))
def test_events_keep_their_bytes_and_digest(vector):
    assert EVENTS.encode(EVENTS.decode(bcs(vector))) == bcs(vector)
    assert str(events_digest(bcs(vector))) == vector["digest"]


@pytest.mark.parametrize("vector", vectors("objects"))
def test_object_keeps_its_bytes_and_digest(vector):
    value = OBJECT.decode(bcs(vector))
    assert value.encode() == bcs(vector)
    assert_digest(vector, value)


@pytest.mark.parametrize("vector", vectors("checkpoints"))
def test_summary_contains_the_digest_of_its_contents(vector):
    summary = CHECKPOINT_SUMMARY.decode(bcs(vector))
    contents = ANY_CHECKPOINT_CONTENTS.decode(bcs(vector, "contents"))
    assert summary.encode() == bcs(vector)
    assert summary.sequence_number == vector["checkpoint"]
    assert contents.encode() == bcs(vector, "contents")
    assert contents.digest() == summary.content_digest


def test_vectors_have_transactions_of_users_and_of_the_system():
    kinds = {type(data.kind).__name__ for data in decoded("transactions", TRANSACTION_DATA)}
    assert kinds >= {
        "AuthenticatorStateUpdate",
        "ConsensusCommitPrologue",
        "ConsensusCommitPrologueV4",
        "EndOfEpoch",
        "ProgrammableTransaction",
    }


def test_vectors_have_effects_of_both_versions_and_a_package():
    assert {type(effects) for effects in decoded("effects", ANY_EFFECTS)} == {
        TransactionEffects,
        TransactionEffectsV1,
    }
    assert MovePackage in {type(value.data) for value in decoded("objects", OBJECT)}


def test_last_transaction_of_an_epoch_can_have_several_steps():
    ends = [
        data.kind
        for data in decoded("transactions", TRANSACTION_DATA)
        if isinstance(data.kind, EndOfEpoch)
    ]
    steps = {type(step) for kind in ends for step in kind.steps}
    assert steps == {AuthenticatorStateExpire, ChangeEpoch}


def test_contents_v2_have_an_alias_with_each_signature():
    one, other = Digest(bytes(32)), Digest(b"\1" * 32)
    contents = CheckpointContentsV2(
        (SignedTransactionDigests((one, other), ((b"\7", None), (b"\x08", 5))),)
    )
    # variant 1, one transaction, two digests, two signatures: without and with a version
    expected = b"\1\1\x20" + one + b"\x20" + other + b"\2\1\7\0" + b"\1\x08\1\5" + bytes(7)
    assert contents.encode() == expected
    assert ANY_CHECKPOINT_CONTENTS.decode(expected) == contents
