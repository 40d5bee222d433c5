"""The cache of results of the node."""

import pytest

from nexus_tools.explorer import ChainReader
from nexus_tools.explorer.chain import _CACHED_RESULTS


@pytest.fixture
def reader(user, chain):
    return ChainReader(user, chain.deployment)


@pytest.fixture
def reads():
    """Return the keys that were read, in order."""
    return []


@pytest.fixture
def shared(reader, reads):
    """Return a function that reads the result of a key, which equals the key."""

    async def shared(key, *, is_final):
        async def read():
            reads.append(key)
            return key

        return await reader.shared(key, read, is_final=lambda _: is_final)

    return shared


async def test_final_results_outlive_other_results(shared, reads):
    for key in ("final", *range(_CACHED_RESULTS), "final"):
        assert await shared(key, is_final=key == "final") == key
    assert reads == ["final", *range(_CACHED_RESULTS)]


async def test_number_of_final_results_is_bounded(shared, reads):
    for key in (*range(_CACHED_RESULTS + 1), 0):
        await shared(key, is_final=True)
    assert reads == [*range(_CACHED_RESULTS + 1), 0]
