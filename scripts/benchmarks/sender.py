"""A minimal client that sends signed transactions over gRPC.

The client uses grpcio with several connections.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from itertools import cycle
from statistics import median
from time import perf_counter
from typing import Any
from urllib.parse import urlsplit

import grpc.aio

from nexus_tools.sui.network import Network
from nexus_tools.sui.rpc import Procedure, load_messages

CONNECTIONS = 4
IN_FLIGHT = 16
_EXECUTE = "/sui.rpc.v2.TransactionExecutionService/ExecuteTransaction"


def requests_of(transactions: Iterable[tuple[bytes, bytes]]) -> list[bytes]:
    """Return a request for each transaction and its signature."""
    procedure = _procedure()
    return [_request(procedure, data, signature) for data, signature in transactions]


def _request(procedure: Procedure, data: bytes, signature: bytes) -> bytes:
    request = procedure.request(
        transaction={"bcs": {"name": "TransactionData", "value": data}},
        signatures=[{"bcs": {"name": "UserSignature", "value": signature}}],
        read_mask={"paths": ["effects.status"]},
    )
    return bytes(request.SerializeToString())


def _procedure() -> Procedure:
    return load_messages().procedures[_EXECUTE]


class Sender:
    """A sender that checks that each request was executed."""

    def __init__(self, calls: Sequence[Any]) -> None:
        self._calls = calls

    async def latencies(self, requests: Sequence[bytes], in_flight: int) -> list[float]:
        """Send requests, `in_flight` at the same time. Return the latency of each in seconds."""
        waiting = iter(requests)
        taken: list[float] = []
        await asyncio.gather(
            *(
                self._send(waiting, call, taken)
                for call, _ in zip(cycle(self._calls), range(in_flight), strict=False)
            )
        )
        return taken

    async def _send(self, waiting: Iterator[bytes], call: Any, taken: list[float]) -> None:
        for request in waiting:
            begin = perf_counter()
            response = await call(request, timeout=20)
            taken.append(perf_counter() - begin)
            if not response.transaction.effects.status.success:
                raise RuntimeError(f"a transaction failed: {response.transaction.effects.status}")

    async def rate(self, requests: Sequence[bytes]) -> tuple[float, float]:
        """Return the number of transactions per second, and their median latency in seconds."""
        begin = perf_counter()
        taken = await self.latencies(requests, IN_FLIGHT)
        return len(requests) / (perf_counter() - begin), median(taken)


@asynccontextmanager
async def connected(network: Network) -> AsyncIterator[Sender]:
    """Open a sender's connections until the block ends."""
    procedure = _procedure()
    # Channels share a connection unless each has its own pool.
    options = [("grpc.use_local_subchannel_pool", 1)]
    address = urlsplit(network.url).netloc
    channels = [grpc.aio.insecure_channel(address, options=options) for _ in range(CONNECTIONS)]
    calls = [
        channel.unary_unary(
            procedure.path,
            request_serializer=None,
            response_deserializer=procedure.response.FromString,
        )
        for channel in channels
    ]
    try:
        yield Sender(calls)
    finally:
        for channel in channels:
            await channel.close()
