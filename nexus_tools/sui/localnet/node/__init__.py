"""The node, which checks and executes signed transactions, and commits a checkpoint for each.

Start reading with `node.py`.
"""

from nexus_tools.sui.localnet.node.epochs import Epoch, committee_of, environment_of
from nexus_tools.sui.localnet.node.node import Node

__all__ = ["Epoch", "Node", "committee_of", "environment_of"]
