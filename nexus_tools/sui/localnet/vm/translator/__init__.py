"""The translation of Move bytecode to Python code.

Start with `translation.py`, which translates a function. `block.py` translates a basic block, and
`structure.py` arranges the blocks as Python statements.
"""

from nexus_tools.sui.localnet.vm.translator.frame import (
    Callee,
    Constant,
    CopyOf,
    LazySymbol,
    NewVector,
    SizeOf,
    Symbol,
)
from nexus_tools.sui.localnet.vm.translator.native import translate_native
from nexus_tools.sui.localnet.vm.translator.translation import Translation, translate

__all__ = [
    "Callee",
    "Constant",
    "CopyOf",
    "LazySymbol",
    "NewVector",
    "SizeOf",
    "Symbol",
    "Translation",
    "translate",
    "translate_native",
]
