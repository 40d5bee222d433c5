"""The Move package `upgrade_lock`, as Python sees it: `move` has its module.

It stands by itself: any package may be locked, ours is one of them.
"""

from nexus_tools.contracts.upgrade_lock.changes import UpgradeChanges
from nexus_tools.contracts.upgrade_lock.deployment import LockDeployment
from nexus_tools.contracts.upgrade_lock.locks import PackageUpgrades, UpgradeLocks, Upgrades

__all__ = ["LockDeployment", "PackageUpgrades", "UpgradeChanges", "UpgradeLocks", "Upgrades"]
