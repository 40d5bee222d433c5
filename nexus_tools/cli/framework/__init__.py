"""What every command is made with: its options, its session, and the words it prints.

Each name is imported when it is first asked for, so that `--help` is there at once.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
