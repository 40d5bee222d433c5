"""Search for tools by words and by intent. Start reading at `ranking.py`."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
