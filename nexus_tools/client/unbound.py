"""A client without a lifetime: it needs no `async with`, and works in any event loop.

For tests and notebooks, where nobody can say in which loop the next call is made, or when the last
one was. Each call costs a connection of its own, unless others are under way in the same loop.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any

from nexus_tools.client.connection import Connection, Patience
from nexus_tools.client.executed import Executed
from nexus_tools.client.keys import Signer
from nexus_tools.client.network import Network
from nexus_tools.client.sender import Sender
from nexus_tools.client.sui_client import SuiClient
from nexus_tools.sui.builder import TransactionBuilder


class UnboundConnection(Connection):
    """Connected while calls are under way, in each event loop for itself."""

    def __init__(self, network: Network, patience: Patience | None = None) -> None:
        super().__init__(network, patience)
        self._connections: dict[asyncio.AbstractEventLoop, Connection] = {}
        self._calls: dict[asyncio.AbstractEventLoop, int] = {}

    @property
    def idle(self) -> bool:
        """Whether no call is under way, and so nothing connected."""
        return not self._connections

    def open(self) -> None:
        """Calls connect by themselves."""

    def close(self) -> None:
        """Calls end their connection by themselves."""

    async def call(self, method: Callable[..., Awaitable[Any]], message: Any) -> Any:
        """As a connection that is open."""
        async with self.connected() as connection:
            return await connection.call(_rebound(connection, method), message)

    async def stream(
        self, method: Callable[..., AsyncGenerator[Any, None]], message: Any
    ) -> AsyncGenerator[Any, None]:
        """As a connection that is open."""
        async with (
            self.connected() as connection,
            aclosing(connection.stream(_rebound(connection, method), message)) as frames,
        ):
            async for frame in frames:
                yield frame

    def _stub(self, name: str) -> Any:
        return self._of(asyncio.get_running_loop())._stub(name)  # noqa: SLF001 - one of its class

    def _of(self, loop: asyncio.AbstractEventLoop) -> Connection:
        if loop not in self._connections:
            self._connections[loop] = Connection(self.network, self.patience)
            self._connections[loop].open()
        return self._connections[loop]

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[Connection]:
        """Calls inside share one connection."""
        loop = asyncio.get_running_loop()
        connection = self._of(loop)
        self._calls[loop] = self._calls.get(loop, 0) + 1
        try:
            yield connection
        finally:
            self._calls[loop] -= 1
            if not self._calls[loop]:
                del self._calls[loop], self._connections[loop]
                connection.close()
                await asyncio.sleep(0)  # the loop may end next: the socket is to be closed in it


def _rebound(connection: Connection, method: Any) -> Any:
    """The method on this connection: the one that it was taken from may have ended meanwhile."""
    stub = connection._stub(type(method.__self__).__name__)  # noqa: SLF001 - as above
    return getattr(stub, method.__name__)


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

    async def execute(self, builder: TransactionBuilder, *, budget: int | None = None) -> Executed:
        """As `SuiClient.execute`."""
        async with self.connection.connected():
            return await super().execute(builder, budget=budget)
