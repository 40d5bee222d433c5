"""Subscriptions: nothing is lost, and slow clients are dropped."""

from urllib.parse import urlsplit

import grpc
import pytest
from grpclib.client import Channel, UnaryStreamMethod
from grpclib.config import Configuration
from grpclib.const import Status
from grpclib.exceptions import GRPCError

from nexus_tools.sui.localnet import ThreadedLocalnet
from nexus_tools.sui.localnet.rpc import Limits

ITEM_LIMIT, LEDGER_TIP = 1, 5


@pytest.fixture
def settings_changed(published):
    name = f"{published.package}::tool_registry::ToolSettingsChanged"
    return {"terms": [{"literals": [{"event_type": {"event_type": name}}]}]}


def amount_of(frame):
    settings = frame.event.json.struct_value.fields["settings"].struct_value
    return int(settings.fields["max_schema_bytes"].string_value)


def next_event(stream):
    return next(frame for frame in stream if frame.HasField("event"))


def test_event_stream_starts_with_its_position(client, settings_changed):
    height = client.call("LedgerService/GetServiceInfo").checkpoint_height
    stream = client.stream("SubscriptionService/SubscribeEvents", filter=settings_changed)
    first = next(stream)
    assert not first.HasField("event")
    assert first.watermark.checkpoint >= height
    stream.cancel()


def test_events_arrive_as_they_happen(client, alice, published, settings_changed):
    stream = client.stream("SubscriptionService/SubscribeEvents", "*", filter=settings_changed)
    next(stream)
    for amount in (21, 22):
        executed = published.configure(client, alice, amount)
        frame = next_event(stream)
        assert amount_of(frame) == amount
        assert frame.event == executed.events.events[0]
        assert frame.watermark.checkpoint == executed.checkpoint - 1
    stream.cancel()


def test_progress_frame_covers_the_checkpoint_of_an_event(
    client, alice, published, settings_changed
):
    stream = client.stream("SubscriptionService/SubscribeEvents", filter=settings_changed)
    next(stream)
    executed = published.configure(client, alice, 1)
    next_event(stream)
    assert next(stream).watermark.checkpoint == executed.checkpoint
    stream.cancel()


def test_events_since_a_lost_stream_can_be_listed(client, alice, published, settings_changed):
    stream = client.stream("SubscriptionService/SubscribeEvents", "json", filter=settings_changed)
    next(stream)
    published.configure(client, alice, 31)
    last = next_event(stream).watermark.cursor
    stream.cancel()
    for amount in (32, 33):
        published.configure(client, alice, amount)
    frames = client.stream(
        "LedgerService/ListEvents", "json", filter=settings_changed, options={"after": last}
    )
    assert [amount_of(frame) for frame in frames if frame.HasField("event")] == [32, 33]


def test_first_frame_contains_a_cursor_to_resume_from(client, alice, published, settings_changed):
    stream = client.stream("SubscriptionService/SubscribeEvents", filter=settings_changed)
    start = next(stream).watermark.cursor
    stream.cancel()
    published.configure(client, alice, 41)
    frames = client.stream(
        "LedgerService/ListEvents", "json", filter=settings_changed, options={"after": start}
    )
    assert [amount_of(frame) for frame in frames if frame.HasField("event")] == [41]


def test_checkpoints_arrive_without_gaps_from_the_latest_on(client, alice, published):
    stream = client.stream("SubscriptionService/SubscribeCheckpoints", "transactions.digest")
    first = next(stream)
    assert first.HasField("checkpoint")
    executed = published.configure(client, alice, 1)
    seen = []
    for frame in stream:
        seen.append(frame.cursor)
        if executed.digest in [transaction.digest for transaction in frame.checkpoint.transactions]:
            break
    stream.cancel()
    assert seen == list(range(first.cursor + 1, executed.checkpoint + 1))


def test_filtered_checkpoints_contain_a_matching_transaction(client, alice, published):
    function = f"{published.package}::tool_registry::configure"
    wanted = {"terms": [{"literals": [{"move_call": {"function": function}}]}]}
    stream = client.stream("SubscriptionService/SubscribeCheckpoints", filter=wanted)
    assert not next(stream).HasField("checkpoint")
    executed = published.configure(client, alice, 1)
    frame = next(frame for frame in stream if frame.HasField("checkpoint"))
    assert frame.checkpoint.sequence_number == frame.cursor == executed.checkpoint
    stream.cancel()


