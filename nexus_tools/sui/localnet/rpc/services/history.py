"""The list procedures of `sui.rpc.v2.LedgerService`, which stream the history as frames.

Each frame has a watermark with a cursor from which the client can continue. The last frame has the
reason why the list ends.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Iterator
from typing import TypeVar

from nexus_tools.sui.localnet.ledger import (
    Checkpoint,
    EventPosition,
    ExecutedTransaction,
    LedgerEvent,
)
from nexus_tools.sui.localnet.rpc.backend import Backend
from nexus_tools.sui.localnet.rpc.interface import (
    CHECKPOINT_FIELDS,
    EVENT_FIELDS,
    TRANSACTION_FIELDS,
    requested_mask,
)
from nexus_tools.sui.localnet.rpc.rendering import (
    render_checkpoint,
    render_executed,
    render_ledger_event,
)
from nexus_tools.sui.localnet.rpc.requests import (
    End,
    Query,
    TransactionFilter,
    parse_event_filter,
    parse_transaction_filter,
    successor,
)
from nexus_tools.sui.rpc import Message
from nexus_tools.sui.types.address import Address

T = TypeVar("T")

SCAN_LIMIT = 20_000
"""The maximum number of checkpoints, or of transactions from an index, that one query scans."""

_STEP = 64
"""The maximum number of rows that are read with one database query."""

Render = Callable[[Message, T], None]
Found = tuple[EventPosition, T]


async def list_events(
    backend: Backend, request: Message, frame: type[Message]
) -> AsyncGenerator[bytes]:
    """Serve `ListEvents`, which lists the events that match a filter."""
    mask = requested_mask(request, backend.descriptor("Event"), EVENT_FIELDS)
    event_filter = parse_event_filter(request)
    query = Query.parse("events", request, backend.node.ledger.latest.number)

    def read() -> Iterator[list[Found[LedgerEvent]] | int]:
        start, end = query.start, query.end
        while start < end:
            events = backend.node.ledger.events(
                event_filter, start=start, end=end, limit=_STEP, descending=query.descending
            )
            yield [(event.position, event) for event in events]
            if len(events) < _STEP:
                return
            if query.descending:
                end = events[-1].position
            else:
                start = successor("events", events[-1].position)

    def render(message: Message, event: LedgerEvent) -> None:
        render_ledger_event(message.event, event, mask, backend.json)

    async for message in _frames(query, read(), render, frame):
        yield message


async def list_transactions(
    backend: Backend, request: Message, frame: type[Message]
) -> AsyncGenerator[bytes]:
    """Serve `ListTransactions`, which lists the transactions that match a filter."""
    mask = requested_mask(request, backend.descriptor("ExecutedTransaction"), TRANSACTION_FIELDS)
    transaction_filter = parse_transaction_filter(request)
    query = Query.parse("transactions", request, backend.node.ledger.latest.number)

    def pick(checkpoint: Checkpoint) -> list[Found[ExecutedTransaction]]:
        order = -1 if query.descending else 1
        return _matching(checkpoint.transactions[::order], transaction_filter)

    def render(message: Message, executed: ExecutedTransaction) -> None:
        render_executed(message.transaction, executed, mask, backend.node, backend.json)

    found = _scan(backend, query, pick)
    if transaction_filter is not None and transaction_filter.affected_objects is not None:
        objects = transaction_filter.affected_objects
        found = _affecting(backend, query, objects, transaction_filter)
    async for message in _frames(query, found, render, frame):
        yield message


async def list_checkpoints(
    backend: Backend, request: Message, frame: type[Message]
) -> AsyncGenerator[bytes]:
    """Serve `ListCheckpoints`, which lists the checkpoints that contain a matching transaction."""
    mask = requested_mask(request, backend.descriptor("Checkpoint"), CHECKPOINT_FIELDS)
    transaction_filter = parse_transaction_filter(request)
    query = Query.parse("checkpoints", request, backend.node.ledger.latest.number)

    def pick(checkpoint: Checkpoint) -> list[Found[Checkpoint]]:
        is_match = passes(checkpoint, transaction_filter)
        return [(EventPosition(checkpoint.number), checkpoint)] if is_match else []

    def render(message: Message, checkpoint: Checkpoint) -> None:
        render_checkpoint(message.checkpoint, checkpoint, mask, backend.node, backend.json)

    async for message in _frames(query, _scan(backend, query, pick), render, frame):
        yield message


def passes(checkpoint: Checkpoint, transaction_filter: TransactionFilter | None) -> bool:
    """Return whether any transaction of a checkpoint matches a filter."""
    return transaction_filter is None or any(
        map(transaction_filter.matches, checkpoint.transactions)
    )


def _matching(
    transactions: Iterable[ExecutedTransaction], transaction_filter: TransactionFilter | None
) -> list[Found[ExecutedTransaction]]:
    return [
        (_position(executed), executed)
        for executed in transactions
        if transaction_filter is None or transaction_filter.matches(executed)
    ]


def _position(executed: ExecutedTransaction) -> EventPosition:
    return EventPosition(executed.checkpoint, executed.index_in_checkpoint)


def _affecting(
    backend: Backend,
    query: Query,
    objects: Collection[Address],
    transaction_filter: TransactionFilter,
) -> Iterator[list[Found[ExecutedTransaction]] | int]:
    """Yield the matching transactions that changed one of these objects, from the ledger's index.

    If the scan reaches its limit, the last yielded value is the number of the next checkpoint.
    """
    start, end, count = query.start, query.end, 0
    limit = min(query.limit, _STEP)
    while start < end:
        transactions = backend.node.ledger.transactions_affecting(
            objects, start=start, end=end, limit=limit, descending=query.descending
        )
        yield _matching(transactions, transaction_filter)
        if len(transactions) < limit:
            return
        count += limit
        last = transactions[-1]
        if count >= SCAN_LIMIT:
            yield _matching(_later_in_checkpoint(backend, query, last), transaction_filter)
            yield last.checkpoint + (-1 if query.descending else 1)
            return
        if query.descending:
            end = _position(last)
        else:
            start = successor("transactions", _position(last))


def _later_in_checkpoint(
    backend: Backend, query: Query, last: ExecutedTransaction
) -> list[ExecutedTransaction]:
    """Return the transactions after `last` in its checkpoint, in the order of the query."""
    checkpoint = backend.node.ledger.checkpoint(last.checkpoint)
    if checkpoint is None:  # the ledger was reverted to a snapshot in the meantime
        return []
    place = last.index_in_checkpoint
    transactions = checkpoint.transactions
    return [*transactions[:place][::-1]] if query.descending else [*transactions[place + 1 :]]


def _scan(
    backend: Backend, query: Query, pick: Callable[[Checkpoint], list[Found[T]]]
) -> Iterator[list[Found[T]] | int]:
    """Yield the items of each checkpoint.

    If the scan reaches its limit, the last yielded value is the number of the next checkpoint.
    """
    for count, number in enumerate(query.checkpoints):
        if count == SCAN_LIMIT:
            yield number
            return
        checkpoint = backend.node.ledger.checkpoint(number)
        if checkpoint is None:  # the ledger was reverted to a snapshot in the meantime
            return
        yield pick(checkpoint)


async def _frames(
    query: Query,
    steps: Iterator[list[Found[T]] | int],
    render: Render[T],
    frame: type[Message],
) -> AsyncGenerator[bytes]:
    count, covered = 0, None
    for step in steps:
        await asyncio.sleep(0)  # let other calls run
        if isinstance(step, int):
            yield _stopped(query, step, frame()).SerializeToString()
            return
        for position, item in step:
            # The first and the last checkpoint may contain items outside the query's range.
            if position not in query:
                continue
            count += 1
            message = frame()
            render(message, item)
            query.mark_item(message.watermark, position)
            covered = _covered(message, covered)
            if count == query.limit:
                message.end.reason = End.ITEM_LIMIT
            yield message.SerializeToString()
            if count == query.limit:
                return
    yield _exhausted(query, covered, frame()).SerializeToString()


def _covered(message: Message, before: int | None) -> int | None:
    """Return the covered checkpoint of a frame, or the previous value if the frame has none."""
    if message.watermark.HasField("checkpoint"):
        return int(message.watermark.checkpoint)
    if before is not None:
        message.watermark.checkpoint = before
    return before


def _stopped(query: Query, number: int, message: Message) -> Message:
    query.mark_frontier(message.watermark, number)
    message.end.reason = End.SCAN_LIMIT
    return message


def _exhausted(query: Query, covered: int | None, message: Message) -> Message:
    query.mark_end(message.watermark, covered)
    message.end.reason = query.exhaustion
    return message
