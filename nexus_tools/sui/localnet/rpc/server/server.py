"""The server of a node. One port serves all forms of gRPC, and the controls."""

from nexus_tools.sui.localnet.http import HttpServer
from nexus_tools.sui.localnet.node import Node
from nexus_tools.sui.localnet.rpc.backend import Backend
from nexus_tools.sui.localnet.rpc.interface import Limits
from nexus_tools.sui.localnet.rpc.server.application import NodeApplication
from nexus_tools.sui.localnet.rpc.values import JsonRenderer
from nexus_tools.sui.rpc import load_messages
from nexus_tools.sui.support.allowed_sources import AllowedSources


class Server(HttpServer):
    """An HTTP server for a node, which runs in the event loop's thread."""

    def __init__(
        self,
        node: Node,
        *,
        limits: Limits | None = None,
        sources: AllowedSources | None = None,
    ) -> None:
        limits = limits or Limits()
        json = JsonRenderer(node.machine)
        self._backend = Backend(node, load_messages(), limits, json, sources or AllowedSources())
        super().__init__(
            NodeApplication(self._backend),
            connections=limits.connections,
            idle_seconds=limits.idle_seconds,
            connection_bytes=limits.connection_bytes,
            server_bytes=limits.server_bytes,
        )
