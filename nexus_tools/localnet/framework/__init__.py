"""Where the genuine framework bytecode comes from."""

from nexus_tools.localnet.framework.loader import (
    FRAMEWORK_NAMES,
    FRAMEWORK_VERSION,
    PROTOCOL_VERSION,
    FrameworkPackage,
    load_framework,
)

__all__ = [
    "FRAMEWORK_NAMES",
    "FRAMEWORK_VERSION",
    "PROTOCOL_VERSION",
    "FrameworkPackage",
    "load_framework",
]
