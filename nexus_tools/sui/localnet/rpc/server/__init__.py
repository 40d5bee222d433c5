"""The gRPC server of a node, with the forms of gRPC, the endpoints, and the handling of calls."""

from nexus_tools.sui.localnet.rpc.server.server import Server

__all__ = ["Server"]
