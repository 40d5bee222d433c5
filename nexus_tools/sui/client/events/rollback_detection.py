"""Rollback detection: the check that a node still has the chain that a follower has read.

The height of the chain is not sufficient for the check. After a rollback, a node may exceed its old
height before the follower queries the node again. Therefore, the follower regularly records the
digest of a checkpoint as a *mark*. The follower also records each event since the last mark. When
the follower opens the event stream again, the node must still have the mark. The node must also
have exactly the recorded events between the mark and the last position.

For example, the follower has marks at the checkpoints 10 and 12, and has read events up to 15. The
node was rolled back and is now at 20. If the node was rolled back to 11, its checkpoint 12 has
another digest. If the node was rolled back to 13, an event of the checkpoints 14 or 15 is missing
or new, unless no matching event has changed.

A cursor contains the last event or mark. A follower that starts with the cursor can therefore
detect a rollback that happened while no follower was running.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from math import inf
from typing import Any, NoReturn

from nexus_tools.sui.client.connection.connection import Connection, mask
from nexus_tools.sui.client.events.events import Cursor, EventRecord, Item, Mark, Position
from nexus_tools.sui.client.reads import read_latest_checkpoint
from nexus_tools.sui.errors import NotFoundError, UnreachableError
from nexus_tools.sui.types.digest import Digest

CHAIN_ROLLED_BACK = "chain_rolled_back"
"""The error code of a detected rollback."""

_MARKS = 600
# The number of recorded events is limited because the first mark may follow thousands of events.
_EVENTS = 1_000


class RollbackDetector:
    """A detector of rollbacks for one follower.

    The detector records marks and events since the start cursor.
    """

    def __init__(self, connection: Connection, cursor: Cursor | None) -> None:
        self._connection = connection
        self._marks: deque[Mark] = deque(maxlen=_MARKS)
        self._candidate: Mark | None = None
        self._start = 0
        self._place: Cursor | None = None
        self._events: dict[Position, Digest] = {}
        self._missing: dict[Position, Digest] = {}
        self._marked_at = -inf
        self._behind_since: float | None = None
        if cursor is not None:
            self._begin(cursor)
            if cursor.mark is not None:
                self._marks.append(cursor.mark)
                self._start = 0

    # --- Following

    def advance(self, item: Item) -> Mark | None:
        """Record an item that the caller receives, and return the last mark before it.

        After this call, a change of the chain before the item counts as a rollback.
        """
        if self._place is None:
            self._begin(_before(item) if isinstance(item, EventRecord) else item.cursor)
        if isinstance(item, EventRecord):
            self._events[item.cursor.position] = item.transaction_digest
            if len(self._events) > _EVENTS:
                self._forget_oldest()
        return self._last_mark()

    def _last_mark(self) -> Mark | None:
        """Return the last recorded event or, without events, the last mark."""
        if self._events:
            (checkpoint, transaction, _), digest = next(reversed(self._events.items()))
            return Mark(checkpoint, transaction, digest)
        return self._marks[-1] if self._marks else None

    def _forget_oldest(self) -> None:
        oldest = next(iter(self._events))
        del self._events[oldest]
        self._place = Cursor(*oldest)

    def _begin(self, place: Cursor) -> None:
        self._place = place.without_token()
        self._start = place.checkpoint

    async def mark(self, reached: int) -> None:
        """Record the digest of a checkpoint that the stream has reached, at most once per interval.

        The interval is `mark_interval_s` of the retry policy. The node may be rolled back after it
        sent the stream's item and before it receives this request. A rollback ends the stream, so
        the mark is used only after the stream has continued.
        """
        if _now() - self._marked_at < self._connection.retry_policy.mark_interval_s:
            return
        self._marked_at = _now()
        if self._candidate is not None:
            self._accept(self._candidate)
            self._candidate = None
        checkpoint = await _read(self._connection, reached, "digest")
        if checkpoint is not None:
            self._candidate = Mark.of_checkpoint(reached, Digest.parse(checkpoint.digest))

    def _accept(self, mark: Mark) -> None:
        self._marks.append(mark)
        self._place = Cursor.after_checkpoint(mark.checkpoint)
        later = {
            position: digest
            for position, digest in self._events.items()
            if position[0] > mark.checkpoint
        }
        self._events = later

    # --- Restart

    async def check(self, reached: Cursor) -> None:
        """Raise `chain_rolled_back` if the node no longer has the last event or mark.

        Raises `node_behind` while the node is behind the position, because the mark cannot be
        checked.
        """
        self._candidate = None
        if self._last_mark() is None and not reached.checkpoint:
            return
        height = await read_latest_checkpoint(self._connection)
        if await self._is_gone(height):
            raise await self._went_back(reached)
        if height < reached.checkpoint:
            await self._wait_for(reached, height)
        self._behind_since = None

    async def _is_gone(self, height: int) -> bool:
        """Return whether the node's chain differs at the last event or mark that it has reached."""
        marks = (mark for mark in (self._last_mark(), *reversed(self._marks)) if mark is not None)
        mark = next((mark for mark in marks if mark.checkpoint <= height), None)
        return mark is not None and await _has(self._connection, mark) is False

    async def _wait_for(self, reached: Cursor, height: int) -> NoReturn:
        """Raise `node_behind`.

        If the node stays behind for `call_timeout_s`, raise `chain_rolled_back` instead.
        """
        self._behind_since = self._behind_since or _now()
        if _now() - self._behind_since > self._connection.retry_policy.call_timeout_s:
            raise await self._went_back(reached)
        raise UnreachableError(
            "node_behind",
            f"the node at {self._connection.network.url} is at checkpoint {height}, but"
            f" checkpoint {reached.checkpoint} was read before",
        )

    def rewind(self, reached: Cursor) -> Cursor:
        """Return the position from which the follower must read the delivered events again.

        Pass each of these events to `compare`.
        """
        self._missing = dict(self._events)
        return self._place or reached

    async def compare(self, item: Item, reached: Cursor) -> bool:
        """Compare an item with the delivered events.

        Return True when all events up to `reached` are checked. Raises `chain_rolled_back`.
        """
        position = item.cursor.position
        is_past = self._place is None or position > self._place.position
        if isinstance(item, EventRecord) and is_past and position <= reached.position:
            digest = self._missing.pop(position, None)
            if digest != item.transaction_digest:
                raise await self._went_back(reached)
        if position >= reached.position and self._missing:
            raise await self._went_back(reached)
        return position >= reached.position

    async def _went_back(self, reached: Cursor) -> NotFoundError:
        url = self._connection.network.url
        common = await self._common(await read_latest_checkpoint(self._connection))
        return NotFoundError(
            CHAIN_ROLLED_BACK,
            f"the node at {url} no longer has the chain that was read up to checkpoint"
            f" {reached.checkpoint}: the chain was rolled back",
            hint="Discard the events of removed checkpoints, and restart from an earlier cursor.",
            details={"url": url, "checkpoint": reached.checkpoint, "common": common},
        )

    async def _common(self, height: int) -> int:
        """Return the latest checkpoint of which the follower knows that it has not changed."""
        common = await latest_common_checkpoint(self._connection, self._marks)
        return min(self._start, height) if common is None else common


