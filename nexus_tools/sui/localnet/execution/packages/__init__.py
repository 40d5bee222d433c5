"""The construction, linkage and verification of new packages."""

from nexus_tools.sui.localnet.execution.packages.new_package import (
    Dependencies,
    NewModule,
    dependencies_of,
    fetch_package,
    new_package,
    read_modules,
    relocate_modules,
    upgraded_package,
)
from nexus_tools.sui.localnet.execution.packages.verification import verify_modules

__all__ = [
    "Dependencies",
    "NewModule",
    "dependencies_of",
    "fetch_package",
    "new_package",
    "read_modules",
    "relocate_modules",
    "upgraded_package",
    "verify_modules",
]
