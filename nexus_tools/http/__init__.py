"""HTTP: a client that refuses private addresses, and servers that run in the caller's event loop.

Start with `guarded_client.py` and `embedded_server.py`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