def test_transactions_arrive_as_they_are_executed(client, alice, published):
    wanted = {"terms": [{"literals": [{"sender": {"address": str(alice.address)}}]}]}
    stream = client.stream("SubscriptionService/SubscribeTransactions", "*", filter=wanted)
    next(stream)
    executed = published.configure(client, alice, 1)
    frame = next(frame for frame in stream if frame.HasField("transaction"))
    assert frame.transaction == executed
    stream.cancel()


def test_equal_subscriptions_get_equal_frames_and_others_their_own(client, alice, published):
    streams = [
        client.stream("SubscriptionService/SubscribeCheckpoints", mask)
        for mask in ("digest", "digest", "sequence_number")
    ]
    first = max(next(stream).cursor for stream in streams)
    executed = published.configure(client, alice, 1)
    assert executed.checkpoint > first
    one, same, other = (
        next(frame for frame in stream if frame.cursor == executed.checkpoint) for stream in streams
    )
    assert one == same
    assert one.checkpoint.digest
    assert not other.checkpoint.digest
    assert other.checkpoint.sequence_number == executed.checkpoint
    for stream in streams:
        stream.cancel()


def test_chain_makes_checkpoints_while_there_is_a_subscription(client):
    stream = client.stream("SubscriptionService/SubscribeCheckpoints")
    first = next(stream)
    assert next(stream).cursor == first.cursor + 1
    stream.cancel()


def test_cancelled_stream_is_forgotten(client, localnet):
    streams = [client.stream("SubscriptionService/SubscribeEvents") for _ in range(5)]
    for stream in streams:
        next(stream)
        stream.cancel()
    probe = client.stream("SubscriptionService/SubscribeCheckpoints")
    next(probe), next(probe)  # after a second, in which the others have ended
    backend = localnet.call(lambda inner: inner._server._backend)
    assert len(backend.subscriptions) == 1
    probe.cancel()


async def test_subscriber_that_does_not_read_is_dropped(messages, make_client):
    """The client accepts 64 KiB; frames of 2 KiB exceed that and the queue."""
    procedure = messages.procedures["/sui.rpc.v2.SubscriptionService/SubscribeCheckpoints"]
    window = Configuration(http2_stream_window_size=2**16 - 1)
    with ThreadedLocalnet(limits=Limits(checkpoints_behind=3)) as localnet:
        address = urlsplit(localnet.url)
        async with Channel(address.hostname, address.port, config=window) as channel:
            method = UnaryStreamMethod(
                channel, procedure.path, procedure.request, procedure.response
            )
            async with method.open() as stream:
                await stream.send_message(procedure.request(read_mask={"paths": ["*"]}), end=True)
                first = await stream.recv_message()
                for _ in range(400):
                    localnet.advance_clock(1)
                frames = [frame async for frame in stream]
                assert frames[-1].cursor < first.cursor + 400
                with pytest.raises(GRPCError) as caught:
                    await stream.recv_trailing_metadata()
        assert caught.value.status is Status.RESOURCE_EXHAUSTED
        others = make_client(localnet.url)
        assert others.call("LedgerService/GetServiceInfo").checkpoint_height >= 400


def test_stream_ends_at_a_revert(client, localnet):
    snapshot = localnet.snapshot()
    localnet.advance_clock(1)
    stream = client.stream("SubscriptionService/SubscribeEvents")
    next(stream)
    localnet.revert(snapshot)
    localnet.advance_clock(1)
    with pytest.raises(grpc.RpcError) as caught:
        next(stream)
    assert caught.value.code() is grpc.StatusCode.UNAVAILABLE


def test_number_of_subscriptions_is_limited(make_client):
    with ThreadedLocalnet(limits=Limits(subscriptions=2)) as localnet:
        client = make_client(localnet.url)
        streams = [client.stream("SubscriptionService/SubscribeEvents") for _ in range(2)]
        for stream in streams:
            next(stream)
        with pytest.raises(grpc.RpcError) as caught:
            next(client.stream("SubscriptionService/SubscribeEvents"))
        assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        for stream in streams:
            stream.cancel()
