"""Bridges that serve foreign tools (Unstract, SOS-Toolkit, NORA, Hyperpocket, MCP) unchanged.

Start reading at `base.py`, which defines a bridge. The module of a system is imported when one of
its names is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
