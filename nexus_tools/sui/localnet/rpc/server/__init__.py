"""The gRPC server of a node: the forms of gRPC, the endpoints, and the serving of calls."""

from nexus_tools.sui.localnet.rpc.server.server import Server

__all__ = ["Server"]
