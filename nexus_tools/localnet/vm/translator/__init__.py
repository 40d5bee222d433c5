"""From Move bytecode to Python code."""

from nexus_tools.localnet.vm.translator.frame import (
    Callee,
    Constant,
    CopyOf,
    NewVector,
    SizeOf,
    Symbol,
)
from nexus_tools.localnet.vm.translator.translation import Translation, translate

__all__ = [
    "Callee",
    "Constant",
    "CopyOf",
    "NewVector",
    "SizeOf",
    "Symbol",
    "Translation",
    "translate",
]
