"""History queries: their range, order and limit, and the reason why they end.

Source: `QueryOptions`, `Watermark` and `QueryEnd` of `sui.rpc.v2`, and
`sui-rpc-api/src/ledger_history/{query_options,watermark}.rs`.
"""

from enum import IntEnum

from msgspec import Struct
from msgspec.structs import replace

from nexus_tools.sui.localnet.ledger import EventPosition
from nexus_tools.sui.localnet.rpc.interface import invalid
from nexus_tools.sui.localnet.rpc.requests.cursor import Cursor
from nexus_tools.sui.rpc import Message

DEFAULT_LIMIT, MAX_LIMIT = 100, 1000
_ASCENDING, _DESCENDING = 0, 1


class End(IntEnum):
    """The reason why a query ended (`QueryEndReason`)."""

    ITEM_LIMIT = 1
    SCAN_LIMIT = 2
    CHECKPOINT_BOUND = 3
    CURSOR_BOUND = 4
    LEDGER_TIP = 5


class Query(Struct, frozen=True):
    """A query for the items from `start` up to, but excluding, `end`.

    `exhaustion` is the reason to report when the whole range was read.
    """

    stream: str
    start: EventPosition
    end: EventPosition
    descending: bool
    limit: int
    exhaustion: End

    @classmethod
    def parse(cls, stream: str, request: Message, latest: int) -> "Query":
        """Parse the query of a request. `latest` is the number of the latest checkpoint.

        Raises:
            RpcError: An option is invalid.
        """
        options = request.options
        if options.ordering not in (_ASCENDING, _DESCENDING):
            raise invalid("invalid options.ordering")
        limit = options.limit if options.HasField("limit") else DEFAULT_LIMIT
        query = cls(
            stream,
            EventPosition(0),
            EventPosition(latest + 1),
            descending=options.ordering == _DESCENDING,
            limit=max(1, min(limit, MAX_LIMIT)),
            exhaustion=End.LEDGER_TIP,
        )
        if query.descending:
            query = replace(query, exhaustion=End.CHECKPOINT_BOUND)
        return _within_cursors(_within_checkpoints(query, request), options)

    @property
    def is_empty(self) -> bool:
        """Whether the range is empty."""
        return self.start >= self.end

    @property
    def entry(self) -> int:
        """The checkpoint in which the scan starts.

        For example, the range is from checkpoint 3 up to, but excluding, 7. The scan starts in
        checkpoint 3 in ascending order, and in checkpoint 6 in descending order. If the range ends
        at the third transaction of checkpoint 7, a descending scan starts in checkpoint 7.
        """
        if not self.descending:
            return self.start.checkpoint
        inside = self.end.transaction or self.end.event
        return self.end.checkpoint if inside else self.end.checkpoint - 1

    @property
    def checkpoints(self) -> range:
        """The numbers of the checkpoints to scan, in the order of the query."""
        last = self.end.checkpoint + bool(self.end.transaction or self.end.event)
        numbers = range(self.start.checkpoint, last)
        return numbers[::-1] if self.descending else numbers

    def __contains__(self, position: EventPosition) -> bool:
        return self.start <= position < self.end

    # --- Watermarks

    def mark_item(self, watermark: Message, position: EventPosition) -> None:
        """Set the watermark of an item, with the last completely covered checkpoint.

        An event of checkpoint 5 shows that checkpoint 4 is covered, or checkpoint 6 in descending
        order. If the item is a checkpoint, the checkpoint itself is covered.
        """
        watermark.cursor = Cursor(self.stream, position, is_boundary=False).encode()
        step = 0 if self.stream == "checkpoints" else 1
        covered = position.checkpoint + (step if self.descending else -step)
        self._mark_covered(watermark, covered)

    def mark_frontier(self, watermark: Message, next_checkpoint: int) -> None:
        """Set the watermark of a frame without an item.

        The query has covered all checkpoints before `next_checkpoint`, in the order of the query.
        """
        gap = next_checkpoint + 1 if self.descending else next_checkpoint
        place = EventPosition(gap)
        watermark.cursor = Cursor(self.stream, place, is_boundary=True).encode()
        self._mark_covered(watermark, gap if self.descending else gap - 1)

    def mark_end(self, watermark: Message, covered: int | None) -> None:
        """Set the watermark of the last frame after the whole range was read.

        `covered` is the covered checkpoint in the watermark of the last item, or None.
        """
        place = self.start if self.descending else max(self.start, self.end)
        watermark.cursor = Cursor(self.stream, place, is_boundary=True).encode()
        if self.exhaustion is End.CURSOR_BOUND:
            if covered is not None:
                watermark.checkpoint = covered
        elif not self.is_empty:
            last = place.checkpoint if self.descending else place.checkpoint - 1
            self._mark_covered(watermark, last)

    def _mark_covered(self, watermark: Message, checkpoint: int) -> None:
        # The scan does not cover checkpoints before its start. For example, if the scan starts in
        # checkpoint 3, an event of checkpoint 3 does not show that checkpoint 2 is covered.
        is_in_scan = checkpoint <= self.entry if self.descending else checkpoint >= self.entry
        if is_in_scan and checkpoint >= 0:
            watermark.checkpoint = checkpoint


def _within_checkpoints(query: Query, request: Message) -> Query:
    first = request.start_checkpoint if request.HasField("start_checkpoint") else None
    end = request.end_checkpoint if request.HasField("end_checkpoint") else None
    if first is not None and end is not None and first > end:
        raise invalid("start_checkpoint is greater than end_checkpoint")
    if first is not None:
        query = replace(query, start=EventPosition(first))
    if end is not None and end < query.end.checkpoint:
        reason = query.exhaustion if query.descending else End.CHECKPOINT_BOUND
        query = replace(query, end=EventPosition(end), exhaustion=reason)
    return query


def _within_cursors(query: Query, options: Message) -> Query:
    if options.HasField("after"):
        after = Cursor.decode(query.stream, options.after, "options.after").first_after()
        if after > query.start:
            reason = End.CURSOR_BOUND if query.descending else query.exhaustion
            query = replace(query, start=after, exhaustion=reason)
    if options.HasField("before"):
        before = Cursor.decode(query.stream, options.before, "options.before").position
        if before < query.end:
            reason = query.exhaustion if query.descending else End.CURSOR_BOUND
            query = replace(query, end=before, exhaustion=reason)
    return query
