"""Transactions per second and their latency, over gRPC, on a localnet in a process of its own.

Transfers and calls are sent by a bare client; registrations and settlements by ours, which also
simulates each transaction before it signs it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter

from benchmarks import chain, sender
from benchmarks.compiled import compiled
from benchmarks.figure import Figure, at_least, at_most
from benchmarks.requests import request_many
from benchmarks.signed import COIN_MIST, Content, call_of, signed, transfer
from nexus_tools.client import KeyPair, Network, SuiClient
from nexus_tools.leader import LeaderSettings
from nexus_tools.registry import (
    Deployment,
    Invocations,
    LeaderRegistry,
    Registration,
    Tool,
    ToolRegistry,
)
from nexus_tools.sui.address import MOVE_STDLIB, SUI_FRAMEWORK, Address
from nexus_tools.sui.builder import TransactionBuilder
from nexus_tools.sui.object import ObjectReference
from nexus_tools.sui.transaction import SharedObject
from nexus_tools.tool import Outcome, ToolDefinition, ToolFqn

TRANSFERS_PER_S = 1_000
CALLS_PER_S = 500
IDLE_MS = 3
ROUNDS = 5
EACH = 400
IDLE = 50
REGISTRATIONS = 15
SETTLEMENTS = 30
BATCHES = 6
BATCH = LeaderSettings.model_fields["batch_size"].default

_INPUTS = {"a": 20, "b": 22}
_OUTCOME = Outcome("ok", {"result": 42})
_INTEGER = {"type": "integer"}


def measure(folder: Path) -> Iterator[Figure]:
    """Transfers and calls, then registrations, then settlements."""
    with chain.localnet(folder) as network:
        yield from asyncio.run(_bare(network))
        yield from asyncio.run(_registry(network))


# --- Transfers and calls


async def _bare(network: Network) -> list[Figure]:
    key = await chain.funded_key(network, 2 * chain.SUI)
    contents = {"transfer": transfer, "call": await _counter_call(network, key)}
    coins = await _coins(network, key.address, 2 * ROUNDS * EACH + 2 * IDLE)
    note = f"{sender.IN_FLIGHT} in flight on {sender.CONNECTIONS} connections"
    figures = []
    async with sender.connected(network) as connection:
        idle = await _idle(connection, sender.requests_of(signed(key, coins[: 2 * IDLE], transfer)))
        rates = await _rates(connection, key, coins[2 * IDLE :], contents)
    for (name, rounds), target in zip(rates.items(), (TRANSFERS_PER_S, CALLS_PER_S), strict=True):
        rate, latency = (median(values) for values in zip(*rounds, strict=True))
        figures += [
            Figure(f"transactions {name}", rate, "tx/s", target=at_least(target), note=note),
            Figure(f"transactions {name} latency", latency * 1e3, "ms", note=note),
        ]
    return [*figures, Figure("transactions idle latency", idle, "ms", target=at_most(IDLE_MS))]


async def _idle(connection: sender.Sender, requests: Sequence[bytes]) -> float:
    """The median latency in ms of one after the other, when the first half has warmed up."""
    await connection.latencies(requests[:IDLE], 1)
    return median(await connection.latencies(requests[IDLE:], 1)) * 1e3


async def _rates(
    connection: sender.Sender,
    key: KeyPair,
    coins: Sequence[ObjectReference],
    contents: Mapping[str, Content],
) -> dict[str, list[tuple[float, float]]]:
    """For each content rate and latency of each round; the contents take turns."""
    rates: dict[str, list[tuple[float, float]]] = {name: [] for name in contents}
    left = list(coins)
    for _ in range(ROUNDS):
        for name, content in contents.items():
            used, left = left[:EACH], left[EACH:]
            rates[name].append(
                await connection.rate(sender.requests_of(signed(key, used, content)))
            )
    return rates


async def _coins(network: Network, owner: Address, count: int) -> list[ObjectReference]:
    """So many coins for transactions."""
    bank = await chain.funded_key(network, count * COIN_MIST + chain.SUI)
    async with SuiClient(network, bank) as client:
        coins = await chain.split_coins(client, owner, [COIN_MIST] * count)
    return [coin.reference for coin in coins if coin.balance == COIN_MIST]


async def _counter_call(network: Network, key: KeyPair) -> Content:
    """Publish a counter; the call that increases it."""
    async with SuiClient(network, key) as client:
        builder = TransactionBuilder()
        cap = builder.publish([compiled("counter")], [MOVE_STDLIB, SUI_FRAMEWORK])
        builder.transfer_objects([cap], key.address)
        executed = await client.execute(builder)
    [counter] = executed.created_of("counter", "Counter")
    version = executed.effects.lamport_version
    return call_of(executed.published(), SharedObject(counter, version, mutable=True))


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
