"""The Move sources and the bytecode that is shipped: no compiler is needed to compare them."""

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
    """What a module declares."""
    (module,) = read_modules((FOLDERS[name] / "sources" / f"{name}.move").read_text())
    return module


def errors(name):
    return [each for each in source(name).constants if re.match("E[A-Z][a-z]", each.name)]


def unit_tests():
    return "\n".join(path.read_text() for path in (ROOT / "move").glob("*/tests/*.move"))


@pytest.fixture(params=sorted(BYTECODE))
def package(request):
    """Each of our packages: where its sources are, and its bytecode."""
    return ROOT / "move" / request.param, BYTECODE[request.param]


@pytest.fixture
def manifest(package):
    return json.loads((package[1] / "package.json").read_text())


@pytest.fixture
def modules(package, manifest):
    """The shipped modules as bytes, by name."""
    return {name: (package[1] / f"{name}.mv").read_bytes() for name in manifest["modules"]}


def test_bytecode_was_made_from_these_sources(package, manifest):
    hint = "the Move sources changed: run scripts/move build"
    assert manifest["sources_digest"] == sources_digest(package[0]), hint


def test_every_module_is_shipped(package, modules):
    written = sorted(path.stem for path in (package[0] / "sources").glob("*.move"))
    assert sorted(modules) == sorted(path.stem for path in package[1].glob("*.mv")) == written
    assert all(deserialize(code).name == name for name, code in modules.items())


def test_package_digest_is_that_of_the_shipped_modules(manifest, modules):
    dependencies = [bytes.fromhex(text.removeprefix("0x")) for text in manifest["dependencies"]]
    assert package_digest(modules.values(), dependencies).hex() == manifest["digest"]


def test_modules_are_publishable_and_within_the_size_limit(modules):
    for module in map(deserialize, modules.values()):
        check_publishable(module)
        assert module.address == bytes(32)
    # Sui: `max_move_package_size`.
    assert sum(map(len, modules.values())) < 100 * 1024


def test_no_test_code_is_shipped(modules):
    names = {name for code in modules.values() for name in deserialize(code).identifiers}
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
    assert len(events) == 62
    # Those of workflows are compared on a chain: tests/executions, tests/registry/test_workflows.
    events = [each for each in events if not each.startswith(("dag::", "execution::"))]
    told = unit_tests()
    assert [event for event in events if f"told<{event}>()" not in told] == []


def test_tests_have_names_of_their_own():
    for path in (ROOT / "move").glob("*/tests/*.move"):
        (module,) = read_modules(path.read_text())
        names = [function.name for function in module.functions]
        assert [name for name, count in Counter(names).items() if count > 1] == []
