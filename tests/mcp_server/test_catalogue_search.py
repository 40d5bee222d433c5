"""The search of a catalogue of which an index outside of the process knows a part."""

import pytest
from mcp import Client

from nexus_tools.errors import NexusError, WrongStateError
from nexus_tools.index import IndexIdentity, open_writer
from nexus_tools.index.index_file import open_reader
from nexus_tools.mcp_server import CataloguePage, CombinedCatalogue, mcp_server
from nexus_tools.mcp_server.catalogue.sources import Proposal
from nexus_tools.mcp_server.catalogue_search import CatalogueSearch
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import ToolFqn

pytestmark = pytest.mark.anyio

STALE = WrongStateError("index_stale", "the index is 5 min behind the chain")
GONE = ToolFqn.parse("xyz.math.gone@1")


class IndexedCatalogue:
    """A catalogue with an index that proposes all tools in reverse order, and one that is gone."""

    def __init__(self, catalogue):
        self.catalogue = catalogue
        self.call = catalogue.call
        self.find = catalogue.find
        self.error = None
        self.scans = 0

    async def page(self, cursor, limit):
        self.scans += 1
        return await self.catalogue.page(cursor, limit)

    scan = page

    async def changes(self):
        return None

    async def find_all(self, fqns):
        tools = {tool.fqn: tool for tool in self.catalogue.definitions}
        found = tuple(tools[fqn] for fqn in fqns if fqn in tools)
        return CataloguePage(found, prices_mist={tool.fqn: 7 for tool in found})

    async def propose(self, _, limit, offset):
        if self.error is not None:
            raise self.error
        fqns = [GONE, *(tool.fqn for tool in reversed(self.catalogue.definitions))]
        page = tuple(fqns[offset : offset + limit])
        reasons = {fqn: f"Because of\n{fqn.name}." for fqn in page}
        return Proposal(page, len(fqns), "index, checkpoint 5", reasons, ("a change is missing",))


@pytest.fixture
def indexed(catalogue):
    return IndexedCatalogue(catalogue)


async def find_tools(catalogue, **arguments):
    server = mcp_server(catalogue, name="memory", version="1", mode="search")
    async with Client(server, cache=None) as client:
        return (await client.call_tool("find_tools", arguments)).structured_content


async def test_results_of_the_index_name_their_source_and_reasons(indexed):
    document = await find_tools(indexed, query="divide", limit=2)
    assert [tool["fqn"] for tool in document["tools"]] == ["xyz.math.broken@1"]
    assert document["tools"][0]["reason"] == "Because of broken."
    assert document["tools"][0]["nexus/price_mist"] == 7
    assert (document["source"], document["note"]) == ("index, checkpoint 5", "a change is missing")
    assert (document["total"], document["next_page"]) == (8, 2)
    assert indexed.scans == 0


async def test_stale_index_is_reported_and_the_catalogue_is_read(indexed):
    indexed.error = STALE
    document = await find_tools(indexed, query="divide")
    assert document["tools"][0]["fqn"] == "xyz.math.divide@1"
    assert document["source"] == "chain"
    assert document["note"] == (
        "the index is not used, because the index is 5 min behind the chain"
    )
    assert indexed.scans > 0


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "this machine does not have an index of the registry"),
        (b"x" * 4_096, "the index on this machine cannot be read"),
        ("index", "the index on this machine belongs to another network or package"),
    ],
)
async def test_note_about_the_index_contains_no_path(indexed, tmp_path, content, reason):
    path, identity = tmp_path / "index.sqlite", IndexIdentity("chain", Address.of(1))
    if content == "index":
        open_writer(path, IndexIdentity("other", Address.of(1))).close()
    elif content is not None:
        path.write_bytes(content)
    with pytest.raises(NexusError) as caught:
        open_reader(path, identity)
    indexed.error = caught.value
    document = await find_tools(indexed, query="divide")
    assert str(tmp_path) in caught.value.message
    assert document["note"] == f"the index is not used, because {reason}"


async def test_index_is_used_again_when_it_is_current(indexed):
    search = CatalogueSearch(indexed)
    indexed.error = STALE
    assert (await search.find("divide", 5, 0)).source == "chain"
    indexed.error = None
    assert (await search.find("divide", 5, 0)).source == "index, checkpoint 5"


async def test_other_parts_of_the_catalogue_are_searched_in_memory(indexed, memory):
    flow = memory.definition("xyz.flows.divide_twice@1", properties={}, ok={})
    flows = memory.MemoryCatalogue([flow])
    search = CatalogueSearch(CombinedCatalogue(flows, indexed))
    pages = [await search.find("divide", 3, offset) for offset in (0, 3, 6, 9)]
    found = [fqn.name for page in pages for fqn in page.fqns]
    assert found[:3] == ["gone", "divide_twice", "broken"]
    assert len(found) == len(set(found)) == pages[0].total == 9
    assert indexed.scans == 0
    page = await search.find_all([GONE, flow.fqn, ToolFqn.parse("xyz.math.divide@1")])
    assert [definition.fqn.name for definition in page.definitions] == ["divide_twice", "divide"]


async def test_described_tool_is_read_from_the_catalogue(indexed):
    server = mcp_server(indexed, name="memory", version="1", mode="search")
    async with Client(server, cache=None) as client:
        gone = await client.call_tool("describe_tool", {"fqn": str(GONE)})
        found = await client.call_tool("describe_tool", {"fqn": "xyz.math.divide@1"})
    assert gone.is_error
    assert found.structured_content["nexus/price_mist"] == 7
    assert indexed.scans == 0
