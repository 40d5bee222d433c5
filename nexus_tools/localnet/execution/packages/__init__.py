"""New packages: made of compiled modules, linked, verified, compared with the version before."""

from nexus_tools.localnet.execution.packages.compatibility import UpgradePolicy, check_compatible
from nexus_tools.localnet.execution.packages.new_package import (
    INIT,
    Dependencies,
    NewModule,
    dependencies_of,
    fetch_package,
    move_modules,
    new_package,
    read_modules,
    upgraded_package,
)
from nexus_tools.localnet.execution.packages.verification import verify_modules

__all__ = [
    "INIT",
    "Dependencies",
    "NewModule",
    "UpgradePolicy",
    "check_compatible",
    "dependencies_of",
    "fetch_package",
    "move_modules",
    "new_package",
    "read_modules",
    "upgraded_package",
    "verify_modules",
]
