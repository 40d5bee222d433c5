"""The bytecode of Sui's framework.

`loader.py` reads the bytecode from the `sui_sandbox` wheel. `release.py` reads and writes framework
releases in folders.
"""

from nexus_tools.sui.localnet.framework.loader import (
    FRAMEWORK_NAMES,
    FRAMEWORK_VERSION,
    PROTOCOL_VERSION,
    FrameworkPackage,
    load_framework,
)
from nexus_tools.sui.localnet.framework.release import (
    Release,
    embedded_release,
    packages_of,
    read_release,
    write_release,
)

__all__ = [
    "FRAMEWORK_NAMES",
    "FRAMEWORK_VERSION",
    "PROTOCOL_VERSION",
    "FrameworkPackage",
    "Release",
    "embedded_release",
    "load_framework",
    "packages_of",
    "read_release",
    "write_release",
]
