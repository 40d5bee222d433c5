"""The conversion of Move values to JSON."""

from nexus_tools.sui.localnet.rpc.values.json_renderer import JsonRenderer

__all__ = ["JsonRenderer"]
