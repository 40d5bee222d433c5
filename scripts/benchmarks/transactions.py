"""Transactions per second and their latency over gRPC, on a localnet in a separate process.

A minimal client sends the transactions. The benchmark `verbs` measures our own client.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median

from benchmarks import chain, sender
from benchmarks.compiled import compiled
from benchmarks.figure import Figure, at_least, at_most
from benchmarks.signed import Content, call_of, signed, transfer
from nexus_tools.leader import LeaderConfig
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.keystore import KeyPair
from nexus_tools.sui.network import Network
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import MOVE_STDLIB, SUI_FRAMEWORK
from nexus_tools.sui.types.object import ObjectReference
from nexus_tools.sui.types.transaction import SharedObject
from nexus_tools.tool import Answer

TRANSFERS_PER_S = 1_000
CALLS_PER_S = 500
IDLE_MS = 3
ROUNDS = 5
EACH = 400
IDLE = 50
REGISTRATIONS = 15
BATCHES = 6
BATCH = LeaderConfig.model_fields["max_batch_size"].default

_INPUTS = {"a": 20, "b": 22}
_ANSWER = Answer("ok", {"result": 42})
_INTEGER = {"type": "integer"}


def measure(folder: Path) -> Iterator[Figure]:
    """Yield the figures of transfers and calls."""
    with chain.localnet(folder) as network:
        yield from asyncio.run(_bare(network))


async def _bare(network: Network) -> list[Figure]:
    key = await chain.funded_key(network, 2 * chain.SUI)
    contents = {"transfer": transfer, "call": await _counter_call(network, key)}
    coins = await chain.gas_coins(network, key.address, 2 * ROUNDS * EACH + 2 * IDLE)
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
    """Return the median latency in ms of sequential requests, without the first half (warm-up)."""
    await connection.latencies(requests[:IDLE], 1)
    return median(await connection.latencies(requests[IDLE:], 1)) * 1e3


async def _rates(
    connection: sender.Sender,
    key: KeyPair,
    coins: Sequence[ObjectReference],
    contents: Mapping[str, Content],
) -> dict[str, list[tuple[float, float]]]:
    """Return the rate and latency of each round, by kind of transaction. The kinds alternate."""
    rates: dict[str, list[tuple[float, float]]] = {name: [] for name in contents}
    left = list(coins)
    for _ in range(ROUNDS):
        for name, content in contents.items():
            used, left = left[:EACH], left[EACH:]
            rates[name].append(
                await connection.rate(sender.requests_of(signed(key, used, content)))
            )
    return rates


async def _counter_call(network: Network, key: KeyPair) -> Content:
    """Publish a counter. Return the call that increases the counter."""
    async with SuiClient(network, key) as client:
        builder = TransactionBuilder()
        cap = builder.publish([compiled("counter")], [MOVE_STDLIB, SUI_FRAMEWORK])
        builder.transfer_objects([cap], key.address)
        executed = await client.execute(builder)
    [counter] = executed.created_of("counter", "Counter")
    version = executed.effects.lamport_version
    return call_of(executed.published(), SharedObject(counter, version, mutable=True))
