"""What an upgrade may change, by edits of a module in memory."""

import pytest
from msgspec.structs import replace

from nexus_tools.sui.bytecode import (
    Ability,
    ModuleHandle,
    UpgradePolicy,
    Visibility,
    check_compatible,
    deserialize,
)
from nexus_tools.sui.localnet.framework import load_framework
from nexus_tools.sui.types.address import SUI_FRAMEWORK

COMPATIBLE, ADDITIVE, DEP_ONLY = UpgradePolicy
ALL = (COMPATIBLE, ADDITIVE, DEP_ONLY)


@pytest.fixture(scope="module")
def registry():
    """A module of the framework with an enum, functions for friends and entry functions."""
    modules = map(deserialize, load_framework()[bytes(SUI_FRAMEWORK)].modules)
    return next(module for module in modules if module.name == "coin_registry")


def allowing(current, new):
    """The policies that allow it."""
    before, after = {"m": current}, {"m": new}
    return tuple(policy for policy in ALL if not check_compatible(before, after, policy))


def with_function(module, name, **changes):
    """The module with a function of this name declared otherwise."""
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


def test_the_same_module_is_allowed_by_all_policies(registry):
    assert allowing(registry, registry) == ALL


def test_a_variant_is_neither_added_nor_taken_away_nor_moved(registry):
    first, *others = registry.enum_definitions[0].variants
    more = with_variants(registry, [first, *others, replace(first, name=0)])
    assert allowing(registry, more) == ()
    assert allowing(more, registry) == ()
    assert allowing(registry, with_variants(registry, [*others, first])) == ()


def test_a_public_function_stays_public(registry):
    private = with_function(registry, "burn", visibility=Visibility.PRIVATE)
    assert allowing(registry, private) == ()
    assert allowing(private, registry) == (COMPATIBLE,)


def test_a_private_function_may_go(registry):
    private = with_function(registry, "burn", visibility=Visibility.PRIVATE)
    assert allowing(private, without_function(private, "burn")) == (COMPATIBLE,)


def test_a_function_for_friends_may_go(registry):
    friend = with_function(registry, "burn", visibility=Visibility.FRIEND)
    assert allowing(friend, without_function(friend, "burn")) == (COMPATIBLE,)


def test_a_public_function_may_stop_being_an_entry_function(registry):
    entry = with_function(registry, "burn", is_entry=True)
    assert allowing(entry, registry) == (COMPATIBLE,)
    assert allowing(registry, entry) == (COMPATIBLE,)


def test_a_new_function_is_no_change_of_dependencies(registry):
    less = without_function(registry, "burn")
    assert allowing(less, registry) == (COMPATIBLE, ADDITIVE)


def test_a_type_gets_no_ability(registry):
    rows = list(registry.datatype_handles)
    index = registry.struct_definitions[0].handle
    more = Ability.COPY | Ability.DROP | Ability.STORE | Ability.KEY
    rows[index] = replace(rows[index], abilities=more)
    assert allowing(registry, replace(registry, datatype_handles=tuple(rows))) == ()


def test_of_friends_only_the_number_counts(registry):
    one = replace(registry, friends=(ModuleHandle(0, 0),))
    other = replace(registry, friends=(ModuleHandle(0, 1),))
    assert allowing(one, other) == ALL
    assert allowing(one, replace(registry, friends=())) == (COMPATIBLE, ADDITIVE)


def test_the_file_format_does_not_get_older(registry):
    older = replace(registry, version=registry.version - 1)
    assert allowing(registry, older) == (COMPATIBLE,)
    assert allowing(older, registry) == ALL


def test_modules_come_and_go_as_the_policy_says(registry):
    one, two = {"m": registry}, {"m": registry, "n": registry}
    assert [not check_compatible(one, two, policy) for policy in ALL] == [True, True, False]
    assert not any(not check_compatible(two, one, policy) for policy in ALL)
