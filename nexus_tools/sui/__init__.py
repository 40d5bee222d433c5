"""A library for Sui: types, bytecode, Move sources, a client, keys, bindings, and a localnet.

This package imports no other package of `nexus_tools`. Start with `client/sui_client.py` to talk to
a node, or with `localnet/localnet.py` to run one. `types/` has the data that client and node
exchange.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
