"""What a tool is: its name, its definition, its schemas, its ports, its outcomes, its protocol.

What signs and verifies is imported when it is first asked for.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
