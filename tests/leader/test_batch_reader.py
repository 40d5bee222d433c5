import asyncio

import pytest

from nexus_tools.leader.chain.batch_reader import BatchReader


class Store:
    def __init__(self):
        self.batches = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.asked = asyncio.Semaphore(0)

    async def read(self, keys):
        self.batches.append(list(keys))
        self.asked.release()
        await self.gate.wait()
        return [key * 10 for key in keys]


@pytest.fixture
async def store():
    return Store()


async def test_those_who_ask_together_are_served_together(store):
    reader = BatchReader(store.read)
    values = await asyncio.gather(*(reader.get(key) for key in range(10)))
    assert values == [key * 10 for key in range(10)]
    assert store.batches == [list(range(10))]


async def test_a_key_that_is_asked_for_twice_is_read_once(store):
    reader = BatchReader(store.read)
    assert await asyncio.gather(reader.get(1), reader.get(1)) == [10, 10]
    assert store.batches == [[1]]


async def test_a_key_that_is_asked_for_later_is_read_anew(store):
    reader = BatchReader(store.read)
    await reader.get(1)
    await reader.get(1)
    assert store.batches == [[1], [1]]


async def test_a_batch_is_never_larger_than_allowed(store):
    reader = BatchReader(store.read, batch_size=4, parallel=1)
    await asyncio.gather(*(reader.get(key) for key in range(10)))
    assert [len(batch) for batch in store.batches] == [4, 4, 2]


async def test_no_more_reads_run_at_once_than_allowed(store):
    store.gate.clear()
    reader = BatchReader(store.read, batch_size=1, parallel=2)
    asked = [reader.get(key) for key in range(5)]
    for _ in range(2):
        await store.asked.acquire()
    for _ in range(10):
        await asyncio.sleep(0)
    assert len(store.batches) == 2
    store.gate.set()
    assert await asyncio.gather(*asked) == [0, 10, 20, 30, 40]


async def test_an_error_reaches_all_who_asked_and_the_next_are_served():
    fail = True

    async def read(keys):
        if fail:
            raise ValueError("broken")
        return list(keys)

    reader = BatchReader(read)
    results = await asyncio.gather(reader.get(1), reader.get(2), return_exceptions=True)
    assert [type(result) for result in results] == [ValueError, ValueError]
    fail = False
    assert await reader.get(1) == 1


async def test_one_who_gives_up_does_not_disturb_the_others(store):
    store.gate.clear()
    reader = BatchReader(store.read)
    gone, waiting = reader.get(1), reader.get(1)
    await store.asked.acquire()
    gone.cancel()
    store.gate.set()
    assert await waiting == 10
