"""The Leader daemon, which reads invocations from the chain, calls tools, and records outcomes.

Start reading with the modules `leader` (start and stop) and `assembly` (creation of the
components). The module `dispatcher` handles one invocation.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
