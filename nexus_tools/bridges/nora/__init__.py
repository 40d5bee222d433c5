"""The bridge to NORA: a tool is a folder with a `tool.json` and a script with `run(params)`.

Start reading at `bridge.py`.
"""

from nexus_tools.bridges.nora.bridge import NoraBridge

__all__ = ["NoraBridge"]
