"""The package `language`, which uses every feature of Move, against the genuine VM.

It is compiled with the genuine compiler from the sources beside it.
"""

from pathlib import Path

import pytest

from nexus_tools.localnet.compiler import sources_digest
from nexus_tools.sui.address import Address

FOLDER = Path(__file__).parent / "language"
LANGUAGE = Address.of(0xC0DE)
ROUNDS = {"integers": 4, "control": 12, "enums": 10, "references": 10, "generics": 8, "calls": 10}


@pytest.mark.parametrize(("name", "rounds"), ROUNDS.items())
def test_functions_of_the_module_do_what_they_do_in_the_genuine_vm(compare_module, name, rounds):
    assert compare_module(LANGUAGE, name, rounds) > 50


@pytest.mark.parametrize("times", [1024, 1025])
def test_calls_are_nested_as_deep_as_in_the_genuine_vm(machine, compare, times):
    compare(machine.function(LANGUAGE, "calls", "descend"), (), [times])


def test_the_bytecode_is_that_of_the_sources():
    recorded = (FOLDER / "bytecode" / "sources.blake2b").read_text().strip()
    assert sources_digest(FOLDER) == recorded
