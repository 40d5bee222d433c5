"""What a workflow is: its document, its rules, its meaning and its picture; it knows no chain.

What executes or draws is imported when it is first asked for.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
