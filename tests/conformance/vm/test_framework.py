"""The public functions of the framework, with random arguments, against the genuine VM."""

import pytest

from nexus_tools.localnet.bytecode import deserialize
from nexus_tools.localnet.framework import load_framework
from nexus_tools.localnet.vm import substitute
from nexus_tools.sui.address import Address

ROUNDS = 4
MODULES = [
    (package.address[-1], deserialize(file).name)
    for package in load_framework().values()
    for file in package.modules
]


@pytest.mark.parametrize(("package", "name"), MODULES)
def test_functions_of_the_module_do_what_they_do_in_the_genuine_vm(
    machine, compare, is_comparable, type_arguments_of, random_value, chance, package, name
):
    module = machine.package(Address.of(package)).module(name)
    for function in module.functions():
        for _ in range(ROUNDS):
            type_arguments = type_arguments_of(chance, function)
            if not is_comparable(function, type_arguments):
                break
            types = [substitute(type_, type_arguments) for type_ in function.parameters]
            values = [random_value(chance, type_) for type_ in types]
            compare(function, type_arguments, values)
