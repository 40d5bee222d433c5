"""The ranking of search results."""

import asyncio

import pytest

from nexus_tools.mcp_server import CataloguePage
from nexus_tools.mcp_server.search_index import CatalogueIndex, ToolIndex
from nexus_tools.tool import ANNOTATIONS

pytestmark = pytest.mark.anyio


@pytest.fixture
def tools(memory):
    def tool(fqn, description, *ports, title=None):
        properties = {port: {"type": "string"} for port in ports}
        definition = memory.definition(fqn, properties=properties, ok={}, description=description)
        if title:
            definition.input_schema[ANNOTATIONS] = {"title": title}
        return definition

    return [
        tool("xyz.example.files.read_file@1", "Gives the contents.", "path"),
        tool("xyz.example.files.write_file@1", "Replaces the contents.", "path", "content"),
        tool("xyz.example.mail.send@1", "Sends a message to somebody.", "recipient_address"),
        tool("xyz.example.mail.read@1", "Shows a message.", "message_id"),
        tool("xyz.example.misc.other@1", "Does what nobody reads about.", title="Café finder"),
        tool("xyz.example.misc.other@2", "Does what nobody reads about.", title="Café finder"),
    ]


@pytest.fixture
def find(tools):
    index = ToolIndex(tools)
    return lambda query, **page: [
        str(tool.fqn).removeprefix("xyz.example.")
        for tool in index.find(query, **({"limit": 10} | page)).tools
    ]


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("read file", "files.read_file@1"),
        ("reading files", "files.read_file@1"),
        ("WRITE", "files.write_file@1"),
        ("send a message", "mail.send@1"),
        ("recipient", "mail.send@1"),
        ("message id", "mail.read@1"),
        ("cafe", "misc.other@1"),
        ("xyz.example.mail.read@1", "mail.read@1"),
        ("writ", "files.write_file@1"),
        ("writeFile", "files.write_file@1"),
    ],
)
def test_best_tool_comes_first(find, query, best):
    assert find(query)[0] == best


def test_word_in_the_name_outweighs_one_in_the_description(find):
    results = find("read")
    assert set(results[:2]) == {"files.read_file@1", "mail.read@1"}
    assert results[2:] == ["misc.other@1", "misc.other@2"]


@pytest.mark.parametrize("query", ["", "  ", "!?*\"'()", '"'])
def test_empty_query_lists_all_tools_by_name(find, tools, query):
    assert find(query) == sorted(str(tool.fqn).removeprefix("xyz.example.") for tool in tools)


@pytest.mark.parametrize("query", ["zebra", "NOT", "xq* OR", "name:zebra", "NEAR(zebra)"])
def test_unmatched_words_find_nothing(find, query):
    assert find(query) == []


def test_pages_have_one_order_for_any_order_of_the_tools(tools):
    one, other = ToolIndex(tools), ToolIndex(reversed(tools))
    whole = one.find("read message contents other", limit=10)
    pages = [other.find("read message contents other", 2, place).tools for place in (0, 2, 4)]
    assert sum(pages, ()) == whole.tools
    assert whole.total == 6


class GrowingCatalogue:
    """A catalogue with pages of two that has one more tool each time it is read."""

    def __init__(self, tools):
        self.tools = tools
        self.readings = 0

    async def page(self, cursor, _):
        start = int(cursor or 0)
        self.readings += not start
        visible = self.tools[: self.readings + 2]
        next_cursor = str(start + 2) if start + 2 < len(visible) else None
        prices = {tool.fqn: 7 for tool in visible}
        return CataloguePage(tuple(visible[start : start + 2]), next_cursor, prices)


async def test_first_caller_reads_for_all(tools):
    catalogue = GrowingCatalogue(tools)
    index = CatalogueIndex(catalogue)
    one, other = await asyncio.gather(index.get(), index.get())
    assert (one, catalogue.readings) == (other, 1)
    assert [one.prices_mist[tool.fqn] for tool in one.tools] == [7, 7, 7]


async def test_old_index_answers_during_a_refresh(tools):
    index = CatalogueIndex(GrowingCatalogue(tools), lifetime_s=0)
    first = await index.get()
    assert await index.get() is first
    newer = await index._reading
    assert (len(first.tools), len(newer.tools)) == (3, 4)


async def test_unreadable_catalogue_is_read_again(tools):
    catalogue = GrowingCatalogue(tools)
    whole, catalogue.tools = catalogue.tools, None
    index = CatalogueIndex(catalogue)
    with pytest.raises(TypeError):
        await index.get()
    catalogue.tools = whole
    assert (await index.get()).tools
