"""The model of a workflow, independent of the chain: document, rules, semantics and drawings.

Start with `document`, `semantics` and `authoring`. The modules that simulate or draw are imported
at their first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
