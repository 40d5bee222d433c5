"""From Move bytecode to Python code."""

from nexus_tools.localnet.vm.translator.frame import Callee, Constant, NewVector, Symbol
from nexus_tools.localnet.vm.translator.translation import Translation, translate

__all__ = ["Callee", "Constant", "NewVector", "Symbol", "Translation", "translate"]
