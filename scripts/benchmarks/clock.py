"""The age of the clock 0x6 under a full load of transactions that do not use it.

The benchmark measures the age for a client that reads the clock from time to time, and for a client
that only follows the checkpoints.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from time import time
from typing import Any
from urllib.parse import urlsplit

import grpc.aio

from benchmarks import chain, sender
from benchmarks.figure import Figure, at_most
from benchmarks.signed import signed, transfer
from nexus_tools.sui.network import Network
from nexus_tools.sui.rpc import load_messages
from nexus_tools.sui.types.address import CLOCK

TRANSFERS = 6_000
OLDEST_S = 2.0
_READ_EVERY_S = 0.1

Ages = Callable[[grpc.aio.Channel], AsyncIterator[float]]


def measure(folder: Path) -> Iterator[Figure]:
    """Yield the age of the clock for both kinds of clients."""
    with chain.localnet(folder) as network:
        for name, ages in (("read", _ages_read), ("followed", _ages_followed)):
            oldest, rate = asyncio.run(_under_load(network, ages))
            note = f"{name}: while {TRANSFERS} transfers came, {rate:.0f} a second"
            yield Figure(f"clock {name}", oldest, "s", target=at_most(OLDEST_S), note=note)


async def _under_load(network: Network, ages: Ages) -> tuple[float, float]:
    """Return the highest age of the clock in seconds, and the transfers per second."""
    key = await chain.funded_key(network, 2 * chain.SUI)
    requests = sender.requests_of(
        signed(key, await chain.gas_coins(network, key.address, TRANSFERS), transfer)
    )
    async with _channel(network) as channel, sender.connected(network) as connection:
        seen: list[float] = []
        watching = asyncio.create_task(_collect(ages(channel), seen))
        rate, _ = await connection.rate(requests)
        watching.cancel()
    return max(seen), rate


async def _collect(ages: AsyncIterator[float], seen: list[float]) -> None:
    async for age in ages:
        seen.append(age)  # noqa: PERF401 - what it has by then counts when it is cancelled


async def _ages_read(channel: grpc.aio.Channel) -> AsyncIterator[float]:
    read = _call(channel.unary_unary, "/sui.rpc.v2.LedgerService/GetObject")
    while True:
        found = await read(object_id=str(CLOCK), read_mask={"paths": ["contents"]})
        yield time() - _shown(found.object)
        await asyncio.sleep(_READ_EVERY_S)


async def _ages_followed(channel: grpc.aio.Channel) -> AsyncIterator[float]:
    """Yield the age of the last received clock time when the next clock time arrives."""
    follow = _call(channel.unary_stream, "/sui.rpc.v2.SubscriptionService/SubscribeCheckpoints")
    shown = time()
    fields = ("sequence_number", "objects.objects.object_id", "objects.objects.contents")
    async for frame in follow(read_mask={"paths": fields}):
        yield time() - shown
        clocks = [
            object_
            for object_ in frame.checkpoint.objects.objects
            if object_.object_id == str(CLOCK)
        ]
        shown = max([shown, *map(_shown, clocks)])


def _shown(clock: Any) -> float:
    """Return the time of 0x6, in seconds."""
    return int.from_bytes(clock.contents.value[32:], "little") / 1e3


def _call(kind: Callable[..., Any], path: str) -> Callable[..., Any]:
    procedure = load_messages().procedures[path]
    call = kind(
        path,
        request_serializer=lambda request: request.SerializeToString(),
        response_deserializer=procedure.response.FromString,
    )
    return lambda **fields: call(procedure.request(**fields))


@asynccontextmanager
async def _channel(network: Network) -> AsyncIterator[grpc.aio.Channel]:
    async with grpc.aio.insecure_channel(urlsplit(network.url).netloc) as channel:
        yield channel
