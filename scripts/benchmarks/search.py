"""Searches for tools with an index of many tools: `mcp serve --mode search` and `tool list`.

A localnet has some registered tools. Rows of further tools are written into the index, because
registering them takes long. The chain does not have these tools, so results omit them, after the
same requests to the node as for registered tools.
"""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random
from statistics import median, quantiles
from time import perf_counter
from typing import Any

from mcp import Client

from benchmarks.chain import SUI, funded_key, localnet
from benchmarks.figure import Figure, at_most
from benchmarks.processes import Process, home, nexus_tools, run, started
from nexus_tools.contracts import Deployment
from nexus_tools.registry import Registration, ToolRegistry
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.network import Network
from nexus_tools.tool import ToolDefinition

TOOLS = 50_000
ENCODED_TOOLS = 5_000
"""The number of tools with an intent model, because a sentence encoder takes minutes for them."""
REGISTERED = 50
QUERIES = 300

_SERVING = "serving MCP at "
_VERBS = ("convert", "read", "write", "translate", "resize", "send", "measure", "count", "sort")
_NOUNS = ("weather", "city", "image", "photo", "mail", "message", "price", "table", "file", "map")
_RARE_WORDS = 5_000
_MOST_START_S, _MOST_PAGE_MS, _MOST_FIND_MS, _MOST_MIB = 2.0, 100.0, 30.0, 300.0


def measure(folder: Path, intent_model: str | None = None) -> Iterator[Figure]:
    """Yield the times of starting, listing and searching, and the memory of the server."""
    environment = home(folder)
    tools = TOOLS
    if intent_model is not None:
        tools = ENCODED_TOOLS
        environment["NEXUS_TOOLS_INTENT_MODEL"] = intent_model
    with localnet(folder) as network:
        asyncio.run(_register(network, environment))
        index = Path(run(nexus_tools("index", "run", "--once", "--json"), environment)["path"])
        _add_rows(index, tools - REGISTERED)
        begin = perf_counter()
        run(nexus_tools("index", "run", "--once", "--json"), environment)
        yield Figure(f"search index of {tools} new tools", perf_counter() - begin, "s")
        yield _list_figure(tools, environment)
        yield from _serve(folder, tools, environment)


async def _register(network: Network, environment: dict[str, str]) -> None:
    key = await funded_key(network, 1_000 * SUI)
    run(nexus_tools("wallet", "import", "--secret", key.to_bech32(), "--json"), environment)
    document = run(nexus_tools("package", "publish", "--yes", "--json"), environment)
    async with SuiClient(network, key) as client:
        registry = ToolRegistry(client, Deployment.parse(document))
        tools = (_definition(number) for number in range(REGISTERED))
        await registry.register(*map(Registration, tools))


def _definition(number: int) -> ToolDefinition:
    ports = {"type": "object", "properties": {"total": {"type": "integer"}}}
    branch = {"type": "object", "properties": {"ok": ports}, "required": ["ok"]}
    return ToolDefinition.parse(
        {
            "fqn": f"xyz.bench{number}.measure_meteor@1",
            "url": "https://tools.example.com",
            "description": "Measures the speed of a meteor in the weather of a city.",
            "input_schema": {"type": "object"},
            "output_schema": {"type": "object", "oneOf": [branch]},
        }
    )


def _add_rows(path: Path, count: int) -> None:
    """Add rows of tools that are copies of a registered tool with other names and texts."""
    random = Random(1)
    with closing(sqlite3.connect(path)) as connection, connection:
        cursor = connection.execute("SELECT * FROM tools LIMIT 1")
        columns = [column[0] for column in cursor.description]
        template = dict(zip(columns, cursor.fetchone(), strict=True))
        [(first,)] = connection.execute("SELECT max(id) + 1 FROM addresses")
        [(change,)] = connection.execute("SELECT last_change FROM cursor")
        marks = ", ".join("?" * len(columns))
        for number in range(count):
            texts = _texts(random, number)
            places = {
                "id": first + number,
                "registration": REGISTERED + number,
                "change": change + 1 + number,
                "price_mist": random.randrange(1_000),
                "reputation": random.random(),
                "definition_pending": 0,
            }
            row = template | texts | places
            connection.execute(
                "INSERT INTO addresses VALUES (?, ?, ?)",
                (row["id"], random.randbytes(32), row["checkpoint"]),
            )
            connection.execute(f"INSERT INTO tools VALUES ({marks})", [*row.values()])
        connection.execute("UPDATE cursor SET last_change = ?", (change + count,))


