"""Tools on Sui: a registry on chain, a client, a Leader that dispatches invocations, a localnet.

What most programs need is offered here, and imported when it is first used.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
