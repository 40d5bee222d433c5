"""Transactions per second and their latency, over gRPC, on a localnet in a process of its own.

Transfers are sent by a bare client; registrations and settlements by ours, which also simulates
each transaction before it signs it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter

from benchmarks import chain, transfers
from benchmarks.figure import Figure, at_least
from benchmarks.requests import request_many
from nexus_tools.client import Network, SuiClient
from nexus_tools.leader import LeaderSettings
from nexus_tools.registry import (
    Deployment,
    Invocations,
    LeaderRegistry,
    Registration,
    Tool,
    ToolRegistry,
)
from nexus_tools.sui.address import Address
from nexus_tools.tool import Outcome, ToolDefinition, ToolFqn

TARGET_PER_S = 300
ROUNDS = 5
TRANSFERS = 400
IDLE_TRANSFERS = 100
REGISTRATIONS = 15
SETTLEMENTS = 30
BATCHES = 6
BATCH = LeaderSettings.model_fields["batch_size"].default

_INPUTS = {"a": 20, "b": 22}
_OUTCOME = Outcome("ok", {"result": 42})
_INTEGER = {"type": "integer"}


def measure(folder: Path) -> Iterator[Figure]:
    """Transfers, then registrations, then settlements."""
    with chain.localnet(folder) as network:
        yield from asyncio.run(_transfers(network))
        yield from asyncio.run(_registry(network))


# --- Transfers


async def _transfers(network: Network) -> list[Figure]:
    requests = await _signed(network, ROUNDS * TRANSFERS + IDLE_TRANSFERS)
    async with transfers.connected(network) as sender:
        await sender.latencies([requests.pop() for _ in range(IDLE_TRANSFERS // 2)], 1)
        idle = await sender.latencies([requests.pop() for _ in range(IDLE_TRANSFERS // 2)], 1)
        rounds = [
            await sender.rate([requests.pop() for _ in range(TRANSFERS)]) for _ in range(ROUNDS)
        ]
    rate, latency = (median(values) for values in zip(*rounds, strict=True))
    note = f"{transfers.IN_FLIGHT} in flight on {transfers.CONNECTIONS} connections"
    return [
        Figure("transactions transfer", rate, "tx/s", target=at_least(TARGET_PER_S), note=note),
        Figure("transactions transfer latency", latency * 1e3, "ms", note=note),
        Figure("transactions transfer idle latency", median(idle) * 1e3, "ms"),
    ]


async def _signed(network: Network, count: int) -> list[bytes]:
    """So many transfers, signed, each with a coin of its own."""
    spender = await chain.funded_key(network, chain.SUI)
    bank = await chain.funded_key(network, (count * transfers.COIN_MIST) + chain.SUI)
    async with SuiClient(network, bank) as client:
        coins = await chain.split_coins(client, spender.address, [transfers.COIN_MIST] * count)
    own = [coin for coin in coins if coin.balance == transfers.COIN_MIST]
    return transfers.signed_transfers(spender, own)


# --- Registrations and settlements


async def _registry(network: Network) -> list[Figure]:
    key = await chain.funded_key(network, 300 * chain.SUI)
    async with SuiClient(network, key) as client:
        deployment = await chain.deploy(client)
        registered = await _timed(_registrations(client, deployment))
        _, cap = await LeaderRegistry(client, deployment).register_leader("bench", activate=True)
        tool = await ToolRegistry(client, deployment).get(_fqn(0))
        settle = _Settling(client, deployment, cap, tool)
        single = await _timed(await settle.prepared(SETTLEMENTS, 1))
        batched = await _timed(await settle.prepared(BATCHES, BATCH))
    return [
        *_figures("register", registered, 1),
        *_figures("settle", single, 1),
        *_figures(f"settle {BATCH} at once", batched, BATCH),
    ]


Action = Callable[[], Awaitable[object]]


async def _timed(actions: Sequence[Action]) -> list[float]:
    """How long each takes, one after the other."""
    taken = []
    for action in actions:
        begin = perf_counter()
        await action()
        taken.append(perf_counter() - begin)
    return taken


def _figures(name: str, taken: Sequence[float], size: int) -> list[Figure]:
    seconds = median(taken)
    note = "one transaction at a time, through our client"
    return [
        Figure(f"transactions {name}", size / seconds, "/s", note=note),
        Figure(f"transactions {name} latency", seconds * 1e3, "ms"),
    ]


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


def _registrations(client: SuiClient, deployment: Deployment) -> list[Action]:
    registry = ToolRegistry(client, deployment)

    def action(number: int) -> Action:
        return lambda: registry.register(Registration(_definition(number)))

    return [action(number) for number in range(REGISTRATIONS)]


class _Settling:
    """Requests invocations, which is not timed, so that they can be settled."""

    def __init__(self, client: SuiClient, deployment: Deployment, cap: Address, tool: Tool) -> None:
        self._client = client
        self._deployment = deployment
        self._cap = cap
        self._tool = tool
        self._invocations = Invocations(client, deployment)

    async def prepared(self, batches: int, size: int) -> list[Action]:
        """So many batches of so many settlements."""
        return [self._action(await self.request(size)) for _ in range(batches)]

    def _action(self, batch: Sequence[Address]) -> Action:
        outcomes = dict.fromkeys(batch, _OUTCOME)
        return lambda: self._invocations.close(self._cap, outcomes)

    async def request(self, count: int) -> list[Address]:
        """Request so many invocations in one transaction."""
        return await request_many(self._client, self._deployment, self._tool, [_INPUTS] * count)
