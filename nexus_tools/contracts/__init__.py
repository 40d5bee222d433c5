"""The Python interface to the nexus-tools Move packages: deployments, objects, events, aborts.

Start reading with `deployment`. `move_bindings` contains the generated bindings. The operations on
the packages are in the package `nexus_tools.registry`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
