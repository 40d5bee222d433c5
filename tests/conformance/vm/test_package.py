"""All functions of our own Move package, including private ones, compared with Sui's VM."""

import pytest

from nexus_tools.contracts import load_package
from nexus_tools.sui.bytecode import deserialize, relocate
from nexus_tools.sui.types.address import Address

PACKAGE = Address.of(0xA11CE)
# .ci/run compares all other modules.
USUAL = ("definition", "fqn", "function", "keys", "payment")
MODULES = [
    pytest.param(name, marks=() if name in USUAL else pytest.mark.long)
    for name in sorted(deserialize(code).name for code in load_package().modules)
]
ROUNDS = 4


@pytest.fixture(scope="module")
def own_package(exposed_packages):
    from differential.hashing import with_known_hashes

    files = [relocate(code, PACKAGE) for code in load_package().modules]
    exposed_packages.publish(PACKAGE, with_known_hashes(PACKAGE, list(map(deserialize, files))))
    return PACKAGE


@pytest.mark.parametrize("name", MODULES)
def test_package_functions_match_sui_vm(own_package, compare_module, name):
    coverages = compare_module(own_package, name, ROUNDS)
    assert [coverage.name for coverage in coverages if not coverage.compared] == []
