"""All functions of the framework, including private ones, compared with Sui's VM."""

import pytest

from nexus_tools.sui.bytecode import deserialize
from nexus_tools.sui.localnet.framework import load_framework
from nexus_tools.sui.types.address import Address

pytestmark = pytest.mark.long

ROUNDS = 2
# Integers, vectors, hashes, signatures, objects and balances. .ci/run compares all other modules.
USUAL = {
    *((1, "bcs"), (1, "u64"), (1, "vector")),
    *((2, "balance"), (2, "dynamic_field"), (2, "ed25519"), (2, "hash")),
    *((2, "object"), (2, "table"), (2, "vec_map")),
}
MODULES = [
    pytest.param(*module, marks=() if module in USUAL else pytest.mark.long)
    for package in load_framework().values()
    for module in ((package.address[-1], deserialize(file).name) for file in package.modules)
]


@pytest.mark.parametrize(("package", "name"), MODULES)
def test_module_functions_match_sui_vm_or_state_the_difference(compare_module, package, name):
    from differential.explained import Cause

    for coverage in compare_module(Address.of(package), name, ROUNDS):
        if coverage.compared:
            continue
        assert coverage.reasons, coverage.name
        for reason in coverage.reasons:
            assert reason.cause in {Cause.WHEELS_OWN, Cause.BREAKS}, coverage.name
