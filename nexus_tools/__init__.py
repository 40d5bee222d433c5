"""Tools on Sui: an on-chain registry, a client, a Leader that dispatches invocations, a localnet.

The names that most programs need are available here and imported at first use.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
