"""A node behind one port: which way a request comes, and how a call is served."""

from nexus_tools.sui.localnet.rpc.server.server import Server

__all__ = ["Server"]
