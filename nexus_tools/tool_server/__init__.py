"""The framework with which authors write and serve tools.

Start with `@tool` (`authoring`), `Variant`, and `serve` (`hosting`). The modules of the server are
imported on first use. Authors can therefore test a tool without installing a web server.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
