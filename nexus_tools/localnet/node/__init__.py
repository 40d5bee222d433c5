"""Check a signed transaction, execute, commit, checkpoint."""

from nexus_tools.localnet.node.node import Node

__all__ = ["Node"]
