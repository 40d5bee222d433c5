"""Snapshots of an index: files from which others start their index without reading all events.

A snapshot contains only rows of events. The receiver compares some of them with its node, and
derives all other tables itself. Start reading at `installation.py`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
