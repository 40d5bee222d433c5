"""An explorer that a browser reaches, of a chain on which tests add events."""

import asyncio
import re
from contextlib import AsyncExitStack, asynccontextmanager, closing, suppress
from dataclasses import dataclass

import httpx

from nexus_tools.explorer import ChainReader, Explorer, serve_explorer
from nexus_tools.http.embedded_server import listening_socket, url_of
from nexus_tools.index import IndexIdentity, IndexPipeline, IndexWriter, SearchUpdate, open_writer
from nexus_tools.index.api import ApiLimits, IndexSource
from nexus_tools.registry import LeaderRegistry
from tests.conftest import PEOPLE
from tests.index.conftest import History

UNLIMITED = ApiLimits(requests_per_s=10_000, burst=10_000, streams=100, streams_per_client=100)


@dataclass(frozen=True)
class ExplorerStage:
    """The URL of an explorer without a slash at the end, and the chain that it shows."""

    url: str
    history: History

    async def paths(self, most=400):
        """Return the paths of all pages to which links lead from the home page, in order."""
        found, waiting = {}, ["/"]
        async with httpx.AsyncClient(base_url=self.url, timeout=60) as client:
            while waiting and len(found) < most:
                path = waiting.pop(0)
                if path in found:
                    continue
                response = await client.get(path)
                found[path] = response.status_code
                if response.headers.get("content-type", "").startswith("text/html"):
                    links = re.findall(r'href="(/(?!api/|static/)[^"#]*)', response.text)
                    waiting += [link.replace("&amp;", "&") for link in links]
        return found


@asynccontextmanager
async def running_explorer(chain, define, folder, add_events):
    """Serve an explorer of the chain with the events that `add_events` adds, and follow the chain.

    `chain` is the chain of `tests.conftest`.
    """
    async with AsyncExitStack() as stack:
        clients = {name: await stack.enter_async_context(chain.client(name)) for name in PEOPLE}
        leaders = LeaderRegistry(clients["leader"], chain.deployment)
        _, leader = await leaders.register("first", activate=True)
        history = History(chain, define, clients, leader)
        await add_events(history)
        if not (await leaders.get(leader)).is_active:
            await leaders.activate(leader)
        identity = IndexIdentity.of(chain.deployment)
        index = stack.enter_context(closing(open_writer(folder / "index.sqlite", identity)))
        search = stack.enter_context(closing(SearchUpdate(index)))
        writer = IndexWriter(index, chain.deployment)
        pipeline = IndexPipeline(clients["user"], chain.deployment, writer, search=search)
        await pipeline.catch_up()
        source = stack.enter_context(closing(IndexSource(index.path, identity)))
        explorer = Explorer("localnet", limits=UNLIMITED)
        explorer.open(source, ChainReader(clients["user"], chain.deployment))
        listener = listening_socket("127.0.0.1", 0)
        url = url_of(listener)
        await stack.enter_async_context(serve_explorer(explorer, listener))
        following = asyncio.create_task(pipeline.run())
        try:
            yield ExplorerStage(url, history)
        finally:
            following.cancel()
            with suppress(asyncio.CancelledError):
                await following
