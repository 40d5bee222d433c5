"""All functions of the framework, including private ones, compared with Sui's VM."""

import pytest

from nexus_tools.sui.bytecode import deserialize
from nexus_tools.sui.localnet.framework import load_framework
from nexus_tools.sui.types.address import Address

ROUNDS = 2
MODULES = [
    (package.address[-1], deserialize(file).name)
    for package in load_framework().values()
    for file in package.modules
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
