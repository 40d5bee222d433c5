"""An MCP server for registered tools and workflows, with direct and on-chain calls.

Start reading at `server.py` and `catalogue/catalogue.py`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
