"""A registered tool as an Unstract tool: a folder with a program that calls it."""

from nexus_tools.bridges.export.unstract.folder import write_unstract_tool

__all__ = ["write_unstract_tool"]
