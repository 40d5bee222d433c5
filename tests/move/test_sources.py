"""The Move sources and the shipped bytecode, compared without a compiler."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from nexus_tools.sui.bytecode import check_publishable, deserialize, package_digest
from nexus_tools.sui.localnet.compiler import sources_digest
from nexus_tools.sui.move_source import read_modules

ROOT = Path(__file__).parents[2]
OURS = ROOT / "nexus_tools" / "contracts"
BYTECODE = {
    "nexus_tools": OURS / "bytecode",
    "nexus_workflows": OURS / "workflows" / "bytecode",
    "upgrade_lock": OURS / "upgrade_lock" / "bytecode",
}
FOLDERS = {
    path.stem: path.parents[1]
    for name in BYTECODE
    for path in sorted((ROOT / "move" / name / "sources").glob("*.move"))
}
MODULES = sorted(FOLDERS)


def source(name):
    """Return the declarations of a module."""
    (module,) = read_modules((FOLDERS[name] / "sources" / f"{name}.move").read_text())
    return module


def errors(name):
    return [item for item in source(name).constants if re.match("E[A-Z][a-z]", item.name)]


def unit_tests():
    return "\n".join(path.read_text() for path in (ROOT / "move").glob("*/tests/*.move"))


@pytest.fixture(params=sorted(BYTECODE))
def package(request):
    """Return each of our packages: the folder of its sources, and its bytecode."""
    return ROOT / "move" / request.param, BYTECODE[request.param]


@pytest.fixture
def manifest(package):
    return json.loads((package[1] / "package.json").read_text())


@pytest.fixture
def modules(package, manifest):
    """Return the shipped modules as bytes, by name."""
    return {name: (package[1] / f"{name}.mv").read_bytes() for name in manifest["modules"]}


def test_bytecode_was_made_from_these_sources(package, manifest):
    hint = "the Move sources changed: run scripts/move build"
    assert manifest["sources_digest"] == sources_digest(package[0]), hint


def test_all_modules_are_shipped(package, modules):
    written = sorted(path.stem for path in (package[0] / "sources").glob("*.move"))
    assert sorted(modules) == sorted(path.stem for path in package[1].glob("*.mv")) == written
    assert all(deserialize(code).name == name for name, code in modules.items())


def test_package_digest_matches_shipped_modules(manifest, modules):
    dependencies = [bytes.fromhex(text.removeprefix("0x")) for text in manifest["dependencies"]]
    assert package_digest(modules.values(), dependencies).hex() == manifest["digest"]


def test_modules_are_publishable_and_within_size_limit(modules):
    for module in map(deserialize, modules.values()):
        check_publishable(module)
        assert module.address == bytes(32)
    # Sui: `max_move_package_size`.
    assert sum(map(len, modules.values())) < 100 * 1024


def test_no_test_code_is_shipped(modules):
    names = {name for code in modules.values() for name in deserialize(code).identifiers}
    assert not [name for name in names if name.endswith("_for_testing")]


@pytest.mark.parametrize("module", MODULES)
def test_module_errors_are_documented_and_numbered_from_0(module):
    numbers = [(item.type, *item.value) for item in errors(module)]
    assert numbers == [("u64", str(number)) for number in range(len(numbers))]
    assert all(item.doc for item in errors(module))


ERRORS = [(module, item.name) for module in MODULES for item in errors(module)]


@pytest.mark.parametrize(("module", "name"), ERRORS)
def test_error_has_a_failure_test(module, name):
    assert f"expected_failure(abort_code = {module}::{name})" in unit_tests()


@pytest.mark.parametrize("module", MODULES)
def test_public_items_of_a_module_are_documented(module):
    read = source(module)
    public = [item for item in (*read.structs, *read.enums) if item.is_public]
    public += [item for item in read.functions if item.visibility == "public"]
    shipped = [item for item in public if not item.attributes]
    assert [item.name for item in shipped if not item.doc] == []


def test_functions_that_change_shared_objects_check_the_sender():
    """An on-chain tool's function has no `TxContext`, so it can call only the listed functions."""
    shared = {
        struct.name
        for module in MODULES
        for struct in source(module).structs
        if "key" in struct.abilities and "store" not in struct.abilities
    }
    changed = {*shared, *(f"&mut {name}" for name in shared), "&mut Call"}
    found = {
        f"{module}::{function.name}"
        for module in MODULES
        if FOLDERS[module].name != "upgrade_lock"
        for function in source(module).functions
        if function.visibility == "public" and not function.attributes
        for types in [[parameter.type for parameter in function.parameters]]
        if changed.intersection(types) and not any("TxContext" in kind for kind in types)
    }
    with_uid = {"invocation::withdraw_remainder", "invocation::delete_attempt"}
    with_witness = {"on_chain_call::finish", "waiting::expire", "waiting::finish_wait"}
    before_sharing = {
        *(f"{module}::share" for module in ("execution", "leader", "name", "schedule", "tool")),
        *(name for name in found if name.startswith("dag::")),  # published workflows are frozen
        "execution::add_entry_values",
    }
    by_anyone = {
        "execution::expire",
        "execution::refill",
        "invocation::expire",
        "schedule::collect",
        "schedule::refill",
    }
    assert found - before_sharing == with_uid | with_witness | by_anyone


def test_all_events_are_checked_field_by_field():
    events = [
        f"{module}::{struct.name}"
        for module in MODULES
        for struct in source(module).structs
        if struct.abilities == ("copy", "drop")
    ]
    assert len(events) == 63
    # Those of workflows are compared on a chain: tests/executions, tests/registry/test_workflows.
    events = [item for item in events if not item.startswith(("dag::", "execution::"))]
    tests = unit_tests()
    assert [event for event in events if f"<{event}>()" not in tests] == []


def test_move_tests_have_unique_names():
    for path in (ROOT / "move").glob("*/tests/*.move"):
        (module,) = read_modules(path.read_text())
        names = [function.name for function in module.functions]
        assert [name for name, count in Counter(names).items() if count > 1] == []
