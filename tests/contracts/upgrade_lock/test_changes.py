"""The changes of a proposed upgrade, and proposals that are rejected."""

from dataclasses import replace

import pytest

from nexus_tools.contracts import UpgradeChanges
from nexus_tools.errors import RefusedOnChainError, ValidationError
from nexus_tools.sui.bytecode import UpgradePolicy
from nexus_tools.sui.types.address import SUI_FRAMEWORK, Address

MORE = "module vault::more;\n\npublic fun more(): u64 { 1 }\n"
WITH_INIT = "module vault::more;\n\nfun init(_: &mut TxContext) {}\n"


async def test_changes_list_changed_and_added_modules(world):
    changes = await world.locks().changes(world.package, world.vault(2, more=MORE))
    assert (changes.changed, changes.added, changes.removed) == (("vault",), ("more",), ())
    assert (changes.inits, changes.dependencies, changes.incompatible) == ((), (), "")


async def test_changes_are_empty_for_published_package(world):
    changes = await world.locks().changes(world.package, world.vault())
    assert (changes.changed, changes.added, changes.removed) == ((), (), ())


async def test_changes_compare_with_newest_version(world):
    await world.propose(world.vault(2))
    world.pass_days(14)
    await world.locks().execute(world.package, world.vault(2))
    assert (await world.locks().changes(world.package, world.vault(2))).changed == ()
    assert (await world.locks().changes(world.package, world.vault(1))).changed == ("vault",)


async def test_changes_list_init_of_added_modules(world):
    changes = await world.locks().changes(world.package, world.vault(2, more=WITH_INIT))
    assert changes.inits == ("more",)


async def test_changes_list_new_dependencies(world):
    other = Address.parse("0xabc")
    proposed = world.vault(2)
    proposed = replace(proposed, dependencies=(*proposed.dependencies, other))
    assert (await world.locks().changes(world.package, proposed)).dependencies == (other,)


async def test_compatibility_follows_the_policy_of_the_cap(world):
    newest = (await world.owner.object(world.package)).data
    for policy, compatible in zip(UpgradePolicy, (True, False, False), strict=True):
        changes = UpgradeChanges.compare(newest, world.vault(2), policy)
        assert (changes.incompatible == "") is compatible


async def test_propose_rejects_incompatible_upgrade(world, free, authorized, builder):
    other = world.vault(1, returns="u8")
    with pytest.raises(ValidationError, match="vault: the public function fee has changed") as seen:
        await world.propose(other)
    assert seen.value.code == "upgrade_incompatible"
    assert (await world.locks().upgrade_state(world.package)).proposal is None
    # The chain decides the same about these modules for an unlocked package.
    package, cap = free
    receipt = authorized(builder, cap, package, other)
    builder.move_call(SUI_FRAMEWORK, "package", "commit_upgrade", [builder.object(cap), receipt])
    with pytest.raises(RefusedOnChainError) as refused:
        await world.owner.execute(builder)
    assert refused.value.code == "package_upgrade_error"
