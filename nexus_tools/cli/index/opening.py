"""The index of the selected network, opened for writing."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from time import monotonic

from nexus_tools.cli.framework import Session, plain
from nexus_tools.index import IndexIdentity, SearchUpdate, WritableIndex, open_writer
from nexus_tools.index.search import load_intent_model
from nexus_tools.nexus import Nexus
from nexus_tools.sui.client import Cursor, oldest_checkpoint

_SECONDS_BETWEEN_NOTES = 5.0
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
        yield index
    finally:
        index.close()


@asynccontextmanager
async def search_update(
    session: Session, index: WritableIndex, intent_model: str | None = None
) -> AsyncIterator[SearchUpdate]:
    """Open the update of the search. The default model is the one in the settings, if any.

    Raises the errors of `load_intent_model`.
    """
    name = intent_model or session.settings.intent_model
    model = None if name is None else load_intent_model(name)
    with closing(SearchUpdate(index, model)) as search:
        yield search


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
        self._clock_s = clock_s
        self._noted_at = clock_s()

    def __call__(self, cursor: Cursor) -> None:
        """Note the position of the pipeline."""
        checkpoint = cursor.checkpoint
        is_following = checkpoint >= self._newest
        interval_s = _SECONDS_BETWEEN_POSITIONS if is_following else _SECONDS_BETWEEN_NOTES
        if self._clock_s() - self._noted_at < interval_s:
            return
        self._noted_at = self._clock_s()
        if is_following:
            self._output.note(f"following, at checkpoint {_spaced(checkpoint)}")
        else:
            share = f"{_spaced(checkpoint)} of {_spaced(self._newest)}"
            percent = 100 * checkpoint // self._newest
            self._output.note(f"at checkpoint {share} ({percent} %)")


def _spaced(number: int) -> str:
    return f"{number:,}".replace(",", " ")
