"""The Move package `upgrade_lock` from the Python side; `move` has its generated bindings.

It does not depend on our other packages and can lock any package. Start reading with `locks`.
"""

from nexus_tools.contracts.upgrade_lock.changes import UpgradeChanges
from nexus_tools.contracts.upgrade_lock.deployment import LockDeployment
from nexus_tools.contracts.upgrade_lock.locks import PackageUpgradeState, UpgradeLocks, UpgradeMode

__all__ = ["LockDeployment", "PackageUpgradeState", "UpgradeChanges", "UpgradeLocks", "UpgradeMode"]
