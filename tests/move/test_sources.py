"""The Move sources and the bytecode that is shipped: no compiler is needed to compare them."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from nexus_tools.bytecode import check_publishable, deserialize, package_digest
from nexus_tools.localnet.compiler import sources_digest
from nexus_tools.move_source import read_modules

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "move" / "nexus_tools"
BYTECODE = ROOT / "nexus_tools" / "package" / "bytecode"
MODULES = sorted(path.stem for path in (PACKAGE / "sources").glob("*.move"))


def source(name):
    """What a module declares."""
    (module,) = read_modules((PACKAGE / "sources" / f"{name}.move").read_text())
    return module


def errors(name):
    return [each for each in source(name).constants if re.match("E[A-Z][a-z]", each.name)]


def unit_tests():
    return "\n".join(path.read_text() for path in (PACKAGE / "tests").glob("*.move"))


@pytest.fixture
def manifest():
    return json.loads((BYTECODE / "package.json").read_text())


def test_bytecode_was_made_from_these_sources(manifest):
    hint = "the Move sources changed: run scripts/move build"
    assert manifest["sources_digest"] == sources_digest(PACKAGE), hint


def test_every_module_is_shipped(manifest):
    shipped = {path.stem: deserialize(path.read_bytes()) for path in BYTECODE.glob("*.mv")}
    assert sorted(manifest["modules"]) == sorted(shipped) == MODULES
    assert all(module.name == name for name, module in shipped.items())


def test_package_digest_is_that_of_the_shipped_modules(manifest):
    modules = [(BYTECODE / f"{name}.mv").read_bytes() for name in manifest["modules"]]
    dependencies = [bytes.fromhex(text.removeprefix("0x")) for text in manifest["dependencies"]]
    assert package_digest(modules, dependencies).hex() == manifest["digest"]


def test_modules_are_publishable_and_within_the_size_limit(manifest):
    modules = [(BYTECODE / f"{name}.mv").read_bytes() for name in manifest["modules"]]
    for module in map(deserialize, modules):
        check_publishable(module)
        assert module.address == bytes(32)
    # Sui: `max_move_package_size`.
    assert sum(map(len, modules)) < 100 * 1024


def test_no_test_code_is_shipped(manifest):
    modules = [deserialize((BYTECODE / f"{name}.mv").read_bytes()) for name in manifest["modules"]]
    names = {name for module in modules for name in module.identifiers}
    assert not [name for name in names if name.endswith("_for_testing")]


@pytest.mark.parametrize("module", MODULES)
def test_errors_of_a_module_are_documented_and_numbered_from_0(module):
    numbers = [(each.type, *each.value) for each in errors(module)]
    assert numbers == [("u64", str(number)) for number in range(len(numbers))]
    assert all(each.doc for each in errors(module))


ERRORS = [(module, each.name) for module in MODULES for each in errors(module)]


@pytest.mark.parametrize(("module", "name"), ERRORS)
def test_error_has_a_failure_test(module, name):
    assert f"expected_failure(abort_code = {module}::{name})" in unit_tests()


@pytest.mark.parametrize("module", MODULES)
def test_public_items_of_a_module_are_documented(module):
    read = source(module)
    public = [each for each in (*read.structs, *read.enums) if each.is_public]
    public += [each for each in read.functions if each.visibility == "public"]
    shipped = [each for each in public if not each.attributes]
    assert [each.name for each in shipped if not each.doc] == []


def test_every_event_is_checked_field_by_field():
    events = [
        f"{module}::{struct.name}"
        for module in MODULES
        for struct in source(module).structs
        if struct.abilities == ("copy", "drop")
    ]
    told = (PACKAGE / "tests" / "event_tests.move").read_text()
    assert len(events) == 29
    assert [event for event in events if f"told<{event}>()" not in told] == []


def test_tests_have_names_of_their_own():
    for path in (PACKAGE / "tests").glob("*.move"):
        (module,) = read_modules(path.read_text())
        names = [function.name for function in module.functions]
        assert [name for name, count in Counter(names).items() if count > 1] == []
