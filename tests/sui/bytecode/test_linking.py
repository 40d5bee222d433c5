"""Handles for other modules compared with declarations, by edits of the framework in memory."""

import pytest
from msgspec.structs import replace

from nexus_tools.sui.bytecode import Ability, Visibility, deserialize, mismatches
from nexus_tools.sui.localnet.framework import load_framework
from nexus_tools.sui.types.address import MOVE_STDLIB, SUI_FRAMEWORK

DYNAMIC_FIELD = (bytes(SUI_FRAMEWORK), "dynamic_field")
OBJECT = (bytes(SUI_FRAMEWORK), "object")


@pytest.fixture(scope="module")
def framework():
    """Return all modules by address and name."""
    modules = [
        deserialize(data)
        for address in (MOVE_STDLIB, SUI_FRAMEWORK)
        for data in load_framework()[bytes(address)].modules
    ]
    return {(module.address, module.name): module for module in modules}


@pytest.fixture
def found(framework):
    """Return the mismatches of `sui::table` with replaced modules."""

    def found(**changed):
        modules = framework | {(bytes(SUI_FRAMEWORK), name): new for name, new in changed.items()}
        table = framework[bytes(SUI_FRAMEWORK), "table"]
        return [
            (mismatch.module, mismatch.name, mismatch.is_missing)
            for mismatch in mismatches(table, modules.get)
        ]

    return found


def declared(module, name, **changes):
    """Return the module with another declaration of a function."""
    rows = [
        replace(row, **changes) if module.function_id(row.handle)[2] == name else row
        for row in module.function_definitions
    ]
    return replace(module, function_definitions=tuple(rows))


def test_modules_of_one_release_are_compatible(framework):
    for module in framework.values():
        assert not list(mismatches(module, framework.get))


def test_missing_module_is_named_once(found):
    assert found(dynamic_field=None) == [(DYNAMIC_FIELD, "", True)]


def test_no_longer_public_function_is_missing(found, framework):
    private = declared(framework[DYNAMIC_FIELD], "add", visibility=Visibility.PRIVATE)
    assert found(dynamic_field=private) == [(DYNAMIC_FIELD, "add", True)]


def test_friend_function_is_available_only_to_friends(found, framework):
    module = declared(framework[DYNAMIC_FIELD], "add", visibility=Visibility.FRIEND)
    assert found(dynamic_field=replace(module, friends=())) == [(DYNAMIC_FIELD, "add", True)]


def test_all_functions_with_other_signatures_are_named(found, framework):
    module = framework[DYNAMIC_FIELD]
    nothing = module.signatures.index(())
    handles = tuple(
        replace(row, returns=nothing)
        if row.module == module.self_handle and module.identifiers[row.name] in ("add", "remove")
        else row
        for row in module.function_handles
    )
    # `add` gives nothing anyway.
    assert found(dynamic_field=replace(module, function_handles=handles)) == [
        (DYNAMIC_FIELD, "remove", False)
    ]


def test_type_with_fewer_abilities_than_assumed_is_a_mismatch(found, framework):
    module = framework[OBJECT]
    handles = tuple(
        replace(row, abilities=Ability(0)) if module.identifiers[row.name] == "UID" else row
        for row in module.datatype_handles
    )
    assert found(object=replace(module, datatype_handles=handles)) == [(OBJECT, "UID", False)]