async def latest_common_checkpoint(connection: Connection, marks: Sequence[Mark]) -> int | None:
    """Return the latest checkpoint up to which the node's chain is the chain of the marks.

    The marks must be in the order of the chain. Return None if the node does not have any of them.
    """
    valid_count, first_missing = 0, len(marks)
    while valid_count < first_missing:
        middle = (valid_count + first_missing) // 2
        if await _has(connection, marks[middle]):
            valid_count = middle + 1
        else:
            first_missing = middle
    if not valid_count:
        return None
    last = marks[valid_count - 1]
    return last.checkpoint if last.is_checkpoint else last.checkpoint - 1


async def _has(connection: Connection, mark: Mark) -> bool | None:
    """Return whether the node has a mark, or None if it does not have the checkpoint."""
    field = "digest" if mark.is_checkpoint else "transactions.digest"
    checkpoint = await _read(connection, mark.checkpoint, field)
    if checkpoint is None:
        return None
    if mark.is_checkpoint:
        return bool(checkpoint.digest == str(mark.digest))
    digests = [transaction.digest for transaction in checkpoint.transactions]
    return digests[mark.transaction : mark.transaction + 1] == [str(mark.digest)]


async def _read(connection: Connection, number: int, field: str) -> Any:
    """Return a field of a checkpoint, or None if the node does not have the checkpoint."""
    try:
        response = await connection.call(
            "LedgerService/GetCheckpoint", sequence_number=number, read_mask=mask(field)
        )
    except NotFoundError:
        return None
    return response.checkpoint


def _before(record: EventRecord) -> Cursor:
    """Return the position before the checkpoint that contains an event."""
    if not record.checkpoint:
        return Cursor.beginning()
    return Cursor.after_checkpoint(record.checkpoint - 1)


def _now() -> float:
    return asyncio.get_running_loop().time()
