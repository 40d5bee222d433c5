"""The rendering of Move values as JSON."""

from nexus_tools.sui.localnet.rpc.values.json_renderer import JsonRenderer

__all__ = ["JsonRenderer"]
