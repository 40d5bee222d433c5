"""The package `language`, which uses every feature of Move, against the genuine VM.

It is compiled with the genuine compiler from the sources beside it.
"""

import pytest

from nexus_tools.localnet.vm import substitute
from nexus_tools.sui.address import Address

LANGUAGE = Address.of(0xC0DE)
ROUNDS = {"integers": 4, "control": 12, "enums": 12, "references": 10, "generics": 6, "calls": 10}


@pytest.mark.parametrize("name", ROUNDS)
def test_functions_of_the_module_do_what_they_do_in_the_genuine_vm(
    machine, compare, is_comparable, type_arguments_of, random_value, chance, name
):
    module = machine.package(LANGUAGE).module(name)
    for function in module.functions():
        for _ in range(ROUNDS[name]):
            type_arguments = type_arguments_of(chance, function)
            if not is_comparable(function, type_arguments):
                break
            types = [substitute(type_, type_arguments) for type_ in function.parameters]
            compare(function, type_arguments, [random_value(chance, type_) for type_ in types])
