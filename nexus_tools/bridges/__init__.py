"""Borrow a tool: Unstract, SOS-Toolkit, NORA, Hyperpocket and MCP tools as they are."""

from nexus_tools.bridges.base import Bridge, BridgedTool, Discovery, Host, Refusal
from nexus_tools.bridges.naming import Naming

__all__ = ["Bridge", "BridgedTool", "Discovery", "Host", "Naming", "Refusal"]
