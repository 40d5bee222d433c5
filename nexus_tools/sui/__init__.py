"""A library for Sui: types, bytecode, Move sources, a client, keys, bindings, and a localnet.

This package does not import other packages of `nexus_tools`. To call a node, start with
`client/sui_client.py`. To run a localnet, start with `localnet/localnet.py`. `types/` defines the
data that a client and a node exchange.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
