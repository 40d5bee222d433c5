"""Move values as people see them."""

from nexus_tools.localnet.rpc.values.move_value import JsonRenderer

__all__ = ["JsonRenderer"]
