"""The Move sources and the bytecode that is shipped: no compiler is needed to compare them."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from nexus_tools.localnet.bytecode import check_publishable, deserialize, package_digest
from nexus_tools.localnet.bytecode.module import Visibility
from nexus_tools.localnet.compiler import sources_digest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "move" / "nexus_tools"
BYTECODE = ROOT / "nexus_tools" / "registry" / "bytecode"
MODULES = sorted(path.stem for path in (PACKAGE / "sources").glob("*.move"))

ERROR = re.compile(r"((?:^///.*\n)*)^const (E[A-Z]\w*): (u64) = (\d+);$", re.MULTILINE)


def source(module):
    return (PACKAGE / "sources" / f"{module}.move").read_text()


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


def test_events_are_emitted_by_the_package_alone():
    module = deserialize((BYTECODE / "events.mv").read_bytes())
    visibilities = {function.visibility for function in module.function_definitions}
    assert visibilities == {Visibility.FRIEND}


@pytest.mark.parametrize("module", MODULES)
def test_errors_of_a_module_are_documented_and_numbered_from_0(module):
    errors = ERROR.findall(source(module))
    assert [int(number) for _, _, _, number in errors] == list(range(len(errors)))
    assert all(comment for comment, _, _, _ in errors)
    assert len(errors) == len(re.findall(r"^const E[A-Z][a-z]", source(module), re.MULTILINE))


ERRORS = [(module, name) for module in MODULES for _, name, _, _ in ERROR.findall(source(module))]


@pytest.mark.parametrize(("module", "name"), ERRORS)
def test_error_has_a_failure_test(module, name):
    assert f"expected_failure(abort_code = {module}::{name})" in unit_tests()


@pytest.mark.parametrize("module", MODULES)
def test_public_items_of_a_module_are_documented(module):
    lines = source(module).splitlines()
    items = [i for i, line in enumerate(lines) if re.match(r"public (fun|struct|enum) ", line)]
    undocumented = [
        lines[i]
        for i in items
        if not lines[i - 1].startswith("///") and lines[i - 1] != "#[test_only]"
    ]
    assert undocumented == []


def test_every_event_is_checked_field_by_field():
    events = re.findall(r"^public struct (\w+)", source("events"), re.MULTILINE)
    told = (PACKAGE / "tests" / "event_tests.move").read_text()
    assert len(events) > 20
    assert [event for event in events if f"told<events::{event}>()" not in told] == []


def test_tests_have_names_of_their_own():
    for path in (PACKAGE / "tests").glob("*.move"):
        names = re.findall(r"^fun (\w+)", path.read_text(), re.MULTILINE)
        assert [name for name, count in Counter(names).items() if count > 1] == []
