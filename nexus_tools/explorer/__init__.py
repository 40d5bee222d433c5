"""The explorer: an index and its chain as web pages, and the API of the index.

Start reading at `app.py`, and at `pages/__init__.py` for the list of pages.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
