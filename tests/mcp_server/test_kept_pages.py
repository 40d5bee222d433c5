"""The cache of a catalogue's pages, which is small and short-lived."""

import asyncio

import pytest

from nexus_tools.mcp_server import CataloguePage
from nexus_tools.mcp_server.catalogue.catalogue import PageCache


class Reader:
    """A reader that returns pages of the requested size and counts the reads."""

    def __init__(self):
        self.places = []

    async def read(self, place, limit):
        self.places.append(place)
        return CataloguePage((None,) * limit)


@pytest.fixture
def reader():
    return Reader()


async def test_page_is_read_once_within_its_lifetime(reader):
    pages = PageCache(reader.read)
    for cursor in (None, "7", None, "7"):
        await pages.page(cursor, 200)
    assert reader.places == [0, 7]


async def test_page_is_dropped_after_its_lifetime(reader, monkeypatch):
    monkeypatch.setattr("nexus_tools.mcp_server.catalogue.catalogue._LIFETIME_S", 0)
    pages = PageCache(reader.read)
    await pages.page(None, 200)
    later = asyncio.Event()
    asyncio.get_running_loop().call_later(0, later.set)
    await later.wait()
    assert pages._kept == {}
    await pages.page(None, 200)
    assert reader.places == [0, 0]


async def test_cache_size_is_limited(reader):
    pages = PageCache(reader.read)
    for place in range(100):
        await pages.page(str(place), 200)
    pages_kept = [page for page, _ in pages._kept.values()]
    assert sum(len(page.definitions) for page in pages_kept) <= 2_000
    await pages.page("99", 200)
    await pages.page("0", 200)
    assert reader.places == [*range(100), 0]


async def test_newest_page_is_kept_at_any_size(reader):
    pages = PageCache(reader.read)
    for _ in range(2):
        await pages.page(None, 10_000)
    assert reader.places == [0]
