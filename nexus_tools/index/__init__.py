"""An index of a deployment: tables of tools, leaders, invocations, workflows and their records.

The index follows the events of a chain and stores them in one SQLite file. Its queries take a time
that does not depend on the history. The index proposes, and the chain decides: read an object on
chain before you rely on it. Start reading at `pipeline.py` and `index.py`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
