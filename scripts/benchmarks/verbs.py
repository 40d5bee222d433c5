"""The duration of sequential operations with our own client, with the node in a separate process.

The tests of users wait for these operations. The benchmark also measures the CPU time of client and
node, because the duration is less reliable on a busy machine.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

from benchmarks import chain
from benchmarks.figure import Figure, at_most
from benchmarks.processes import Process
from benchmarks.requests import request_many
from benchmarks.signed import transfer
from nexus_tools.contracts import Deployment
from nexus_tools.contracts.move_bindings.tool import Tool
from nexus_tools.leader import LeaderConfig
from nexus_tools.registry import Invocations, LeaderRegistry, Registration, ToolRegistry
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.network import Network
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Answer, ToolDefinition, ToolFqn

TRANSFERS = 100
REGISTRATIONS = 40
REQUESTS = 40
BATCHES = 6
BATCH = LeaderConfig.model_fields["max_batch_size"].default
WARMING_UP = 3

LISTED = 10_000
LISTINGS = 3
LISTING_S = 2.5
_REGISTERED_AT_ONCE = 100

TARGETS_MS = {"transfer": 3.3, "register": 14.5, "settle": 9.0}

_INPUTS = {"a": 20, "b": 22}
_OUTCOME = Answer("ok", {"result": 42})
_INTEGER = {"type": "integer"}

Action = Callable[[], Awaitable[object]]


def measure(folder: Path) -> Iterator[Figure]:
    """Yield the figures of transfers, registrations, requests and settlements, and of a listing."""
    with chain.localnet_process(folder) as (network, process):
        yield from asyncio.run(_verbs(network, process))
        yield asyncio.run(_listing(network))


# --- Sequential operations


async def _verbs(network: Network, process: Process) -> list[Figure]:
    key = await chain.funded_key(network, 400 * chain.SUI)
    async with SuiClient(network, key) as client:
        deployment = await chain.deploy(client)
        registry = ToolRegistry(client, deployment)
        _, leader = await LeaderRegistry(client, deployment).register("bench", activate=True)

        def register(number: int) -> Action:
            return lambda: registry.register(_registration(number))

        figures = await _timed("transfer", [lambda: _transfer(client)] * TRANSFERS, process)
        figures += await _timed("register", [register(n) for n in range(REGISTRATIONS)], process)
        requesting = _Requesting(client, deployment, leader, await registry.get(_fqn(0)))
        figures += await _timed("request", [requesting.request] * REQUESTS, process)
        single = await requesting.settlements(REQUESTS, 1)
        figures += await _timed("settle", single, process)
        batched = await requesting.settlements(BATCHES, BATCH)
        return figures + await _timed(f"settle {BATCH} at once", batched, process)


async def _transfer(client: SuiClient) -> None:
    builder = TransactionBuilder()
    transfer(builder)
    await client.execute(builder)


async def _timed(name: str, actions: Sequence[Action], process: Process) -> list[Figure]:
    """Return the figures of actions, without the first actions, which fill the caches."""
    for action in actions[:WARMING_UP]:
        await action()
    taken = []
    client_cpu, node_cpu = process_time(), process.cpu_s
    for action in actions[WARMING_UP:]:
        begin = perf_counter()
        await action()
        taken.append(perf_counter() - begin)
    client_cpu, node_cpu = process_time() - client_cpu, process.cpu_s - node_cpu
    target = at_most(TARGETS_MS[name]) if name in TARGETS_MS else None
    return [
        Figure(f"verbs {name}", median(taken) * 1e3, "ms", target=target),
        Figure(f"verbs {name}: CPU of the client", client_cpu / len(taken) * 1e3, "ms"),
        Figure(f"verbs {name}: CPU of the node", node_cpu / len(taken) * 1e3, "ms"),
    ]


@dataclass(frozen=True, slots=True)
class _Requesting:
    """A requester that is also the leader: it requests invocations and closes them."""

    client: SuiClient
    deployment: Deployment
    leader: Address
    tool: Tool

    async def request(self) -> None:
        """Request one invocation."""
        await Invocations(self.client, self.deployment).request(self.tool, _INPUTS)

    async def settlements(self, batches: int, size: int) -> list[Action]:
        """Request invocations, and return `batches` settlements of `size` invocations each."""
        inputs: list[Mapping[str, int]] = [_INPUTS] * size
        requested = [
            await request_many(self.client, self.deployment, self.tool, inputs)
            for _ in range(batches)
        ]
        return [self._settlement(invocation) for invocation in requested]

    def _settlement(self, invocations: Sequence[Address]) -> Action:
        outcomes = dict.fromkeys(invocations, _OUTCOME)
        return lambda: Invocations(self.client, self.deployment).close(self.leader, outcomes)


# --- The list of many tools


async def _listing(network: Network) -> Figure:
    """Measure the seconds that a new client needs to list all tools of a registry."""
    key = await chain.funded_key(network, 2 * LISTED * chain.SUI)
    async with SuiClient(network, key) as client:
        deployment = await chain.deploy(client)
        registry = ToolRegistry(client, deployment)
        for start in range(0, LISTED, _REGISTERED_AT_ONCE):
            numbers = range(start, start + _REGISTERED_AT_ONCE)
            await registry.register(*map(_registration, numbers))
    taken = [await _seconds_to_list(network, deployment) for _ in range(LISTINGS)]
    return Figure(f"verbs list {LISTED} tools", median(taken), "s", target=at_most(LISTING_S))


async def _seconds_to_list(network: Network, deployment: Deployment) -> float:
    async with SuiClient(network) as client:
        begin = perf_counter()
        tools = [tool async for tool in ToolRegistry(client, deployment).iterate()]
        assert len(tools) == LISTED
        return perf_counter() - begin


def _registration(number: int) -> Registration:
    return Registration(_definition(number))


def _fqn(number: int) -> ToolFqn:
    return ToolFqn.parse(f"xyz.example.bench.add{number}@1")


def _definition(number: int) -> ToolDefinition:
    ports = {"type": "object", "properties": {"result": _INTEGER}, "required": ["result"]}
    branch = {"type": "object", "properties": {"ok": ports}, "required": ["ok"]}
    return ToolDefinition.parse(
        {
            "fqn": str(_fqn(number)),
            "url": "https://tools.example.com/add",
            "description": "Adds two integers.",
            "input_schema": {"type": "object", "properties": {"a": _INTEGER, "b": _INTEGER}},
            "output_schema": {"type": "object", "oneOf": [branch]},
        }
    )
