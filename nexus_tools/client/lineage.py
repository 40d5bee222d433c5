"""Whether a node still has the chain that was followed, or was set back and went another way.

Heights alone do not tell: a node that was set back may have passed its old height before anybody
asks. So the digest of a checkpoint is kept now and then, as a mark, and each event since the last
mark. When the stream of events is begun again, the mark has to be there, and so do those events,
and no others up to the place that was reached.

With marks at 10 and 12 and events followed up to 15, a node was set back and is at 20: if it went
back to 11, its checkpoint 12 has another digest; if to 13, some event of 14 or 15 is missing or
new, or nothing that matters has changed.
"""

import asyncio
from collections import deque

from nexus_tools.client.connection import Connection, mask
from nexus_tools.client.events import Cursor, EventRecord, Item, Position
from nexus_tools.client.reads import read_height
from nexus_tools.errors import NotFoundError, UnreachableError
from nexus_tools.sui.digest import Digest

WENT_BACK = "chain_went_back"
"""The code of the error that says so."""

_MARKS = 600

Mark = tuple[int, str]
"""The number and the digest of a checkpoint."""


class Lineage:
    """What one follower knows of the chain, from the cursor with which it began."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._marks: deque[Mark] = deque(maxlen=_MARKS)
        self._candidate: Mark | None = None
        self._place: Cursor | None = None
        self._events: dict[Position, Digest] = {}
        self._missing: dict[Position, Digest] = {}
        self._marked_at = _now()
        self._behind_since: float | None = None

    # --- Following

    def advance(self, item: Item) -> None:
        """An item is handed on: nothing of the past may change from now on."""
        if self._place is None:
            self._place = item.cursor.without_token()
        if isinstance(item, EventRecord):
            self._events[item.cursor.position] = item.transaction_digest

    async def mark(self, reached: int) -> None:
        """Keep the digest of a checkpoint to which a stream has come, if it is time to.

        The node may be set back between the frame and this question. So the answer counts only once
        the same stream has gone on: one that was set back ends.
        """
        if _now() - self._marked_at < self._connection.patience.mark_s:
            return
        self._marked_at = _now()
        if self._candidate is not None:
            self._accept(self._candidate)
        digest = await self._digest(reached)
        self._candidate = None if digest is None else (reached, digest)

    def _accept(self, mark: Mark) -> None:
        self._marks.append(mark)
        self._place = Cursor.after_checkpoint(mark[0])
        self._events = {at: digest for at, digest in self._events.items() if at[0] > mark[0]}

    # --- Beginning again

    async def check(self, reached: Cursor) -> None:
        """Raise `chain_went_back` if a mark is gone, `node_behind` if that cannot be known yet."""
        self._candidate = None
        if not self._marks and not reached.checkpoint:
            return
        height = await read_height(self._connection)
        mark = next((each for each in reversed(self._marks) if each[0] <= height), None)
        if self._marks and (mark is None or await self._digest(mark[0]) != mark[1]):
            raise self._went_back(reached)
        if height < reached.checkpoint:
            raise self._behind(height, reached)
        self._behind_since = None

    def _behind(self, height: int, reached: Cursor) -> UnreachableError | NotFoundError:
        """A node may be behind others for a while; after that, it was set back."""
        self._behind_since = self._behind_since or _now()
        if _now() - self._behind_since > self._connection.patience.call_timeout_s:
            return self._went_back(reached)
        return UnreachableError(
            "node_behind",
            f"the node at {self._connection.network.url} is at checkpoint {height},"
            f" and {reached.checkpoint} was seen",
        )

    async def _digest(self, number: int) -> str | None:
        """The digest of a checkpoint; None if the node does not have it, or not any more."""
        try:
            response = await self._connection.call(
                "LedgerService/GetCheckpoint", sequence_number=number, read_mask=mask("digest")
            )
        except NotFoundError:
            return None
        return str(response.checkpoint.digest)

    def begin_again(self, reached: Cursor) -> Cursor:
        """From where to read once more, to `compare` with what was handed on."""
        self._missing = dict(self._events)
        return self._place or reached

    def compare(self, item: Item, reached: Cursor) -> bool:
        """Whether all up to the place reached is as it was; False before that is known.

        Raises `chain_went_back`.
        """
        position = item.cursor.position
        is_again = self._place is None or position > self._place.position
        is_again = is_again and position <= reached.position and isinstance(item, EventRecord)
        if is_again and self._missing.pop(position, None) != item.transaction_digest:
            raise self._went_back(reached)
        if position >= reached.position and self._missing:
            raise self._went_back(reached)
        return position >= reached.position

    def _went_back(self, reached: Cursor) -> NotFoundError:
        url = self._connection.network.url
        return NotFoundError(
            WENT_BACK,
            f"the node at {url} does not have the chain any more that was read up to checkpoint"
            f" {reached.checkpoint}: it was set back",
            hint="what was read since may not have happened: begin anew, from an earlier place",
            details={"url": url, "checkpoint": reached.checkpoint},
        )


def _now() -> float:
    return asyncio.get_running_loop().time()
