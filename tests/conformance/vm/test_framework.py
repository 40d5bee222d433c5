"""The public functions of the framework, with random arguments, against the genuine VM."""

import pytest

from nexus_tools.localnet.bytecode import deserialize
from nexus_tools.localnet.framework import load_framework
from nexus_tools.sui.address import Address

ROUNDS = 4
MODULES = [
    (package.address[-1], deserialize(file).name)
    for package in load_framework().values()
    for file in package.modules
]


@pytest.mark.parametrize(("package", "name"), MODULES)
def test_functions_of_the_module_do_what_they_do_in_the_genuine_vm(compare_module, package, name):
    compare_module(Address.of(package), name, ROUNDS)
