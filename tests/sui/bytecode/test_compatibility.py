"""The permitted changes of an upgrade, by edits of a module in memory."""

import pytest
from msgspec.structs import replace

from nexus_tools.sui.bytecode import (
    Ability,
    ModuleHandle,
    UpgradePolicy,
    Visibility,
    deserialize,
    incompatibility_reason,
)
from nexus_tools.sui.localnet.framework import load_framework
from nexus_tools.sui.types.address import SUI_FRAMEWORK

COMPATIBLE, ADDITIVE, DEP_ONLY = UpgradePolicy
ALL = (COMPATIBLE, ADDITIVE, DEP_ONLY)


@pytest.fixture(scope="module")
def registry():
    """Return a framework module with an enum, friend functions and entry functions."""
    modules = map(deserialize, load_framework()[bytes(SUI_FRAMEWORK)].modules)
    return next(module for module in modules if module.name == "coin_registry")


def allowing(current, new):
    """Return the policies that allow the upgrade."""
    before, after = {"m": current}, {"m": new}
    return tuple(policy for policy in ALL if not incompatibility_reason(before, after, policy))


def with_function(module, name, **changes):
    """Return the module with another declaration of a function."""
    rows = [
        replace(row, **changes) if module.function_id(row.handle)[2] == name else row
        for row in module.function_definitions
    ]
    return replace(module, function_definitions=tuple(rows))


def without_function(module, name):
    rows = [r for r in module.function_definitions if module.function_id(r.handle)[2] != name]
    return replace(module, function_definitions=tuple(rows))


def with_variants(module, variants):
    enum = replace(module.enum_definitions[0], variants=tuple(variants))
    return replace(module, enum_definitions=(enum, *module.enum_definitions[1:]))


def test_same_module_is_allowed_by_all_policies(registry):
    assert allowing(registry, registry) == ALL


def test_variants_cannot_be_added_removed_or_moved(registry):
    first, *others = registry.enum_definitions[0].variants
    more = with_variants(registry, [first, *others, replace(first, name=0)])
    assert allowing(registry, more) == ()
    assert allowing(more, registry) == ()
    assert allowing(registry, with_variants(registry, [*others, first])) == ()


def test_public_function_must_stay_public(registry):
    private = with_function(registry, "burn", visibility=Visibility.PRIVATE)
    assert allowing(registry, private) == ()
    assert allowing(private, registry) == (COMPATIBLE,)


def test_private_function_may_be_removed(registry):
    private = with_function(registry, "burn", visibility=Visibility.PRIVATE)
    assert allowing(private, without_function(private, "burn")) == (COMPATIBLE,)


def test_friend_function_may_be_removed(registry):
    friend = with_function(registry, "burn", visibility=Visibility.FRIEND)
    assert allowing(friend, without_function(friend, "burn")) == (COMPATIBLE,)


def test_public_function_may_stop_being_an_entry_function(registry):
    entry = with_function(registry, "burn", is_entry=True)
    assert allowing(entry, registry) == (COMPATIBLE,)
    assert allowing(registry, entry) == (COMPATIBLE,)


def test_new_function_violates_dep_only_policy(registry):
    less = without_function(registry, "burn")
    assert allowing(less, registry) == (COMPATIBLE, ADDITIVE)


def test_type_cannot_gain_an_ability(registry):
    rows = list(registry.datatype_handles)
    index = registry.struct_definitions[0].handle
    more = Ability.COPY | Ability.DROP | Ability.STORE | Ability.KEY
    rows[index] = replace(rows[index], abilities=more)
    assert allowing(registry, replace(registry, datatype_handles=tuple(rows))) == ()


def test_only_the_number_of_friends_counts(registry):
    one = replace(registry, friends=(ModuleHandle(0, 0),))
    other = replace(registry, friends=(ModuleHandle(0, 1),))
    assert allowing(one, other) == ALL
    assert allowing(one, replace(registry, friends=())) == (COMPATIBLE, ADDITIVE)


def test_file_format_version_cannot_decrease(registry):
    older = replace(registry, version=registry.version - 1)
    assert allowing(registry, older) == (COMPATIBLE,)
    assert allowing(older, registry) == ALL


def test_policy_controls_added_and_removed_modules(registry):
    one, two = {"m": registry}, {"m": registry, "n": registry}
    assert [not incompatibility_reason(one, two, policy) for policy in ALL] == [True, True, False]
    assert not any(not incompatibility_reason(two, one, policy) for policy in ALL)
