"""Move values as people see them: as JSON, and as their authors want them displayed."""

from nexus_tools.localnet.rpc.values.display import DisplayRenderer
from nexus_tools.localnet.rpc.values.move_value import JsonRenderer

__all__ = ["DisplayRenderer", "JsonRenderer"]
