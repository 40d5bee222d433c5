"""The server of `index_api`: an index of synthetic events in a folder that grows while it is read.

The arguments are the folder, and the URL of a node, or an empty text. With a node, the server also
has the pages of the explorer. The node does not know the objects of the index. The server prints
its URL when it is ready.
"""

import asyncio
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack, closing
from itertools import count, islice
from pathlib import Path

from benchmarks.index_events import DEPLOYMENT, START_MS, Recorder, invocation, registered_tool
from nexus_tools.explorer import ChainReader, Explorer, serve_explorer
from nexus_tools.http.embedded_server import listening_socket, url_of
from nexus_tools.index import IndexIdentity, IndexWriter, SearchUpdate, open_writer
from nexus_tools.index.api import ApiLimits, IndexApi, IndexSource, serve_api
from nexus_tools.sui.client import EventRecord, SuiClient
from nexus_tools.sui.network import Network

TOOLS = 10_000
INVOCATIONS = 20_000
REQUESTERS = 2_000
PER_SECOND = 10
_BATCH = 1_000
_UNLIMITED = ApiLimits(requests_per_s=1e6, burst=10**6, streams_per_client=100)


def _records() -> Iterator[EventRecord]:
    """Yield the events of all tools, and then of invocations without end."""
    recorder = Recorder()
    for tool in range(TOOLS):
        event = registered_tool(tool, _fqn(tool), f"Tool number {tool}.", price_mist=tool % 50)
        yield recorder.record(event)
    for number in count():
        tool, requester = number % TOOLS, number % REQUESTERS
        events = invocation(
            *(number, tool, _fqn(tool)),
            requester=requester,
            leader=0,
            at_ms=START_MS + number,
            fails=False,
        )
        yield from map(recorder.record, events)


def _fqn(tool: int) -> str:
    return f"xyz.domain.tool{tool}@1"


def _build(writer: IndexWriter, records: Iterator[EventRecord]) -> None:
    for _ in range((TOOLS + 2 * INVOCATIONS) // _BATCH):
        writer.apply(list(islice(records, _BATCH)))


async def _serve(folder: Path, node_url: str) -> None:
    path, identity = folder / "index.sqlite", IndexIdentity.of(DEPLOYMENT)
    index = open_writer(path, identity)
    writer = IndexWriter(index, DEPLOYMENT)
    records = _records()
    _build(writer, records)
    with closing(SearchUpdate(index)) as update:
        update.run()
    listener = listening_socket("127.0.0.1", 0)
    source = IndexSource(path, identity)
    async with AsyncExitStack() as stack:
        if node_url:
            client = await stack.enter_async_context(SuiClient(Network("localnet", node_url)))
            explorer = Explorer("localnet", limits=_UNLIMITED)
            explorer.open(source, ChainReader(client, DEPLOYMENT))
            serving = serve_explorer(explorer, listener)
        else:
            serving = serve_api(IndexApi(source, limits=_UNLIMITED), listener)
        await stack.enter_async_context(serving)
        print(url_of(listener), flush=True)
        while True:
            writer.apply(list(islice(records, 2)))
            await asyncio.sleep(1 / PER_SECOND)


if __name__ == "__main__":
    asyncio.run(_serve(Path(sys.argv[1]), sys.argv[2]))
