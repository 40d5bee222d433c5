"""Tools of Unstract: programs in any language that write JSON messages to standard output."""

from nexus_tools.bridges.unstract.bridge import UnstractBridge
from nexus_tools.bridges.unstract.tool import UnstractTool

__all__ = ["UnstractBridge", "UnstractTool"]
