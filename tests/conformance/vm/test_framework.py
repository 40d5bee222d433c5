"""Every function of the framework, private ones too, against the genuine VM."""

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
def test_functions_of_the_module_do_what_they_do_in_the_genuine_vm_or_it_is_said_why_not(
    compare_module, package, name
):
    from differential.explained import Cause

    for coverage in compare_module(Address.of(package), name, ROUNDS):
        if coverage.compared:
            continue
        assert coverage.reasons, coverage.name
        for reason in coverage.reasons:
            assert reason.cause in {Cause.WHEELS_OWN, Cause.BREAKS}, coverage.name
