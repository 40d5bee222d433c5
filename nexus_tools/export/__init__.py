"""The conversion of tool definitions to documents or programs that other systems read.

Start reading at `formats.py`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
