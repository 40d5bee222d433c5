"""The index of the selected network, opened for writing."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from time import monotonic

from nexus_tools.cli.framework import Session, plain, reduce_gc_frequency
from nexus_tools.cli.index.note_pace import SECONDS_BETWEEN_NOTES, NotePace
from nexus_tools.index import (
    IndexIdentity,
    IndexPipeline,
    IndexWriter,
    SearchUpdate,
    VectorUpdate,
    WritableIndex,
    open_writer,
    update_vectors,
)
from nexus_tools.index.search import load_intent_model
from nexus_tools.nexus import Nexus
from nexus_tools.sui.client import Cursor, oldest_checkpoint

_SECONDS_BETWEEN_POSITIONS = 60.0


@asynccontextmanager
async def writable_index(session: Session, nexus: Nexus) -> AsyncIterator[WritableIndex]:
    """Open the index for writing, and warn if a damaged file is replaced."""
    identity = IndexIdentity.of(nexus.deployment)
    oldest = await oldest_checkpoint(nexus.client)
    with session.output.progress("checking the index"):
        index = open_writer(identity.path(), identity, oldest=oldest)
    try:
        if index.replaced is not None:
            session.output.warn(plain(f"{index.replaced.message}: building a new index"))
        reduce_gc_frequency()
        yield index
    finally:
        index.close()


@dataclass(frozen=True)
class SearchUpdates:
    """The updates of the text index and of the vectors."""

    words: SearchUpdate
    vectors: VectorUpdate


@asynccontextmanager
async def search_updates(
    session: Session, index: WritableIndex, intent_model: str | None = None
) -> AsyncIterator[SearchUpdates]:
    """Open the updates of the search. The default model is the one in the settings, if any.

    Raises the errors of `load_intent_model`.
    """
    name = intent_model or session.settings.intent_model
    with session.output.progress("loading the intent model"):
        model = None if name is None else load_intent_model(name)
    with (
        closing(SearchUpdate(index)) as words,
        closing(VectorUpdate(index, model)) as vectors,
    ):
        yield SearchUpdates(words, vectors)


@dataclass(frozen=True)
class OpenIndex:
    """An index that this process writes, with the updates of its search, and its pipeline."""

    index: WritableIndex
    search: SearchUpdates
    pipeline: IndexPipeline


@asynccontextmanager
async def index_pipeline(
    session: Session, nexus: Nexus, intent_model: str | None = None
) -> AsyncIterator[OpenIndex]:
    """Open the index for writing with the pipeline that keeps it current.

    Raises the errors of `open_writer` and `load_intent_model`.
    """
    async with (
        writable_index(session, nexus) as index,
        search_updates(session, index, intent_model) as search,
    ):
        pipeline = IndexPipeline(
            nexus.client,
            nexus.deployment,
            IndexWriter(index, nexus.deployment),
            search=search.words,
            vectors=search.vectors,
            report=ProgressNotes(session, await nexus.client.latest_checkpoint()),
            interrupted=lambda error: session.output.warn(plain(error.message)),
        )
        yield OpenIndex(index, search, pipeline)


async def compute_vectors(session: Session, vectors: VectorUpdate) -> None:
    """Compute all missing vectors of tools, and show the progress."""
    with session.output.progress("computing vectors of tools"):
        await update_vectors(vectors, VectorNotes(session, vectors.pending()))


class ProgressNotes:
    """The messages about the position of the pipeline.

    Until the pipeline has reached the newest checkpoint at its start, a message appears at most
    every five seconds. Later, while the pipeline follows new events, it appears once a minute.
    """

    def __init__(
        self, session: Session, newest: int, clock_s: Callable[[], float] = monotonic
    ) -> None:
        self._output = session.output
        self._newest = newest
        self._pace = NotePace(clock_s)

    def __call__(self, cursor: Cursor) -> None:
        """Note the position of the pipeline."""
        checkpoint = cursor.checkpoint
        is_following = checkpoint >= self._newest
        if not self._pace.is_due(
            _SECONDS_BETWEEN_POSITIONS if is_following else SECONDS_BETWEEN_NOTES
        ):
            return
        if is_following:
            self._output.note(f"following, at checkpoint {_spaced(checkpoint)}")
        else:
            share = f"{_spaced(checkpoint)} of {_spaced(self._newest)}"
            percent = 100 * checkpoint // self._newest
            self._output.note(f"at checkpoint {share} ({percent} %)")


class VectorNotes:
    """The messages about missing vectors, at most one every five seconds."""

    def __init__(
        self, session: Session, count: int, clock_s: Callable[[], float] = monotonic
    ) -> None:
        """Take the number of missing vectors at the start."""
        self._output = session.output
        self._count = count
        self._pace = NotePace(clock_s)

    def __call__(self, missing: int) -> None:
        """Note the number of vectors that are still missing."""
        if not self._pace.is_due():
            return
        done = self._count - missing
        share = f"{_spaced(done)} of {_spaced(self._count)}"
        self._output.note(
            f"computed the vectors of {share} tools ({100 * done // max(1, self._count)} %)"
        )


def _spaced(number: int) -> str:
    return f"{number:,}".replace(",", " ")
