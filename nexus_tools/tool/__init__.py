"""The model of a tool: name, definition, schemas, ports, outcomes, protocol and signatures.

Start with `definition` and `protocol`. The modules that sign and verify are imported on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
