"""The pipeline from the events of a chain to the tables of an index."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing, suppress
from functools import partial
from time import monotonic
from typing import TypeVar

from nexus_tools.contracts import Deployment
from nexus_tools.contracts.move_bindings.version import RegistryMigrated
from nexus_tools.contracts.move_bindings.workflows.dag_registry import DagRegistryMigrated
from nexus_tools.errors import NexusError, NotFoundError, UnreachableError, WrongStateError
from nexus_tools.index.definitions import definition_words
from nexus_tools.index.event_filters import read_event_filter
from nexus_tools.index.index_file import WritableIndex, create_copy, replace_contents
from nexus_tools.index.search_update import SearchUpdate
from nexus_tools.index.vector_update import VectorUpdate
from nexus_tools.index.writer import IndexWriter, Item
from nexus_tools.sui.client import (
    CHAIN_ROLLED_BACK,
    Cursor,
    EventRecord,
    SuiClient,
    follow_events,
    latest_common_checkpoint,
    oldest_checkpoint,
    paginate,
)

T = TypeVar("T")

Report = Callable[[Cursor], None]
"""A function that receives the cursor after each change of the index."""
Interrupted = Callable[[NexusError], None]
"""A function that receives the errors after which the pipeline continues."""

EVENTS_AT_ONCE = 5_000
"""The largest number of events in a transaction. Each transaction updates many rows once."""
# The cursor of a page without events is stored less often. After a crash, it is read again.
_SECONDS_BETWEEN_EMPTY_PAGES = 5.0
_RETRY_S = 1.0
# Longer than the interval in which `CatchUp` ignores calls, so that no change is missed.
_SEARCH_INTERVAL_S = 1.1
_DEFINITIONS_AT_ONCE = 50
_MIGRATIONS = (RegistryMigrated.__name__, DagRegistryMigrated.__name__)


class IndexPipeline:
    """A follower of events that writes them into an index.

    The definitions of tools are not in events. They are read in the background, because a slow node
    must not delay the events.
    """

    def __init__(
        self,
        client: SuiClient,
        deployment: Deployment,
        writer: IndexWriter,
        *,
        search: SearchUpdate | None = None,
        vectors: VectorUpdate | None = None,
        report: Report = lambda _: None,
        interrupted: Interrupted = lambda _: None,
    ) -> None:
        """Create the pipeline. With `search` and `vectors`, it also keeps the search current."""
        self._client = client
        self._deployment = deployment
        self._writer = writer
        self._search = search
        self._vectors = vectors
        self._report = report
        self._interrupted = interrupted
        self._lock = asyncio.Lock()
        self._written = asyncio.Event()
        self._written_at = 0.0
        self._words_due = asyncio.Event()
        self._vectors_due = asyncio.Event()

    async def run(self) -> None:
        """Follow the events until the task is cancelled. A started batch is completed first.

        Raises:
            WrongStateError: `index_taken_over` or `index_chain_replaced`.
            NotFoundError: `history_missing` if the node pruned events that the index lacks.
            NexusError: `index_failed` or `index_invalid`.
        """
        work = (
            *(self._follow_forever, self._read_definitions_forever),
            *(self._update_search_forever, self._update_vectors_forever),
        )
        tasks = [asyncio.create_task(task()) for task in work]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                if task.done():
                    task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def catch_up(self) -> None:
        """Read the events up to the newest checkpoint, and the definitions of new tools.

        The words of all tools are then findable, but `update_vectors` computes their vectors.
        Raises the errors of `run`, `node_unreachable`, and the errors of `SearchUpdate.run`.
        """
        is_current = False
        while not is_current:
            newest = Cursor.after_checkpoint(await self._client.latest_checkpoint())
            is_current = await self._follow_once(newest)
        while await self._read_definitions():
            pass
        if self._search is not None:
            await _completed(self._search.run)

    # --- Events

    async def _follow_forever(self) -> None:
        while True:
            try:
                await self._follow_once(None)
            except UnreachableError as error:
                self._interrupted(error)
                await asyncio.sleep(_RETRY_S)

    async def _follow_once(self, until: Cursor | None) -> bool:
        """Follow until a position, a rollback, or an upgrade of the packages.

        Return whether the position was reached.
        """
        try:
            return await self._follow(until)
        except NotFoundError as error:
            if error.code != CHAIN_ROLLED_BACK:
                raise
            self._interrupted(error)
            await self._check_chain()
            await self._write(self._writer.roll_back, await self._common(error))
            return False

    async def _common(self, error: NotFoundError) -> int:
        """Return the latest checkpoint up to which the chain has not changed.

        After a restart, the error knows only the last mark, but the index has older ones.
        """
        async with self._lock:
            marks = self._writer.marks()
        stored = await latest_common_checkpoint(self._client.connection, marks)
        return max(int(error.details["common"]), stored or 0)

    async def _follow(self, until: Cursor | None) -> bool:
        await self._check_chain()
        await self._check_history()
        items = follow_events(
            self._client,
            await read_event_filter(self._client, self._deployment),
            self._start(until),
            interrupted=self._interrupted,
        )
        async with aclosing(items), aclosing(paginate(items, EVENTS_AT_ONCE)) as pages:
            async for page in pages:
                migration = _migration_in(page)
                if migration is not None:
                    page = page[: migration + 1]  # noqa: PLW2901 - the rest is read again
                is_last = until is not None and page[-1].cursor.position >= until.position
                read = self._writer.cursor.position
                new = [item for item in page if item.cursor.position > read]
                is_behind = len(page) == EVENTS_AT_ONCE
                await self._take(new, is_last=is_last, is_behind=is_behind and not is_last)
                if is_last or migration is not None:
                    return is_last
        return False

    def _start(self, until: Cursor | None) -> Cursor:
        """Return the cursor from which events are read.

        If no event may follow, start one checkpoint earlier. The stream then has at least one item.
        """
        cursor = self._writer.cursor
        if until is None or cursor.position < until.position or not cursor.checkpoint:
            return cursor
        return Cursor.after_checkpoint(cursor.checkpoint - 1, mark=cursor.mark)

    async def _take(self, page: Sequence[Item], *, is_last: bool, is_behind: bool) -> None:
        if not page:
            return
        has_events = any(isinstance(item, EventRecord) for item in page)
        is_due = monotonic() - self._written_at >= _SECONDS_BETWEEN_EMPTY_PAGES
        if not (has_events or is_due or is_last):
            return
        await self._write(partial(self._writer.apply, page, is_behind=is_behind))
        self._written_at = monotonic()
        self._written.set()

    async def _check_history(self) -> None:
        """Raise `history_missing` if the node lacks checkpoints after the cursor."""
        oldest = await oldest_checkpoint(self._client)
        if oldest > self._writer.cursor.checkpoint + 1:
            raise NotFoundError(
                "history_missing",
                f"the index needs the events from checkpoint {self._writer.cursor.checkpoint}, but"
                f" the node has pruned the checkpoints before {oldest}",
                hint="Use a node with a longer history, or run `nexus-tools index rebuild` to start"
                f" at checkpoint {oldest}.",
            )

    async def _check_chain(self) -> None:
        """Raise `index_chain_replaced` if the node now has another chain."""
        chain_id = await self._client.chain_id()
        if chain_id != self._deployment.chain_id:
            raise WrongStateError(
                "index_chain_replaced",
                f"the node at {self._client.network.url} now has the chain {chain_id}, but the"
                f" index belongs to the chain {self._deployment.chain_id}",
                hint="Run `nexus-tools index run` again to index the new chain.",
            )

    async def _write(self, operation: Callable[..., None], *arguments: object) -> None:
        """Run an operation of the writer in a thread. If cancelled, complete it first."""
        async with self._lock:
            await _completed(operation, *arguments)
        self._words_due.set()
        self._vectors_due.set()
        self._report(self._writer.cursor)

    # --- Definitions

    async def _read_definitions_forever(self) -> None:
        while True:
            self._written.clear()
            try:
                while await self._read_definitions():
                    pass
                await self._written.wait()
            except UnreachableError as error:
                self._interrupted(error)
            await asyncio.sleep(_RETRY_S)

    async def _read_definitions(self) -> bool:
        """Read some pending definitions. Return whether all of them were found."""
        async with self._lock:
            pending = self._writer.pending_definitions(_DEFINITIONS_AT_ONCE)
        if not pending:
            return False
        values = await self._client.objects([tool_id for _, _, tool_id in pending])
        words = {
            (tool, seq): definition_words(self._deployment, value)
            for (tool, seq, _), value in zip(pending, values, strict=True)
            if value is not None
        }
        await self._write(self._writer.save_definitions, words)
        return len(words) == len(pending)

    # --- Search

    async def _update_search_forever(self) -> None:
        while True:
            try:
                if self._search is not None:
                    await _completed(self._search.run)
                await self._words_due.wait()
                self._words_due.clear()
            except NexusError as error:  # the next attempt opens the files again
                self._interrupted(error)
            await asyncio.sleep(_SEARCH_INTERVAL_S)

    async def _update_vectors_forever(self) -> None:
        """Compute vectors beside all other work. The thread of a part delays only this task."""
        while True:
            try:
                if self._vectors is not None:
                    await update_vectors(self._vectors)
                await self._vectors_due.wait()
                self._vectors_due.clear()
            except NexusError as error:  # the next attempt continues
                self._interrupted(error)
            await asyncio.sleep(_SEARCH_INTERVAL_S)


async def update_vectors(
    vectors: VectorUpdate, report: Callable[[int], None] | None = None
) -> None:
    """Compute all missing vectors. If cancelled, complete the current part first.

    `report` receives the maximum number of missing vectors after each part. Raises the errors of
    `VectorUpdate.run_part`.
    """
    while await _completed(vectors.run_part):
        if report is not None:
            report(await _completed(vectors.pending))


async def _completed(operation: Callable[..., T], *arguments: object) -> T:
    """Run an operation in a thread. If cancelled, complete it first."""
    running = asyncio.create_task(asyncio.to_thread(operation, *arguments))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        with suppress(NexusError):
            await running
        raise


def _migration_in(page: Sequence[Item]) -> int | None:
    """Return the place of the first event after which a new version's events may follow."""
    for place, item in enumerate(page):
        if isinstance(item, EventRecord) and item.event.type.name in _MIGRATIONS:
            return place
    return None


async def rebuild(
    client: SuiClient,
    deployment: Deployment,
    index: WritableIndex,
    report: Report = lambda _: None,
    search: SearchUpdate | None = None,
) -> None:
    """Read all events into a new file, and then replace the contents of the index.

    Until then, readers see the old contents. `search` then updates the text index, and
    `update_vectors` has to compute the vectors again.

    Raises the errors of `IndexPipeline.catch_up`.
    """
    copy = create_copy(index, await oldest_checkpoint(client))
    try:
        writer = IndexWriter(copy, deployment)
        await IndexPipeline(client, deployment, writer, report=report).catch_up()
        await asyncio.to_thread(replace_contents, index, copy)
        if search is not None:
            await asyncio.to_thread(search.run)
    finally:
        copy.close()
