"""Move values as people see them."""

from nexus_tools.sui.localnet.rpc.values.json_renderer import JsonRenderer

__all__ = ["JsonRenderer"]
