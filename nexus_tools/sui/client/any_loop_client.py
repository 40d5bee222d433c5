"""A client without a lifetime: it needs no `async with`, and works in any event loop.

For tests and notebooks, where nobody can say in which loop the next call is made, or when the last
one was.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any

from nexus_tools.sui.client.connection.connection import Connection, Line, Patience
from nexus_tools.sui.client.sender import Sender
from nexus_tools.sui.client.sui_client import SuiClient
from nexus_tools.sui.keystore.keys import Signer
from nexus_tools.sui.network import Network

if TYPE_CHECKING:
    from nexus_tools.sui.rpc import Message, Procedure


class UnboundConnection(Connection):
    """One channel for all event loops and threads, opened by the first call.

    It is a channel of threads, since one of `grpc.aio` belongs to the loop that opened it. It ends
    with this object.
    """

    def open(self) -> None:
        """Calls connect by themselves."""

    async def close(self) -> None:
        """Another call may come."""

    async def _ask(self, procedure: "Procedure", request: "Message", timeout_s: float) -> "Message":
        import grpc  # noqa: PLC0415 - the command line starts without it

        line = self._line = self._line or Line(self._open_channel(grpc))
        call = line.method(procedure).future(request, timeout=timeout_s)
        loop, ended = asyncio.get_running_loop(), asyncio.Event()

        def tell(_: Any) -> None:
            with suppress(RuntimeError):  # the loop was closed meanwhile: nobody waits any more
                loop.call_soon_threadsafe(ended.set)

        call.add_done_callback(tell)
        try:
            await ended.wait()
        finally:
            call.cancel()  # which does nothing to a call that has ended
        if call.code() is grpc.StatusCode.DEADLINE_EXCEEDED and line is self._line:
            self._line = None  # the next call connects anew
        response: Message = call.result()
        self._check_chain(call.initial_metadata())
        return response

    async def stream(self, name: str, **fields: Any) -> "AsyncGenerator[Message, None]":
        """As a connection that is open: a stream has one of its own, in the loop that reads it."""
        connection = Connection(self.network, self.patience)
        connection.open()
        try:
            async with aclosing(connection.stream(name, **fields)) as frames:
                async for frame in frames:
                    yield frame
        finally:
            await connection.close()


class UnboundClient(SuiClient):
    """As `SuiClient`, without `async with`."""

    def __init__(
        self,
        network: Network,
        signer: Signer | None = None,
        *,
        parallel: int = 1,
        patience: Patience | None = None,
    ) -> None:
        super().__init__(network, signer, parallel=parallel, patience=patience)
        self.connection: UnboundConnection = UnboundConnection(network, patience)
        if signer is not None:
            self._sender = Sender(self.connection, self._known, signer, parallel)
