"""Where the genuine framework bytecode comes from."""

from nexus_tools.localnet.framework.loader import (
    FRAMEWORK_VERSION,
    MOVE_STDLIB,
    PROTOCOL_VERSION,
    SUI_FRAMEWORK,
    SUI_SYSTEM,
    load_framework,
)
from nexus_tools.localnet.framework.package import FrameworkPackage

__all__ = [
    "FRAMEWORK_VERSION",
    "MOVE_STDLIB",
    "PROTOCOL_VERSION",
    "SUI_FRAMEWORK",
    "SUI_SYSTEM",
    "FrameworkPackage",
    "load_framework",
]
