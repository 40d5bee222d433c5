"""The Python interface to the Move package `upgrade_lock`.

`move_bindings` contains its generated bindings. The package does not depend on the other packages
of nexus-tools, and it can lock any package. Start reading with `locks`.
"""

from nexus_tools.contracts.upgrade_lock.changes import UpgradeChanges
from nexus_tools.contracts.upgrade_lock.deployment import LockDeployment
from nexus_tools.contracts.upgrade_lock.locks import PackageUpgradeState, UpgradeLocks, UpgradeMode

__all__ = ["LockDeployment", "PackageUpgradeState", "UpgradeChanges", "UpgradeLocks", "UpgradeMode"]
