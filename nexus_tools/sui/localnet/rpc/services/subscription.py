"""The service `sui.rpc.v2.SubscriptionService`, which streams new items as frames.

The items are checkpoints, transactions or events. A stream of events or transactions starts with a
frame that has the current position. Each checkpoint ends with a progress frame, even if none of its
items matched the filter.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from functools import partial
from types import TracebackType
from typing import Self

from nexus_tools.sui.localnet.ledger import Checkpoint, EventPosition, LedgerEvent, matches
from nexus_tools.sui.localnet.rpc.backend import Backend, StreamingHandler
from nexus_tools.sui.localnet.rpc.interface import (
    CHECKPOINT_FIELDS,
    EVENT_FIELDS,
    TRANSACTION_FIELDS,
    Code,
    RpcError,
    requested_mask,
)
from nexus_tools.sui.localnet.rpc.rendering import (
    render_checkpoint,
    render_executed,
    render_ledger_event,
)
from nexus_tools.sui.localnet.rpc.requests import (
    Cursor,
    parse_event_filter,
    parse_transaction_filter,
)
from nexus_tools.sui.localnet.rpc.services.history import passes
from nexus_tools.sui.rpc import Message

CHECKPOINT_SECONDS = 1.0
"""The longest interval between checkpoints while a subscription exists."""


async def _subscribe_checkpoints(
    backend: Backend, request: Message, frame: type[Message]
) -> AsyncGenerator[bytes]:
    """Yield checkpoints, starting with the latest. Without a filter, no checkpoint is omitted."""
    mask = requested_mask(request, backend.descriptor("Checkpoint"), CHECKPOINT_FIELDS)
    transaction_filter = parse_transaction_filter(request)

    def render(checkpoint: Checkpoint) -> Iterator[Message]:
        message = frame(cursor=checkpoint.number)
        if passes(checkpoint, transaction_filter):
            render_checkpoint(message.checkpoint, checkpoint, mask, backend.node, backend.json)
        yield message

    with CheckpointFeed(backend) as feed:
        latest = backend.node.ledger.latest
        if transaction_filter is not None:
            # The stream starts with the latest checkpoint, so the position before the stream is the
            # previous checkpoint.
            yield frame(cursor=max(0, latest.number - 1)).SerializeToString()
        for data in backend.frames.of(request, latest.digest, partial(render, latest)):
            yield data
        async for data in _frames(backend, feed, request, render):
            yield data


async def _subscribe_transactions(
    backend: Backend, request: Message, frame: type[Message]
) -> AsyncGenerator[bytes]:
    """Yield the transactions of all checkpoints after the latest checkpoint."""
    mask = requested_mask(request, backend.descriptor("ExecutedTransaction"), TRANSACTION_FIELDS)
    transaction_filter = parse_transaction_filter(request)

    def render(checkpoint: Checkpoint) -> Iterator[Message]:
        for executed in checkpoint.transactions:
            if transaction_filter is not None and not transaction_filter.matches(executed):
                continue
            message = frame()
            render_executed(message.transaction, executed, mask, backend.node, backend.json)
            position = EventPosition(checkpoint.number, executed.index_in_checkpoint)
            yield _item(message, "transactions", position)
        yield _progress(frame(), "transactions", checkpoint)

    with CheckpointFeed(backend) as feed:
        yield _progress(frame(), "transactions", backend.node.ledger.latest).SerializeToString()
        async for data in _frames(backend, feed, request, render):
            yield data


async def _subscribe_events(
    backend: Backend, request: Message, frame: type[Message]
) -> AsyncGenerator[bytes]:
    """Yield the events of all checkpoints after the latest checkpoint."""
    mask = requested_mask(request, backend.descriptor("Event"), EVENT_FIELDS)
    event_filter = parse_event_filter(request)

    def render(checkpoint: Checkpoint) -> Iterator[Message]:
        for executed in checkpoint.transactions:
            for index, event in enumerate(executed.events):
                if not matches(event_filter, event):
                    continue
                position = EventPosition(checkpoint.number, executed.index_in_checkpoint, index)
                ledger_event = LedgerEvent(position, executed.digest, executed.timestamp_ms, event)
                message = frame()
                render_ledger_event(message.event, ledger_event, mask, backend.json)
                yield _item(message, "events", position)
        yield _progress(frame(), "events", checkpoint)

    with CheckpointFeed(backend) as feed:
        yield _progress(frame(), "events", backend.node.ledger.latest).SerializeToString()
        async for data in _frames(backend, feed, request, render):
            yield data


async def _frames(
    backend: Backend,
    feed: "CheckpointFeed",
    request: Message,
    render: Callable[[Checkpoint], Iterable[Message]],
) -> AsyncGenerator[bytes]:
    """Yield the frames of each new checkpoint, until the caller stops."""
    while True:
        checkpoint = await feed.next()
        for data in backend.frames.of(request, checkpoint.digest, partial(render, checkpoint)):
            yield data


def _item(message: Message, stream: str, position: EventPosition) -> Message:
    """Set the watermark of an item to the checkpoint before the item's checkpoint.

    For example, an event of checkpoint 7 has the watermark 6, because checkpoint 7 may have more
    events. The progress frame after the last event of checkpoint 7 has the watermark 7. The cursor
    of that frame is the boundary before (8, 0, 0).
    """
    message.watermark.cursor = Cursor(stream, position, is_boundary=False).encode()
    message.watermark.checkpoint = position.checkpoint - 1
    return message


def _progress(message: Message, stream: str, covered: Checkpoint) -> Message:
    """Set the watermark of a progress frame to the checkpoint `covered`."""
    place = EventPosition(covered.number + 1)
    message.watermark.cursor = Cursor(stream, place, is_boundary=True).encode()
    message.watermark.checkpoint = covered.number
    return message


STREAMING: dict[str, StreamingHandler] = {
    "SubscribeCheckpoints": _subscribe_checkpoints,
    "SubscribeTransactions": _subscribe_transactions,
    "SubscribeEvents": _subscribe_events,
}


# --- The checkpoints of one subscription


class CheckpointFeed:
    """The new checkpoints of the node while the feed is open.

    If a client reads too slowly, the feed buffers checkpoints. When the buffer is full, the feed is
    closed and the buffered checkpoints are deleted. The client's stream ends with
    RESOURCE_EXHAUSTED after the current frame.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._is_dropped = False
        self._waiting: deque[Checkpoint] = deque()
        self._last = backend.node.ledger.latest.number
        self._arrived = asyncio.Event()

    def __enter__(self) -> Self:
        subscriptions = self._backend.subscriptions
        if len(subscriptions) >= self._backend.limits.subscriptions:
            raise RpcError(Code.RESOURCE_EXHAUSTED, "too many existing subscriptions")
        self._unsubscribe = self._backend.node.subscribe(self._push)
        subscriptions.add(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._close()

    def _close(self) -> None:
        self._unsubscribe()
        self._backend.subscriptions.discard(self)
        self._waiting.clear()

    def _push(self, checkpoint: Checkpoint) -> None:
        if len(self._waiting) >= self._backend.limits.checkpoints_behind:
            self._is_dropped = True
            self._close()
        else:
            self._waiting.append(checkpoint)
        self._arrived.set()

    async def next(self) -> Checkpoint:
        """Return the next checkpoint. After a timeout, request a new checkpoint from the node.

        Raises:
            RpcError: The client was too slow, or the network was reverted to a snapshot.
        """
        while not self._waiting:
            if self._is_dropped:
                raise RpcError(
                    Code.RESOURCE_EXHAUSTED, "the subscription did not keep up with the network"
                )
            self._arrived.clear()
            try:
                async with asyncio.timeout(CHECKPOINT_SECONDS):
                    await self._arrived.wait()
            except TimeoutError:
                self._backend.node.catch_up()
        checkpoint = self._waiting.popleft()
        if checkpoint.number <= self._last:
            raise RpcError(
                Code.UNAVAILABLE, "the network was reverted to a snapshot: subscribe again"
            )
        self._last = checkpoint.number
        return checkpoint
