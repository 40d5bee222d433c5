"""Serve a node: Sui's gRPC interface and the faucet, on one port of this machine."""

from nexus_tools.sui.localnet.rpc.interface import Limits
from nexus_tools.sui.localnet.rpc.server import Server

__all__ = ["Limits", "Server"]
