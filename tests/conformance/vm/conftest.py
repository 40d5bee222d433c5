"""The comparison with Sui's VM: the same function and arguments must have the same outcome.

`scripts/genuine` is Sui's VM; `scripts/differential` calls both.
"""

from pathlib import Path

import pytest

from nexus_tools.sui.bytecode import relocate
from nexus_tools.sui.types.address import Address

LANGUAGE = Address.of(0xC0DE)
BYTECODE = Path(__file__).parent / "language" / "bytecode"


@pytest.fixture(scope="session")
def language_files():
    """Return the compiled modules of `language/`, with the address at which they are published."""
    return {
        path.stem: relocate(path.read_bytes(), LANGUAGE) for path in sorted(BYTECODE.glob("*.mv"))
    }


@pytest.fixture(scope="session")
def exposed_packages():
    """Return the framework with all functions public, for both machines."""
    from differential.exposed_packages import framework

    return framework()


@pytest.fixture
def compare_module(request, exposed_packages):
    """Return compare_module(package, name, rounds), which asserts equal behaviour of both machines.

    Each function is called `rounds` times. The arguments are the same in every run of a test. It
    returns the findings for each function.
    """
    from differential.comparison import Differential

    comparing = Differential(exposed_packages, request.node.name)

    def compare_functions(package, name, rounds):
        coverages = comparing.compare_module(package, name, rounds)
        assert comparing.differences == []
        return coverages

    return compare_functions
