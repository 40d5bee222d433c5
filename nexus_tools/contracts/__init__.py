"""The Move packages of nexus-tools from the Python side: deployments, objects, events and aborts.

`move` has the generated bindings. Start reading with `deployment`; the operations are in
`registry`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
