"""The server of `explorer`: an explorer of an index that is built in a folder first.

The arguments are the folder, the number of tools, the number of invocations, and the URL of a node,
which does not know the objects of the index. The server prints its URL when it is ready.
"""

import asyncio
import sys
from pathlib import Path

from benchmarks.index_build import FILE, Build
from benchmarks.index_events import DEPLOYMENT
from nexus_tools.explorer import ChainReader, Explorer, serve_explorer
from nexus_tools.http.embedded_server import listening_socket, url_of
from nexus_tools.index import IndexIdentity
from nexus_tools.index.api import ApiLimits, IndexSource
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.network import Network

_UNLIMITED = ApiLimits(requests_per_s=1e6, burst=10**6, streams_per_client=100)


async def _serve(folder: Path, tools: int, invocations: int, node_url: str) -> None:
    build = Build(folder)
    build.add_tools(tools)
    build.add_invocations(tools, invocations)
    build.add_words()
    source = IndexSource(folder / FILE, IndexIdentity.of(DEPLOYMENT))
    listener = listening_socket("127.0.0.1", 0)
    async with SuiClient(Network("localnet", node_url)) as client:
        explorer = Explorer("localnet", limits=_UNLIMITED)
        explorer.open(source, ChainReader(client, DEPLOYMENT))
        async with serve_explorer(explorer, listener):
            print(url_of(listener), flush=True)
            await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]))
