"""From the modules of a Move package to the files of its bindings."""

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
