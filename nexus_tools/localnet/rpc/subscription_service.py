"""`sui.rpc.v2.SubscriptionService`: what happens from now on, as streams of frames.

A stream of events or transactions begins with a frame that says where it stands; every checkpoint
ends with a frame of progress, whether or not something in it passed the filter.
"""

from collections.abc import AsyncGenerator

from nexus_tools.localnet.ledger import Checkpoint, EventPosition, matches
from nexus_tools.localnet.rpc.backend import Backend, Streaming
from nexus_tools.localnet.rpc.checkpoint_feed import CheckpointFeed
from nexus_tools.localnet.rpc.cursor import Cursor
from nexus_tools.localnet.rpc.event_filter import parse_event_filter
from nexus_tools.localnet.rpc.history_service import passes
from nexus_tools.localnet.rpc.messages import Message
from nexus_tools.localnet.rpc.read_mask import (
    CHECKPOINT,
    EVENT,
    TRANSACTION,
    prune,
    requested_mask,
)
from nexus_tools.localnet.rpc.rendering.checkpoint import render_checkpoint
from nexus_tools.localnet.rpc.rendering.event import render_event, render_position
from nexus_tools.localnet.rpc.rendering.executed_transaction import render_executed
from nexus_tools.localnet.rpc.transaction_filter import parse_transaction_filter


async def _subscribe_checkpoints(
    backend: Backend, request: Message, frame: type[Message]
) -> AsyncGenerator[Message]:
    """From the latest checkpoint on; without a filter, each one and without gaps."""
    mask = requested_mask(request, backend.descriptor("Checkpoint"), CHECKPOINT)
    holds = parse_transaction_filter(request)
    with CheckpointFeed(backend) as feed:
        latest = backend.node.ledger.latest
        if holds is not None:
            yield frame(cursor=max(0, latest.number - 1))
        checkpoint = latest
        while True:
            message = frame(cursor=checkpoint.number)
            if passes(checkpoint, holds):
                target = message.checkpoint
                render_checkpoint(target, checkpoint, mask, backend.node, backend.json)
            yield message
            checkpoint = await feed.next()


async def _subscribe_transactions(
    backend: Backend, request: Message, frame: type[Message]
) -> AsyncGenerator[Message]:
    """Transactions after the latest checkpoint."""
    mask = requested_mask(request, backend.descriptor("ExecutedTransaction"), TRANSACTION)
    holds = parse_transaction_filter(request)
    with CheckpointFeed(backend) as feed:
        yield _progress(frame(), "transactions", backend.node.ledger.latest)
        while True:
            checkpoint = await feed.next()
            for executed in checkpoint.transactions:
                if holds is not None and not holds(executed):
                    continue
                message = frame()
                target = message.transaction
                render_executed(target, executed, mask, backend.node, backend.json)
                position = EventPosition(checkpoint.number, executed.index_in_checkpoint)
                yield _item(message, "transactions", position)
            yield _progress(frame(), "transactions", checkpoint)


async def _subscribe_events(
    backend: Backend, request: Message, frame: type[Message]
) -> AsyncGenerator[Message]:
    """Events after the latest checkpoint."""
    mask = requested_mask(request, backend.descriptor("Event"), EVENT)
    event_filter = parse_event_filter(request)
    with CheckpointFeed(backend) as feed:
        yield _progress(frame(), "events", backend.node.ledger.latest)
        while True:
            checkpoint = await feed.next()
            for executed in checkpoint.transactions:
                for index, event in enumerate(executed.events):
                    if not matches(event_filter, event):
                        continue
                    position = EventPosition(checkpoint.number, executed.index_in_checkpoint, index)
                    message = frame()
                    render_event(message.event, event, mask, backend.json)
                    render_position(message.event, position, executed.digest, mask)
                    prune(message.event, mask)
                    yield _item(message, "events", position)
            yield _progress(frame(), "events", checkpoint)


def _item(message: Message, stream: str, position: EventPosition) -> Message:
    """An item covers all checkpoints before its own."""
    message.watermark.cursor = Cursor(stream, position, is_boundary=False).encode()
    message.watermark.checkpoint = position.checkpoint - 1
    return message


def _progress(message: Message, stream: str, covered: Checkpoint) -> Message:
    """All up to a checkpoint, inclusive, is covered."""
    place = EventPosition(covered.number + 1)
    message.watermark.cursor = Cursor(stream, place, is_boundary=True).encode()
    message.watermark.checkpoint = covered.number
    return message


STREAMING: dict[str, Streaming] = {
    "SubscribeCheckpoints": _subscribe_checkpoints,
    "SubscribeTransactions": _subscribe_transactions,
    "SubscribeEvents": _subscribe_events,
}
