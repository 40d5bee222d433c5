"""One port for everything: gRPC over HTTP/2, and plain HTTP/1.1."""

import asyncio
from pathlib import Path

from nexus_tools.errors import UsageError
from nexus_tools.localnet.node import Node
from nexus_tools.localnet.rpc.backend import Backend
from nexus_tools.localnet.rpc.connection import NewConnection
from nexus_tools.localnet.rpc.limits import Limits
from nexus_tools.localnet.rpc.messages import load_messages
from nexus_tools.localnet.rpc.rendering.display import DisplayRenderer
from nexus_tools.localnet.rpc.rendering.move_value import JsonRenderer


class Server:
    """Serves a node on one port. The node is used in the event loop's thread alone.

    With a folder as `cache`, the definitions of messages are kept there and starting is faster.
    """

    def __init__(
        self, node: Node, *, limits: Limits | None = None, cache: Path | None = None
    ) -> None:
        displays = DisplayRenderer(node.ledger, node.machine)
        json = JsonRenderer(node.machine, displays)
        self._backend = Backend(node, load_messages(cache), limits or Limits(), json)
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Transport] = set()

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> int:
        """Listen, and give the port; 0 asks for a free one. Raises `port_unavailable`."""
        loop = asyncio.get_running_loop()
        try:
            self._server = await loop.create_server(
                lambda: NewConnection(self._backend, self._open), host, port
            )
        except OSError as error:
            raise UsageError(
                "port_unavailable",
                f"{host}:{port} cannot be listened on: {error.strerror}",
                hint="another program may use it; choose another port, or 0 for a free one",
            ) from None
        return int(self._server.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        """Stop listening, and end every connection with what it has under way."""
        if self._server is None:
            return
        self._server.close()
        for transport in tuple(self._open):
            transport.abort()
        self._open.clear()
        await self._server.wait_closed()
        await asyncio.sleep(0)  # calls under way hear that their connection is gone
        self._server = None
