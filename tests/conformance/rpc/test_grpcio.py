"""A plain grpcio client, another implementation of gRPC, reads objects and checkpoints."""

from urllib.parse import urlsplit

import grpc
import pytest

from nexus_tools.sui.rpc import load_messages
from nexus_tools.sui.types.checkpoint import CHECKPOINT_CONTENTS, CHECKPOINT_SUMMARY
from nexus_tools.sui.types.effects import TRANSACTION_EFFECTS
from nexus_tools.sui.types.object import OBJECT
from nexus_tools.sui.types.transaction import TRANSACTION_DATA, ConsensusCommitPrologueV4, Genesis


@pytest.fixture(scope="module")
def call(url):
    messages = load_messages()
    with grpc.insecure_channel(urlsplit(url).netloc) as channel:

        def call(path, *paths, **fields):
            procedure = messages.procedures[path]
            stub = channel.unary_unary(
                procedure.path,
                request_serializer=procedure.request.SerializeToString,
                response_deserializer=procedure.response.FromString,
            )
            return stub(procedure.request(read_mask={"paths": paths}, **fields), timeout=20)

        yield call


def test_genesis_matches_its_bytes(call):
    response = call("/sui.rpc.v2.LedgerService/GetCheckpoint", "*", sequence_number=0)
    checkpoint = response.checkpoint
    summary = CHECKPOINT_SUMMARY.decode(checkpoint.summary.bcs.value)
    contents = CHECKPOINT_CONTENTS.decode(checkpoint.contents.bcs.value)
    assert str(summary.digest()) == checkpoint.digest
    assert summary.content_digest == contents.digest()
    (transaction,) = checkpoint.transactions
    data = TRANSACTION_DATA.decode(transaction.transaction.bcs.value)
    assert isinstance(data.kind, Genesis)
    assert str(data.digest()) == transaction.digest
    effects = TRANSACTION_EFFECTS.decode(transaction.effects.bcs.value)
    assert contents.transactions == ((data.digest(), effects.digest()),)
    assert len(transaction.objects.objects) == len(effects.changed_objects)


def test_genesis_objects_match_their_bytes(call):
    response = call("/sui.rpc.v2.LedgerService/GetCheckpoint", "objects", sequence_number=0)
    for shown in response.checkpoint.objects.objects:
        found = OBJECT.decode(shown.bcs.value)
        assert (str(found.id), found.version) == (shown.object_id, shown.version)
        assert str(found.digest()) == shown.digest


@pytest.mark.parametrize("object_id", ["0x1", "0x2", "0x3"])
def test_framework_packages_exist(call, object_id):
    found = call("/sui.rpc.v2.LedgerService/GetObject", "*", object_id=object_id).object
    assert (found.object_type, found.version, found.owner.kind) == ("package", 1, 4)
    assert found.package.modules


def test_clock_is_set_by_its_own_transaction(call):
    latest = call("/sui.rpc.v2.LedgerService/GetCheckpoint", "summary").checkpoint
    clock = call("/sui.rpc.v2.LedgerService/GetObject", "*", object_id="0x6").object
    assert clock.version >= 1
    transaction = call(
        "/sui.rpc.v2.LedgerService/GetTransaction", "*", digest=clock.previous_transaction
    ).transaction
    kind = TRANSACTION_DATA.decode(transaction.transaction.bcs.value).kind
    assert isinstance(kind, ConsensusCommitPrologueV4 | Genesis)
    assert transaction.checkpoint <= latest.summary.sequence_number
