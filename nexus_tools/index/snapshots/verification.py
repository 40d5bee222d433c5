"""The comparison of a snapshot with the events that a node returns.

A window of rows is equal only if the node returns exactly its events. Therefore, changed, missing
and invented rows in a window are all found. The windows are the beginning, the end, and random
windows that the publisher cannot predict. Each random window ends with the following row, so it
also shows that no event between two rows is missing.
"""

import asyncio
from collections.abc import Sequence
from random import Random, SystemRandom

from msgspec import Struct

from nexus_tools.errors import ValidationError
from nexus_tools.index.snapshots.contents import SnapshotRows, Window
from nexus_tools.sui.client import (
    Cursor,
    EventFilter,
    EventRecord,
    Mark,
    SuiClient,
    UnsupportedByNodeError,
    newest_events,
    oldest_checkpoint,
)

LAST_ROWS = 1_000
RANDOM_ROWS = 100
_AT_ONCE = 8
_EVENTS_AT_ONCE = 1_000
_MAX_READ_S = 10.0
# Events of a few kinds have no row, so a window has at least as many events as rows.
_MORE_EVENTS = 10
_MAX_REQUESTS = 10
"""The maximum number of requests for a window, of which nearly all need one."""


class Verification(Struct, frozen=True):
    """The result of a comparison in which no difference was found.

    `unverified` is the number of windows that the node could not check, for the reason `problem`.
    `marks` are positions of checked events, oldest first.
    """

    unverified: int
    problem: str
    marks: Sequence[Mark]


class SnapshotVerifier:
    """The comparison of the rows of a snapshot with a node."""

    def __init__(
        self,
        client: SuiClient,
        event_filter: EventFilter,
        rows: SnapshotRows,
        numbers: Random | None = None,
    ) -> None:
        self._client = client
        self._filter = event_filter
        self._rows = rows
        self._numbers = numbers or SystemRandom()
        self._slots = asyncio.Semaphore(_AT_ONCE)

    async def run(self) -> Verification:
        """Compare the windows.

        Raises:
            ValidationError: `snapshot_mismatch` if the node has other events.
            NexusError: `node_unreachable`, or another error of the node.
        """
        count = self._rows.count
        chosen = self._numbers.sample(range(1, count + 1), min(count, RANDOM_ROWS))
        fixed = [self._rows.beginning(), self._rows.end(LAST_ROWS)]
        windows = [*fixed, *map(self._rows.window_at, chosen)]
        oldest = await oldest_checkpoint(self._client)
        checked = [window for window in windows if window.first_checkpoint >= oldest]
        unverified = len(windows) - len(checked)
        problem = f"the node has pruned the events before checkpoint {oldest}"
        records: list[EventRecord] = []
        try:
            for part in await asyncio.gather(*map(self._check, checked)):
                if part is None:
                    unverified += 1
                    problem = "the node returns too few events for each request"
                records += part or ()
        except UnsupportedByNodeError:
            unverified, problem = len(windows), "the node has no index of events"
        return Verification(unverified, problem if unverified else "", _marks(records))

    async def _check(self, window: Window) -> list[EventRecord] | None:
        """Compare a window, and return its events, or None if the node does not return them."""
        async with self._slots:
            records = await self._read(window)
        if records is None:
            return None
        if not self._rows.equals(window, records):
            raise ValidationError(
                "snapshot_mismatch",
                "the snapshot differs from the chain between the checkpoints"
                f" {window.first_checkpoint} and {window.last_checkpoint}",
                hint="Do not use other snapshots of its publisher. Run `nexus-tools index run` to"
                " read all events.",
            )
        return records

    async def _read(self, window: Window) -> list[EventRecord] | None:
        """Return the events of a window in the order of the chain, or None after many requests."""
        found: list[EventRecord] = []
        before: Cursor | None = Cursor.after_checkpoint(window.last_checkpoint)
        for _ in range(_MAX_REQUESTS):
            missing = window.last - window.first + 1 - len(found)
            limit = max(_MORE_EVENTS, min(missing + _MORE_EVENTS, _EVENTS_AT_ONCE))
            page = await newest_events(
                self._client,
                self._filter,
                limit,
                before,
                max_read_s=_MAX_READ_S,
                indexed_only=True,
            )
            found += page.events
            before = page.next
            is_past = found and found[-1].checkpoint < window.first_checkpoint
            if is_past or before is None or before.checkpoint < window.first_checkpoint:
                wanted = range(window.first_checkpoint, window.last_checkpoint + 1)
                return [record for record in reversed(found) if record.checkpoint in wanted]
        return None


def _marks(records: Sequence[EventRecord]) -> list[Mark]:
    """Return one mark for each checkpoint with events, the oldest first."""
    marks = {
        record.checkpoint: Mark(
            record.checkpoint, record.cursor.transaction, record.transaction_digest
        )
        for record in records
    }
    return [marks[checkpoint] for checkpoint in sorted(marks)]
