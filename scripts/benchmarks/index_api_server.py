"""The server of `index_api`: an index of synthetic events in a folder that grows while it is read.

The server prints its URL when it is ready.
"""

import asyncio
import sys
from collections.abc import Iterator
from contextlib import closing
from itertools import count, islice
from pathlib import Path
from typing import Any

from nexus_tools.contracts import Deployment, RegistryEvent
from nexus_tools.contracts.move_bindings.invocation import InvocationRequested, InvocationSettled
from nexus_tools.contracts.move_bindings.settlement import Settlement
from nexus_tools.contracts.move_bindings.tool import ToolRegistered
from nexus_tools.http.embedded_server import listening_socket, url_of
from nexus_tools.index import IndexIdentity, IndexWriter, SearchUpdate, open_writer
from nexus_tools.index.api import ApiLimits, IndexApi, IndexSource, serve_api
from nexus_tools.sui.client import Cursor, EventRecord
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.event import Event

TOOLS = 10_000
INVOCATIONS = 20_000
REQUESTERS = 2_000
PER_SECOND = 10
_BATCH = 1_000
_START_MS = 1_700_000_000_000
_UNLIMITED = ApiLimits(requests_per_s=1e6, burst=10**6, streams_per_client=100)
_PACKAGE = Address.of(0x10)
_DEPLOYMENT = Deployment(
    _PACKAGE, _PACKAGE, Address.of(0x11), Address.of(0x12), Address.of(0x13), "chain"
)


def _tool(number: int) -> ToolRegistered:
    return ToolRegistered(
        tool=Address.of(10**6 + number),
        fqn=f"xyz.domain.tool{number}@1",
        tool_type="offchain",
        name=Address.of(2 * 10**6 + number),
        owner=Address.of(3 * 10**6 + number % 700),
        url=f"https://tools.example.com/{number}",
        description=f"Tool number {number}.",
        timeout_ms=5_000,
        price_mist=number % 50,
        payout=Address.of(5),
        leaders=(),
        index=number,
        registered_at_ms=_START_MS,
        function=None,
    )


def _invocation(number: int) -> tuple[RegistryEvent, RegistryEvent]:
    tool, at_ms = number % TOOLS, _START_MS + number
    named = Address.of(10**9 + number), Address.of(10**6 + tool), f"xyz.domain.tool{tool}@1"
    requester, leader = Address.of(4 * 10**6 + number % REQUESTERS), Address.of(6)
    request = InvocationRequested(
        *(*named, requester, (leader,), at_ms, 5_000, at_ms + 20_000, 100, 5_000, 1_000),
        *(Settlement.Leader(), 0, None),
    )
    settled = InvocationSettled(
        *(*named, requester, leader, "ok", at_ms, at_ms + 300, Address.of(5), 100, 10, 4_000)
    )
    return request, settled


def _records() -> Iterator[EventRecord]:
    """Yield the events of all tools, and then of invocations without end."""
    checkpoints = count(1)

    def record(event: RegistryEvent) -> EventRecord:
        checkpoint = next(checkpoints)
        kind = _DEPLOYMENT.type_of(type(event))
        codec: Any = type(event).bcs
        contents: bytes = codec.encode(event)
        raw = Event(kind.address, kind.module, Address.of(7), kind, contents)
        digest = Digest(checkpoint.to_bytes(32, "big"))
        return EventRecord(Cursor(checkpoint, 0, 0), raw, checkpoint, digest, 0)

    yield from (record(_tool(number)) for number in range(TOOLS))
    for number in count():
        yield from map(record, _invocation(number))


def _build(writer: IndexWriter, records: Iterator[EventRecord]) -> None:
    for _ in range((TOOLS + 2 * INVOCATIONS) // _BATCH):
        writer.apply(list(islice(records, _BATCH)))


async def _serve(folder: Path) -> None:
    path, identity = folder / "index.sqlite", IndexIdentity.of(_DEPLOYMENT)
    index = open_writer(path, identity)
    writer = IndexWriter(index, _DEPLOYMENT)
    records = _records()
    _build(writer, records)
    with closing(SearchUpdate(index)) as update:
        update.run()
    listener = listening_socket("127.0.0.1", 0)
    api = IndexApi(IndexSource(path, identity), limits=_UNLIMITED)
    async with serve_api(api, listener):
        print(url_of(listener), flush=True)
        while True:
            writer.apply(list(islice(records, 2)))
            await asyncio.sleep(1 / PER_SECOND)


if __name__ == "__main__":
    asyncio.run(_serve(Path(sys.argv[1])))
