"""A gRPC gateway in front of a node. The gateway loses headers and fails on demand."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Self

import grpc
import grpc.aio

from nexus_tools.sui.network import Network
from nexus_tools.sui.rpc import load_messages

Failure = tuple[grpc.StatusCode, str, bool]
"""A status, its text, and whether the node executes the request anyway."""


class Gateway(grpc.GenericRpcHandler):  # type: ignore[misc]  # grpc has no types
    """A gateway to the node at a URL. `requests` counts calls by procedure."""

    def __init__(self, url: str) -> None:
        self._channels: list[grpc.aio.Channel] = []
        self._failures: dict[str, list[Failure]] = {}
        self._asked = asyncio.Condition()
        self._port = 0
        self.requests: Counter[str] = Counter()
        self.forward_to(url)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Self]:
        """Listen until the block ends."""
        server = grpc.aio.server()
        server.add_generic_rpc_handlers((self,))
        self._port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        try:
            yield self
        finally:
            await server.stop(None)
            for channel in self._channels:
                await channel.close()

    @property
    def network(self) -> Network:
        """The network of the gateway, for clients."""
        return Network("localnet", f"http://127.0.0.1:{self._port}")

    def forward_to(self, url: str) -> None:
        """Forward later requests to another node."""
        self._channels.append(grpc.aio.insecure_channel(url.removeprefix("http://")))

    # --- Faults

    def fail(
        self,
        name: str,
        status: grpc.StatusCode,
        text: str = "failure on demand",
        *,
        count: int = 1_000,
        late: bool = False,
    ) -> None:
        """Fail the next `count` requests for a procedure. If `late`, the node executes each."""
        self.fail_in_turn(name, *[(status, text, late)] * count)

    def fail_in_turn(self, name: str, *failures: Failure) -> None:
        """Fail the next requests for a procedure with these failures, one after the other."""
        self._failures[name] = [*reversed(failures)]

    def mend(self, name: str) -> None:
        """Stop failing requests for a procedure."""
        self._failures.pop(name)

    async def asked(self, name: str, count: int) -> None:
        """Wait until a procedure was called `count` times."""
        async with self._asked:
            await self._asked.wait_for(lambda: self.requests[name] >= count)

    # --- Forwarding

    def service(self, details: grpc.HandlerCallDetails) -> Any:
        """Return the handler of a procedure, in gRPC's interface."""
        procedure = load_messages().procedures[details.method]
        name = details.method.rpartition("/")[2]
        channel = self._channels[-1]
        if procedure.streaming:
            stream = partial(self._stream, name, channel.unary_stream(details.method))
            return grpc.unary_stream_rpc_method_handler(stream)
        call = partial(self._call, name, channel.unary_unary(details.method))
        return grpc.unary_unary_rpc_method_handler(call)

    async def _call(self, name: str, forward: Any, request: bytes, context: Any) -> Any:
        failure = await self._next_failure(name)
        if failure is None or failure[2]:
            try:
                response = await forward(request)
            except grpc.aio.AioRpcError as error:
                await context.abort(error.code(), error.details())
        if failure is not None:
            await context.abort(*failure[:2])
        return response

    async def _stream(
        self, name: str, forward: Any, request: bytes, context: Any
    ) -> AsyncIterator[bytes]:
        failure = await self._next_failure(name)
        if failure is not None:
            await context.abort(*failure[:2])
        try:
            async for frame in forward(request):
                yield frame
        except grpc.aio.AioRpcError as error:
            await context.abort(error.code(), error.details())

    async def _next_failure(self, name: str) -> Failure | None:
        self.requests[name] += 1
        async with self._asked:
            self._asked.notify_all()
        left = self._failures.get(name)
        return left.pop() if left else None
