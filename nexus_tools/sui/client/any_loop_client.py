"""A client that works in any event loop and without `async with`.

The client is for tests and notebooks, which may run each call in another event loop and do not know
which call is the last.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any

from nexus_tools.sui.client.connection.connection import Channel, Connection, RetryPolicy
from nexus_tools.sui.client.sender import Sender
from nexus_tools.sui.client.sui_client import SuiClient
from nexus_tools.sui.keystore.keys import Signer
from nexus_tools.sui.network import Network

if TYPE_CHECKING:
    from nexus_tools.sui.rpc import Message, Procedure


class AnyLoopConnection(Connection):
    """A connection that all event loops and threads share. The first call opens the channel.

    This connection uses the synchronous gRPC API because a `grpc.aio` channel can be used only in
    the event loop that opened it. The channel is closed when this object is garbage-collected.
    """

    def open(self) -> None:
        """Do nothing, because calls connect on demand."""

    async def close(self) -> None:
        """Do nothing, because another call may follow."""

    async def _ask(self, procedure: "Procedure", request: "Message", timeout_s: float) -> "Message":
        import grpc  # noqa: PLC0415 - not needed to start the command line

        line = self._line = self._line or Channel(self._open_channel(grpc))
        call = line.method(procedure).future(request, timeout=timeout_s)
        loop, is_done = asyncio.get_running_loop(), asyncio.Event()

        def notify(_: Any) -> None:
            with suppress(RuntimeError):  # the loop is closed, so no caller is waiting
                loop.call_soon_threadsafe(is_done.set)

        call.add_done_callback(notify)
        try:
            await is_done.wait()
        finally:
            call.cancel()  # no effect on a call that has ended
        if call.code() is grpc.StatusCode.DEADLINE_EXCEEDED and line is self._line:
            self._line = None  # the next call connects again
        response: Message = call.result()
        self._check_chain(call.initial_metadata())
        return response

    async def stream(self, name: str, **fields: Any) -> "AsyncGenerator[Message, None]":
        """Yield the frames of a stream, which uses its own connection in the current event loop."""
        connection = Connection(self.network, self.retry_policy)
        connection.open()
        try:
            async with aclosing(connection.stream(name, **fields)) as frames:
                async for frame in frames:
                    yield frame
        finally:
            await connection.close()


class AnyLoopClient(SuiClient):
    """A `SuiClient` that works without `async with`."""

    def __init__(
        self,
        network: Network,
        signer: Signer | None = None,
        *,
        parallel: int = 1,
        retry_policy: RetryPolicy | None = None,
    ) -> None:
        super().__init__(network, signer, parallel=parallel, retry_policy=retry_policy)
        self.connection: AnyLoopConnection = AnyLoopConnection(network, retry_policy)
        if signer is not None:
            self._sender = Sender(self.connection, self._known, signer, parallel)
