"""A read-only HTTP API of an index: REST with OpenAPI 3.1, Server-Sent Events, and an MCP registry.

Start reading at `app.py` and `operations.py`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
