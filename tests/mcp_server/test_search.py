"""The ranking of search results."""

import asyncio
from dataclasses import replace

import pytest

from nexus_tools.mcp_server import CataloguePage, CombinedCatalogue
from nexus_tools.mcp_server.catalogue.sources import Changes
from nexus_tools.mcp_server.search_index import CatalogueIndex, ToolIndex
from nexus_tools.tool import ANNOTATIONS, ToolFqn

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
        tool("xyz.example.mail.send@1", "Sends a message to a colleague.", "recipient_address"),
        tool("xyz.example.mail.read@1", "Shows a message.", "message_id"),
        tool("xyz.example.misc.other@1", "Does what nobody reads about.", title="Café finder"),
        tool("xyz.example.misc.other@2", "Does what nobody reads about.", title="Café finder"),
    ]


@pytest.fixture
def find(tools):
    index = ToolIndex(tools)
    return lambda query, **page: [
        str(fqn).removeprefix("xyz.example.")
        for fqn in index.find(query, **({"limit": 10} | page)).fqns
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
    pages = [other.find("read message contents other", 2, place).fqns for place in (0, 2, 4)]
    assert sum(pages, ()) == whole.fqns
    assert whole.total == 6


def test_replaced_tool_is_found_by_its_new_words_only(tools):
    index = ToolIndex(tools)
    index.put([replace(tools[2], description="Rings a bell.")])
    assert [fqn.name for fqn in index.find("bell", 10).fqns] == ["send"]
    assert index.find("colleague", 10).total == 0
    assert len(index.fqns) == 6


def test_removed_tool_is_not_found(tools):
    index = ToolIndex(tools)
    index.remove([tools[2].fqn, ToolFqn.parse("xyz.example.mail.none@1")])
    assert index.find("recipient", 10).total == 0
    assert tools[2].fqn not in index.fqns


def test_index_skips_tool_with_invalid_schemas(tools):
    invalid = replace(tools[0], output_schema={"oneOf": [{"properties": 1}]})
    assert ToolIndex([invalid, tools[1]]).fqns == [tools[1].fqn]


class GrowingCatalogue:
    """A catalogue with pages of two that has one more tool each time it is read."""

    def __init__(self, tools):
        self.tools = tools
        self.readings = 0
        self.is_open = asyncio.Event()
        self.is_open.set()
        self.waiting = asyncio.Event()

    async def page(self, cursor, _):
        start = int(cursor or 0)
        self.readings += not start
        if start:
            self.waiting.set()
            await self.is_open.wait()
        visible = self.tools[: self.readings + 2]
        next_cursor = str(start + 2) if start + 2 < len(visible) else None
        prices = {tool.fqn: 7 for tool in visible}
        return CataloguePage(tuple(visible[start : start + 2]), next_cursor, prices)

    async def find(self, fqn):
        return next(tool for tool in self.tools if tool.fqn == fqn)


async def test_first_caller_reads_for_all(tools):
    catalogue = GrowingCatalogue(tools)
    index = CatalogueIndex(catalogue)
    one, other = await asyncio.gather(index.get(), index.get())
    assert (one, catalogue.readings, index.is_complete) == (other, 1, True)
    page = await index.find_all(one.fqns)
    assert [page.prices_mist[fqn] for fqn in one.fqns] == [7, 7, 7]


async def test_index_answers_while_the_catalogue_is_read(tools):
    catalogue = GrowingCatalogue(tools)
    catalogue.is_open.clear()
    index = CatalogueIndex(catalogue, patience_s=0)
    await index.get()
    await catalogue.waiting.wait()
    assert (await index.get()).fqns == [tool.fqn for tool in tools[:2]]
    assert not index.is_complete
    catalogue.is_open.set()
    await index._reading
    assert (len((await index.get()).fqns), index.is_complete) == (3, True)


async def test_old_index_is_updated_in_the_background(tools):
    index = CatalogueIndex(GrowingCatalogue(tools), lifetime_s=0)
    assert len((await index.get()).fqns) == 3
    assert len((await index.get()).fqns) == 3
    await index._reading
    assert len(index._index.fqns) == 4


async def test_unreadable_catalogue_is_read_again(tools):
    catalogue = GrowingCatalogue(tools)
    whole, catalogue.tools = catalogue.tools, None
    index = CatalogueIndex(catalogue)
    with pytest.raises(TypeError):
        await index.get()
    catalogue.tools = whole
    assert (await index.get()).fqns


# --- Sources with changes


class ChangingSource:
    """A source that returns changes, and records how it is read."""

    def __init__(self, tools):
        self.tools = list(tools)
        self.changed = None
        self.scans = 0

    async def scan(self, _, __):
        self.scans += 1
        return CataloguePage(tuple(self.tools))

    page = scan

    async def changes(self):
        return self.changed

    async def find(self, fqn):
        return next((tool for tool in self.tools if tool.fqn == fqn), None)

    async def find_all(self, fqns):
        return CataloguePage(tuple(tool for tool in self.tools if tool.fqn in fqns))

    async def call(self, *_):
        raise AssertionError


async def updated(index):
    await index.get()
    await index._reading
    return (await index.get()).fqns


async def test_index_reads_only_the_changes(tools):
    source = ChangingSource(tools[:2])
    index = CatalogueIndex(source, lifetime_s=0)
    assert (await index.get()).fqns == [tools[0].fqn, tools[1].fqn]
    source.changed = Changes(CataloguePage((tools[2],)), (tools[0].fqn,))
    assert await updated(index) == [tools[1].fqn, tools[2].fqn]
    assert source.scans == 1


async def test_index_scans_again_if_the_changes_are_not_known(tools):
    source = ChangingSource(tools[:2])
    index = CatalogueIndex(source, lifetime_s=0)
    await index.get()
    source.tools = [tools[1]]
    assert await updated(index) == [tools[1].fqn]
    assert source.scans > 1


async def test_index_of_combined_catalogues_prefers_the_first(tools):
    first = ChangingSource(tools[:2])
    second = ChangingSource([replace(tools[1], description="Rings a bell."), tools[2]])
    index = CatalogueIndex(CombinedCatalogue(first, second))
    found = await index.get()
    assert found.fqns == [tool.fqn for tool in tools[:3]]
    assert found.find("bell", 10).total == 0
    definitions = (await index.find_all(found.fqns)).definitions
    assert definitions == tuple(tools[:3])
