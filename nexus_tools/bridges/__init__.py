"""Borrow a tool: Unstract, SOS-Toolkit, NORA, Hyperpocket and MCP tools as they are.

Each system is imported when its bridge is first asked for.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
