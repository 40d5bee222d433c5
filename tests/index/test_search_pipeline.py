"""The pipeline keeps the files of the search current."""

import asyncio
from contextlib import closing, suppress

import pytest

from nexus_tools.errors import WrongStateError
from nexus_tools.index import Index, SearchUpdate, VectorUpdate, rebuild, update_vectors
from nexus_tools.registry import Registration
from tests.index.conftest import ADD, PRICED
from tests.index.intent_models import PausedModel, SlowModel

pytestmark = pytest.mark.anyio


class Updates(SearchUpdate):
    """An update that reports how often it ran, and fails if it should."""

    def __init__(self, index):
        super().__init__(index)
        self.loop = asyncio.get_running_loop()
        self.ran = asyncio.Event()
        self.error = None

    def run(self):
        error, self.error = self.error, None
        if error is not None:
            raise error
        count = super().run()
        self.loop.call_soon_threadsafe(self.ran.set)
        return count

    async def until(self, is_done):
        async with asyncio.timeout(20):
            while not is_done():
                self.ran.clear()
                await self.ran.wait()


def found(index, query):
    # Before the first update, no text index exists.
    with Index(index.path, index.identity) as reader, suppress(WrongStateError):
        return {item.tool.fqn for item in reader.search(query).items}
    return set()


async def test_catch_up_makes_tools_and_their_ports_findable(history, new_index, pipeline):
    index = new_index()
    await history.tools.register(Registration(history.define(ADD)))
    with closing(SearchUpdate(index)) as search:
        await pipeline(index, search=search).catch_up()
    assert found(index, "add") == {ADD}


async def test_running_pipeline_keeps_the_search_current(history, new_index, pipeline):
    index, errors = new_index(), []
    await history.tools.register(Registration(history.define(ADD)))
    with closing(Updates(index)) as search:
        search.error = WrongStateError("text_index_unusable", "damaged")
        following = pipeline(index, search=search, interrupted=errors.append)
        task = asyncio.create_task(following.run())
        await search.until(lambda: ADD in found(index, "add"))
        await history.tools.register(Registration(history.define(PRICED)))
        await search.until(lambda: PRICED in found(index, "priced"))
        await history.tools.unregister(ADD)
        await search.until(lambda: ADD not in found(index, "add"))
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
    assert [error.code for error in errors] == ["text_index_unusable"]


async def test_reverted_tool_is_not_found(history, new_index, pipeline):
    index, snapshot = new_index(), history.net.snapshot()
    await history.tools.register(Registration(history.define(ADD)))
    with closing(SearchUpdate(index)) as search:
        await pipeline(index, search=search).catch_up()
        history.net.revert(snapshot)
        history.net.fund(history.clients["user"].address, 1)
        await pipeline(index).catch_up()
        assert found(index, "add") == set()
    with closing(SearchUpdate(index)) as search:
        assert search.run() > 0
    assert found(index, "add") == set()


async def test_vectors_delay_neither_events_nor_words(history, new_index, pipeline):
    index, model = new_index(), PausedModel()
    await history.tools.register(Registration(history.define(ADD)))
    with closing(Updates(index)) as search, closing(VectorUpdate(index, model)) as vectors:
        task = asyncio.create_task(pipeline(index, search=search, vectors=vectors).run())
        await asyncio.to_thread(model.started.wait)
        await history.tools.register(Registration(history.define(PRICED)))
        await search.until(lambda: PRICED in found(index, "priced"))
        task.cancel()
        model.continue_.set()
        with suppress(asyncio.CancelledError):
            await task
        assert len(model.texts) == 1
    with Index(index.path, index.identity) as reader:
        status = reader.status().search
    assert status.vectors == 1
    assert status.pending_vectors > 0


async def test_running_pipeline_computes_vectors(history, new_index, pipeline):
    index = new_index()
    model = SlowModel()
    with closing(Updates(index)) as search, closing(VectorUpdate(index, model)) as vectors:
        task = asyncio.create_task(pipeline(index, search=search, vectors=vectors).run())
        for fqn in ADD, PRICED:
            await history.tools.register(Registration(history.define(fqn)))
            async with asyncio.timeout(20):
                await asyncio.to_thread(model.wait_for, fqn.partition("@")[0].rpartition(".")[2])
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def test_interrupted_vectors_complete_their_part(history, new_index, pipeline):
    index, model = new_index(), PausedModel()
    for fqn in ADD, PRICED:
        await history.tools.register(Registration(history.define(fqn)))
    await pipeline(index).catch_up()
    with closing(VectorUpdate(index, model)) as vectors:
        task = asyncio.create_task(update_vectors(vectors))
        await asyncio.to_thread(model.started.wait)
        task.cancel()
        model.continue_.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (len(model.texts), vectors.pending()) == (1, 1)
        await update_vectors(vectors)
        assert (len(model.texts), vectors.pending()) == (2, 0)


async def test_rebuild_reads_all_texts_again(history, new_index, pipeline):
    index = new_index()
    await history.tools.register(Registration(history.define(ADD)))
    with closing(SearchUpdate(index)) as search:
        await pipeline(index, search=search).catch_up()
        reader = Index(index.path, index.identity)
        await rebuild(history.clients["user"], history.deployment, index, search=search)
    assert [item.tool.fqn for item in reader.search("add").items] == [ADD]
    reader.close()
