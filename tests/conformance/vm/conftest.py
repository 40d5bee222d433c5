"""The VM beside the genuine one: the same function, the same arguments, the same outcome.

`scripts/genuine` is the genuine VM; `scripts/differential` asks both.
"""

from pathlib import Path

import pytest

from nexus_tools.sui.bytecode import relocate
from nexus_tools.sui.types.address import Address

LANGUAGE = Address.of(0xC0DE)
BYTECODE = Path(__file__).parent / "language" / "bytecode"


@pytest.fixture(scope="session")
def language_files():
    """The compiled modules of `language/`, with the address at which they are published here."""
    return {
        path.stem: relocate(path.read_bytes(), LANGUAGE) for path in sorted(BYTECODE.glob("*.mv"))
    }


@pytest.fixture(scope="session")
def exposed_packages():
    """The framework in both machines, with all its functions public."""
    from differential.exposed_packages import framework

    return framework()


@pytest.fixture
def compare_module(request, exposed_packages):
    """compare_module(package, name, rounds): assert that both machines do the same.

    Every function is called in as many ways as `rounds` says; the arguments are the same at every
    run of a test. Gives what is known of each function.
    """
    from differential.comparison import Differential

    comparing = Differential(exposed_packages, request.node.name)

    def compare_functions(package, name, rounds):
        coverages = comparing.compare_module(package, name, rounds)
        assert comparing.differences == []
        return coverages

    return compare_functions
