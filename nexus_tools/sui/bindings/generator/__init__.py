"""The generator of Python bindings from the modules of a Move package.

Start with `package.py`. `contents.py` reads a package, and `module.py` writes a Python module.
"""

from nexus_tools.sui.bindings.generator.framework import FRAMEWORK_NAMES, Framework
from nexus_tools.sui.bindings.generator.package import Bindings, generate, write_bindings
from nexus_tools.sui.bindings.generator.plan import PackageSource

__all__ = [
    "FRAMEWORK_NAMES",
    "Bindings",
    "Framework",
    "PackageSource",
    "generate",
    "write_bindings",
]
