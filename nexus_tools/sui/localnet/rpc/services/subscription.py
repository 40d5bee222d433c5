"""`sui.rpc.v2.SubscriptionService`: what happens from now on, as streams of frames.

A stream of events or transactions begins with a frame that says where it stands; every checkpoint
ends with a frame of progress, whether or not something in it passed the filter.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from functools import partial
from types import TracebackType
from typing import Self

from nexus_tools.sui.localnet.ledger import Checkpoint, EventPosition, LedgerEvent, matches
from nexus_tools.sui.localnet.rpc.backend import Backend, Streaming
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
"""While someone watches, the chain gets a checkpoint at least this often."""


async def _subscribe_checkpoints(
    backend: Backend, request: Message, frame: type[Message]
) -> AsyncGenerator[bytes]:
    """From the latest checkpoint on; without a filter, each one and without gaps."""
    mask = requested_mask(request, backend.descriptor("Checkpoint"), CHECKPOINT_FIELDS)
    holds = parse_transaction_filter(request)

    def render(checkpoint: Checkpoint) -> Iterator[Message]:
        message = frame(cursor=checkpoint.number)
        if passes(checkpoint, holds):
            render_checkpoint(message.checkpoint, checkpoint, mask, backend.node, backend.json)
        yield message

    with CheckpointFeed(backend) as feed:
        latest = backend.node.ledger.latest
        if holds is not None:
            # The stream begins with the latest checkpoint itself: what lies behind is the one
            # before.
            yield frame(cursor=max(0, latest.number - 1)).SerializeToString()
        for data in backend.frames.of(request, latest.digest, partial(render, latest)):
            yield data
        async for data in _frames(backend, feed, request, render):
            yield data


async def _subscribe_transactions(
    backend: Backend, request: Message, frame: type[Message]
) -> AsyncGenerator[bytes]:
    """Transactions after the latest checkpoint."""
    mask = requested_mask(request, backend.descriptor("ExecutedTransaction"), TRANSACTION_FIELDS)
    holds = parse_transaction_filter(request)

    def render(checkpoint: Checkpoint) -> Iterator[Message]:
        for executed in checkpoint.transactions:
            if holds is not None and not holds(executed):
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
    """Events after the latest checkpoint."""
    mask = requested_mask(request, backend.descriptor("Event"), EVENT_FIELDS)
    event_filter = parse_event_filter(request)

    def render(checkpoint: Checkpoint) -> Iterator[Message]:
        for executed in checkpoint.transactions:
            for index, event in enumerate(executed.events):
                if not matches(event_filter, event):
                    continue
                position = EventPosition(checkpoint.number, executed.index_in_checkpoint, index)
                found = LedgerEvent(position, executed.digest, executed.timestamp_ms, event)
                message = frame()
                render_ledger_event(message.event, found, mask, backend.json)
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
    """What is sent for one checkpoint after the other; it never ends by itself."""
    while True:
        checkpoint = await feed.next()
        for data in backend.frames.of(request, checkpoint.digest, partial(render, checkpoint)):
            yield data


def _item(message: Message, stream: str, position: EventPosition) -> Message:
    """An item covers all checkpoints before its own.

    An event of checkpoint 7 has the watermark 6, as 7 may have others. The frame of progress behind
    them has 7, and the gap before (8, 0, 0) as its cursor.
    """
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


# --- The checkpoints of one subscription


class CheckpointFeed:
    """The checkpoints that the node makes while the feed is open.

    A client that does not take them as fast as they come is dropped when as many wait as the limits
    allow: nothing is kept for it any more, and its stream ends with RESOURCE_EXHAUSTED behind the
    frame that it is reading.
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
        """The next checkpoint; the node is asked for one when none comes by itself.

        Raises `RpcError` if the client was dropped, and if the network went back to a snapshot.
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
            raise RpcError(Code.UNAVAILABLE, "the network went back to a snapshot: subscribe again")
        self._last = checkpoint.number
        return checkpoint