def _texts(random: Random, number: int) -> dict[str, Any]:
    verb, noun = random.choice(_VERBS), random.choice(_NOUNS)
    domain, name = f"xyz.market{number // 10}", f"{verb}_{noun}_{number}"
    rare = " ".join(f"word{random.randrange(_RARE_WORDS)}" for _ in range(6))
    description = f"{verb.title()}s the {noun} of a {random.choice(_NOUNS)} with {rare}."
    return {
        "fqn": f"{domain}.{name}@1",
        "domain": domain,
        "name": name,
        "description": description,
    }


def _queries() -> Iterator[str]:
    random = Random(2)
    for number in range(QUERIES):
        noun, verb = random.choice(_NOUNS), random.choice(_VERBS)
        match number % 4:
            case 0:
                yield f"measure meteor {noun}"
            case 1:
                yield f"{verb} the {noun}"
            case 2:
                yield f"{verb} word{random.randrange(_RARE_WORDS)}"
            case _:
                yield f"wether in the citty {noun[:3]}"


def _list_figure(tools: int, environment: dict[str, str]) -> Figure:
    times_ms = []
    command = nexus_tools("tool", "list", "--search", "measure meteor", "--limit", "20", "--json")
    for _ in range(5):
        begin = perf_counter()
        rows = run(command, environment)
        times_ms.append((perf_counter() - begin) * 1e3)
    note = f"{len(rows)} tools, source: {rows[0]['source']}"
    return Figure(f"tool list --search of {tools} tools", median(times_ms), "ms", note=note)


def _serve(folder: Path, tools: int, environment: dict[str, str]) -> Iterator[Figure]:
    command = nexus_tools("mcp", "serve", "--mode", "search", "--http", "127.0.0.1:0")
    begin = perf_counter()
    with started(command, folder / "mcp.log", environment) as process:
        url = process.logged(_SERVING).partition(_SERVING)[2].split(",")[0]
        start_s = perf_counter() - begin
        yield Figure(
            f"mcp serve starts with {tools} tools", start_s, "s", target=at_most(_MOST_START_S)
        )
        yield from asyncio.run(_find(url, process, tools))
        yield Figure(
            f"mcp serve memory with {tools} tools",
            _resident_mib(process),
            "MiB",
            target=at_most(_MOST_MIB),
        )


async def _find(url: str, process: Process, tools: int) -> list[Figure]:
    async with Client(url, cache=None) as client:
        begin = perf_counter()
        first = await client.call_tool("find_tools", {})
        first_ms = (perf_counter() - begin) * 1e3
        cpu_s = process.cpu_s
        times_ms: list[float] = []
        shown = 0
        for query in _queries():
            begin = perf_counter()
            result = await client.call_tool("find_tools", {"query": query})
            times_ms.append((perf_counter() - begin) * 1e3)
            shown += len(result.structured_content["tools"])
        cpu_ms = (process.cpu_s - cpu_s) * 1e3 / QUERIES
    source = first.structured_content["source"]
    p95_ms = quantiles(times_ms, n=20)[-1]
    note = (
        f"median {median(times_ms):.1f} ms, CPU of the server {cpu_ms:.1f} ms, {shown} tools shown"
    )
    return [
        Figure(
            f"find_tools first page of {tools} tools",
            first_ms,
            "ms",
            target=at_most(_MOST_PAGE_MS),
            note=f"source: {source}",
        ),
        Figure(
            f"find_tools p95 of {tools} tools",
            p95_ms,
            "ms",
            target=at_most(_MOST_FIND_MS),
            note=note,
        ),
    ]


def _resident_mib(process: Process) -> float:
    status = Path(f"/proc/{process.pid}/status").read_text()
    [line] = [line for line in status.splitlines() if line.startswith("VmRSS:")]
    return int(line.split()[1]) / 1024
