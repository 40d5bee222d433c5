"""Changes that a proposed upgrade would make to the newest version of a package.

A proposed upgrade cannot be simulated, because the lock issues an upgrade ticket only after 14
days. This module therefore implements the chain's upgrade rules. It also lists the changes that
reviewers must know.
"""

from typing import Self

from msgspec import Struct

from nexus_tools.contracts.compiled import CompiledPackage
from nexus_tools.sui.bytecode import (
    UpgradePolicy,
    deserialize,
    has_init,
    incompatibility_reason,
    original_id,
    relocate,
)
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.object import MovePackage


class UpgradeChanges(Struct, frozen=True):
    """The changed, added and removed modules of an upgrade, by name and sorted.

    `inits` are the added modules with `init`. `dependencies` are the package versions to which the
    upgrade links but the newest version does not. `incompatible` is the reason why the chain would
    refuse the upgrade, or empty if the upgrade rules allow it.
    """

    changed: tuple[str, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    inits: tuple[str, ...]
    dependencies: tuple[Address, ...]
    incompatible: str

    @classmethod
    def compare(cls, newest: MovePackage, upgraded: CompiledPackage, policy: UpgradePolicy) -> Self:
        """Return the changes to the newest version of a package. Raises `MalformedModule`."""
        original = original_id(newest)
        before = dict(newest.modules)
        # The address of published modules is the ID of the package's first version. The address of
        # compiled modules is 0x0.
        moved = [relocate(code, original) for code in upgraded.modules]
        modules = {module.name: module for module in map(deserialize, moved)}
        after = dict(zip(modules, moved, strict=True))
        added = sorted(after.keys() - before.keys())
        linked = {link.upgraded_id for link in newest.linkage}
        return cls(
            tuple(sorted(name for name in before.keys() & after if before[name] != after[name])),
            tuple(added),
            tuple(sorted(before.keys() - after.keys())),
            tuple(name for name in added if has_init(modules[name])),
            tuple(sorted(set(upgraded.dependencies) - linked)),
            incompatibility_reason(
                {name: deserialize(code) for name, code in before.items()}, modules, policy
            ),
        )
