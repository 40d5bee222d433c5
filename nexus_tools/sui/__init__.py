"""A library for Sui: types, bytecode, Move sources, a client, keys, bindings, and a localnet.

It imports nothing else of `nexus_tools`. Start with `client/sui_client.py` to talk to a node, with
`localnet/localnet.py` to be one, or with `types/` for the data that both exchange.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
