"""The code that all commands share: decorators, options, the session, and output.

Each name is imported at its first use, so that `--help` stays fast. Start reading in `command` and
`session`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
