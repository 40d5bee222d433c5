"""The bridge to Unstract: programs in any language that write JSON messages to standard output.

Start reading at `bridge.py`. `object_store` emulates the storage that newer SDKs require.
"""

from nexus_tools.bridges.unstract.bridge import UnstractBridge
from nexus_tools.bridges.unstract.tool import UnstractTool

__all__ = ["UnstractBridge", "UnstractTool"]
