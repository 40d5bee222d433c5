"""Make a tool: `@tool` on a function, `Variant` for each answer, `serving` or `serve` to serve it.

What serves is imported when it is first asked for: the tests of an author need no web server.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
