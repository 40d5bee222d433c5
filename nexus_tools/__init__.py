"""Tools on Sui: an on-chain registry, a client, a Leader that dispatches invocations, a localnet.

This package exports the names that most programs need. Each is imported at its first use.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
