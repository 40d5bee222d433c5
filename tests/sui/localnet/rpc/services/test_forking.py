import grpc
import pytest

DAY_MS = 86_400_000


def clock(client):
    found = client.call("LedgerService/GetObject", "json", object_id="0x6").object
    return int(found.json.struct_value.fields["timestamp_ms"].string_value)


def test_clock_advances_by_the_requested_duration(client):
    before = clock(client)
    response = client.call("ForkingService/AdvanceClock", duration_ms=DAY_MS)
    assert clock(client) >= before + DAY_MS
    assert response.timestamp_ms >= before + DAY_MS
    prologue = client.call("LedgerService/GetTransaction", "*", digest=response.tx_digest)
    assert prologue.transaction.transaction.kind.kind == 10


def test_checkpoint_can_be_requested(client):
    before = client.call("ForkingService/GetStatus").checkpoint_sequence_number
    made = client.call("ForkingService/AdvanceCheckpoint").checkpoint_sequence_number
    assert made > before


def test_status_describes_the_latest_checkpoint(client):
    status = client.call("ForkingService/GetStatus")
    info = client.call("LedgerService/GetCheckpoint", "sequence_number", sequence_number=0)
    assert status.checkpoint_sequence_number >= info.checkpoint.sequence_number
    assert status.epoch == 0


def test_clock_advance_is_limited(client):
    with pytest.raises(grpc.RpcError) as caught:
        client.call("ForkingService/AdvanceClock", duration_ms=2**64 - 1)
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
