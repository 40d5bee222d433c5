"""What an upgrade changes, before it is one: the modules that are proposed beside those on chain.

Nobody can simulate a proposed upgrade: for 14 days the lock hands out no ticket for it. What the
chain will then ask of its modules is known before, and so is what readers of a proposal look for.
"""

from typing import Self

from msgspec import Struct

from nexus_tools.contracts.compiled import CompiledPackage
from nexus_tools.sui.bytecode import (
    UpgradePolicy,
    check_compatible,
    deserialize,
    has_init,
    original_id,
    relocate,
)
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.object import MovePackage


class UpgradeChanges(Struct, frozen=True):
    """Modules by their names, sorted: those with other code, new ones, those that are missing.

    `inits` are the added modules with `init`. `dependencies` are packages that the newest version
    is not linked to, in these versions. `incompatible` says why the chain would refuse the upgrade;
    it is empty if the rules for upgrades allow it.
    """

    changed: tuple[str, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    inits: tuple[str, ...]
    dependencies: tuple[Address, ...]
    incompatible: str

    @classmethod
    def between(cls, newest: MovePackage, upgraded: CompiledPackage, policy: UpgradePolicy) -> Self:
        """What becomes of the newest version of a package. Raises `MalformedModule`."""
        original = original_id(newest)
        before = dict(newest.modules)
        # Published modules name themselves by the first version, compiled ones by 0x0.
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
            check_compatible(
                {name: deserialize(code) for name, code in before.items()}, modules, policy
            ),
        )
