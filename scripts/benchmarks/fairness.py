"""The latency of a fast tool next to ten tools that take 30 s, with seventy calls each.

One process runs the Leader's invoker with its default settings, and a server on the loopback
interface.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from benchmarks.figure import Figure, at_most, compared
from nexus_tools.http import AddressGuard, SystemResolver
from nexus_tools.http.embedded_server import listening_socket, serve_embedded, url_of
from nexus_tools.http.guarded_client import guarded_client
from nexus_tools.leader import (
    LOOPBACK,
    Invoker,
    LeaderConfig,
    LeaderMetrics,
    ToolCall,
    raise_file_limit,
)
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import InterfaceValidator, ToolDefinition, canonical_json, outcome_bytes

SLOW_TOOLS = 10
PENDING = 70
SLOW_S = 30.0
CALLS = 300
WINDOW_S = 60.0
_OK = b'{"ok": {"result": 3}}'


def measure(folder: Path) -> Iterator[Figure]:
    """Yield the latency of the fast tool with the slow tools, compared with its latency alone."""
    alone, beside = asyncio.run(_latencies(folder))
    note = f"{SLOW_TOOLS} slow tools of {SLOW_S:.0f} s, with {PENDING} pending calls each"
    target = at_most(2 * median(alone))
    peers = {"alone": alone}
    yield compared("fairness fast tool", "ms", beside, peers, target=target, note=note)


async def _latencies(folder: Path) -> tuple[list[float], list[float]]:
    overrides = {"allow_http": True, "allowed_networks": LOOPBACK}
    config = LeaderConfig.load({}, journal=folder / "journal.sqlite", **overrides)
    raise_file_limit(config.max_concurrent)
    async with _invoker(config) as invoker, _server() as (url, started):
        await _fast(invoker, url)  # warm-up
        alone = await _fast(invoker, url)
        slow = [
            asyncio.create_task(invoker.invoke(_call(f"{url}/slow", 1 + number % SLOW_TOOLS)))
            for number in range(SLOW_TOOLS * PENDING)
        ]
        async with asyncio.timeout(SLOW_S / 2):
            await started.wait()
        beside = await _fast(invoker, url)
        for task in slow:
            task.cancel()
    return alone, beside


async def _fast(invoker: Invoker, url: str) -> list[float]:
    """Return the latencies of sequential calls in ms."""
    times = []
    for _ in range(CALLS):
        begin = perf_counter()
        await invoker.invoke(_call(f"{url}/fast", 0))
        times.append((perf_counter() - begin) * 1e3)
    return times


def _call(url: str, tool: int) -> ToolCall:
    return ToolCall(
        invocation=Address.of(1),
        tool=Address.of(tool),
        fqn=str(_DEFINITION.fqn),
        url=url,
        body=canonical_json({"a": 1, "b": 2}),
        timeout_ms=int(WINDOW_S * 1e3),
        deadline=asyncio.get_running_loop().time() + WINDOW_S,
        max_outcome_bytes=1_000,
        keys=(),
        signers=(),
        validator=_VALIDATOR,
    )


@asynccontextmanager
async def _invoker(config: LeaderConfig) -> AsyncIterator[Invoker]:
    resolver = SystemResolver()
    guard = AddressGuard(config.allowed_networks, http=True)
    connections = 2 * config.max_concurrent
    async with guarded_client(guard, resolver, max_connections=connections) as client:
        yield Invoker(config, client, outcome_bytes, LeaderMetrics())
    resolver.close()


@asynccontextmanager
async def _server() -> AsyncIterator[tuple[str, asyncio.Event]]:
    """Run a server. Yield its URL and an event that is set once all slow calls have arrived."""
    waiting, all_wait = 0, asyncio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        nonlocal waiting
        await receive()
        if scope["path"].startswith("/slow"):
            waiting += 1
            if waiting == SLOW_TOOLS * PENDING:
                all_wait.set()
            with suppress(TimeoutError):
                async with asyncio.timeout(SLOW_S):
                    await receive()  # until the caller cancels the request
                    return
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": _OK})

    listener = listening_socket("127.0.0.1", 0)
    async with serve_embedded(app, listener, lifespan="off"):
        yield url_of(listener), all_wait


_INTEGER = {"type": "integer"}
_INPUT = {"type": "object", "properties": {"a": _INTEGER, "b": _INTEGER}, "required": ["a", "b"]}
_PORTS = {"type": "object", "properties": {"result": _INTEGER}, "required": ["result"]}
_VARIANT = {"type": "object", "properties": {"ok": _PORTS}, "required": ["ok"]}
_OUTPUT = {"type": "object", "oneOf": [_VARIANT]}
_DEFINITION = ToolDefinition.parse(
    {
        "fqn": "xyz.example.math.add@1",
        "type": "offchain",
        "url": "https://tools.example/add",
        "description": "Adds two integers.",
        "timeout": 60_000,
        "input_schema": _INPUT,
        "output_schema": _OUTPUT,
    }
)
_VALIDATOR = InterfaceValidator(_DEFINITION)
