"""The package `language`, which uses every feature of Move, compared with Sui's VM.

It is compiled with Sui's compiler from the sources beside it.
"""

from pathlib import Path

import pytest

from nexus_tools.sui.bytecode import deserialize
from nexus_tools.sui.localnet.compiler import sources_digest
from nexus_tools.sui.types.address import Address

FOLDER = Path(__file__).parent / "language"
LANGUAGE = Address.of(0xC0DE)
MODULES = ["integers", "control", "enums", "references", "generics", "calls"]
ROUNDS = 8


@pytest.fixture
def language(exposed_packages, language_files):
    exposed_packages.publish(LANGUAGE, list(map(deserialize, language_files.values())))
    return exposed_packages


@pytest.mark.parametrize("name", MODULES)
def test_module_functions_match_sui_vm(language, compare_module, name):
    coverages = compare_module(LANGUAGE, name, ROUNDS)
    assert all(coverage.compared for coverage in coverages)
    assert sum(coverage.succeeded > 0 for coverage in coverages) > 5


@pytest.mark.parametrize("times", [1023, 1024])
def test_calls_nest_as_deep_as_in_sui_vm(language, times):
    from differential.comparison import Differential

    comparing = Differential(language, "")
    returned = comparing.compare_call(LANGUAGE, "calls", "descend", [times]).succeeded
    assert comparing.differences == []
    assert bool(returned) is (times == 1023)


def test_bytecode_matches_its_sources():
    recorded = (FOLDER / "bytecode" / "sources.blake2b").read_text().strip()
    assert sources_digest(FOLDER) == recorded
