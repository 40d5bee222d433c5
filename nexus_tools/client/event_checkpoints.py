"""Events from a node without an index of them: whole checkpoints, filtered here."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from typing import Any

from nexus_tools.client.connection import Connection
from nexus_tools.client.event_stream import Cursor, EventFilter, EventRecord, Progress
from nexus_tools.client.messages import mask, rpc
from nexus_tools.errors import NotFoundError
from nexus_tools.sui.digest import Digest
from nexus_tools.sui.event import EVENTS

_CHECKPOINT_FIELDS = ("sequence_number", "transactions.digest", "transactions.events.bcs")

_PARALLEL_READS = 16


class CheckpointSource:
    """Past and present events, from checkpoints as long as the node keeps them."""

    def __init__(self, connection: Connection, event_filter: EventFilter) -> None:
        self._connection = connection
        self._filter = event_filter

    async def past(self, after: Cursor) -> AsyncGenerator[EventRecord | Progress, None]:
        """The events of all checkpoints from the one of a place to the newest."""
        numbers = range(after.checkpoint, await self._tip() + 1)
        for start in range(0, len(numbers), _PARALLEL_READS):
            reads = map(self._read, numbers[start : start + _PARALLEL_READS])
            for checkpoint in await asyncio.gather(*reads):
                for item in self._items(checkpoint):
                    yield item

    async def live(self) -> AsyncGenerator[EventRecord | Progress, None]:
        """What happens from now on; the first checkpoint only says where the stream begins."""
        request = rpc().SubscribeCheckpointsRequest(read_mask=mask(*_CHECKPOINT_FIELDS))
        method = self._connection.subscription.subscribe_checkpoints
        begun = False
        async with aclosing(self._connection.stream(method, request)) as frames:
            async for frame in frames:
                if not begun:
                    begun = True
                    yield Progress(Cursor.after_checkpoint(frame.cursor))
                else:
                    for item in self._items(frame.checkpoint):
                        yield item

    async def _tip(self) -> int:
        request = rpc().GetServiceInfoRequest()
        info = await self._connection.call(self._connection.ledger.get_service_info, request)
        return int(info.checkpoint_height or 0)

    async def _read(self, sequence_number: int) -> Any:
        request = rpc().GetCheckpointRequest(
            sequence_number=sequence_number, read_mask=mask(*_CHECKPOINT_FIELDS)
        )
        try:
            method = self._connection.ledger.get_checkpoint
            return (await self._connection.call(method, request)).checkpoint
        except NotFoundError as error:
            raise NotFoundError(
                "history_missing",
                f"the node does not keep checkpoint {sequence_number} any more: events are missing",
                hint="use a node with a longer history, or begin anew from now",
                details=error.details,
            ) from error

    def _items(self, checkpoint: Any) -> Iterator[EventRecord | Progress]:
        sequence_number = int(checkpoint.sequence_number or 0)
        for index, transaction in enumerate(checkpoint.transactions):
            events = transaction.events
            if events is None or events.bcs is None or not events.bcs.value:
                continue
            digest = Digest.parse(transaction.digest)
            for place, event in enumerate(EVENTS.decode(events.bcs.value)):
                if self._filter.matches(event):
                    cursor = Cursor(sequence_number, index, place)
                    yield EventRecord(cursor, event, sequence_number, digest, place)
        yield Progress(Cursor.after_checkpoint(sequence_number))
