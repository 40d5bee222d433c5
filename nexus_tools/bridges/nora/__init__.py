"""NORA: a folder with a manifest `tool.json` and a Python script that has `run(params)`."""

from nexus_tools.bridges.nora.bridge import NoraBridge

__all__ = ["NoraBridge"]
