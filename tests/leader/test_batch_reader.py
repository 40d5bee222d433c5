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


async def test_concurrent_keys_share_a_batch(store):
    reader = BatchReader(store.read)
    values = await asyncio.gather(*(reader.get(key) for key in range(10)))
    assert values == [key * 10 for key in range(10)]
    assert store.batches == [list(range(10))]


async def test_repeated_key_is_read_once(store):
    reader = BatchReader(store.read)
    assert await asyncio.gather(reader.get(1), reader.get(1)) == [10, 10]
    assert store.batches == [[1]]


async def test_later_key_is_read_again(store):
    reader = BatchReader(store.read)
    await reader.get(1)
    await reader.get(1)
    assert store.batches == [[1], [1]]


async def test_batch_has_at_most_the_allowed_size(store):
    reader = BatchReader(store.read, batch_size=4, parallel=1)
    await asyncio.gather(*(reader.get(key) for key in range(10)))
    assert [len(batch) for batch in store.batches] == [4, 4, 2]


async def test_reader_limits_concurrent_reads(store):
    store.gate.clear()
    reader = BatchReader(store.read, batch_size=1, parallel=2)
    requests = [reader.get(key) for key in range(5)]
    for _ in range(2):
        await store.asked.acquire()
    for _ in range(10):
        await asyncio.sleep(0)
    assert len(store.batches) == 2
    store.gate.set()
    assert await asyncio.gather(*requests) == [0, 10, 20, 30, 40]


async def test_error_reaches_all_callers_and_later_keys_are_read():
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


async def test_cancelled_caller_does_not_affect_others(store):
    store.gate.clear()
    reader = BatchReader(store.read)
    gone, waiting = reader.get(1), reader.get(1)
    await store.asked.acquire()
    gone.cancel()
    store.gate.set()
    assert await waiting == 10
