"""What every test shares: async tests run on asyncio; the package as its next version might be."""

from dataclasses import replace

import pytest

from nexus_tools.localnet.bytecode.digest import package_digest
from nexus_tools.registry import load_package


@pytest.fixture(scope="session")
def anyio_backend():
    return "asyncio"


@pytest.fixture(scope="session")
def next_version():
    """Makes the package with another `VERSION` in both registries.

    The constant is in the constant pool: the type `u64` (3), the length 8, and the number. Where
    the code of an error is the same number, that changes, too: nothing here looks at it. So `number`
    is best one that is no other constant of the modules: equal constants would be one.
    """

    def next_version(number=1_001):
        package = load_package()
        present, following = (b"\x03\x08" + each.to_bytes(8, "little") for each in (1, number))
        modules = list(package.modules)
        for place in (4, 6):  # tool_registry and leader_registry
            assert modules[place].count(present) == 1
            modules[place] = modules[place].replace(present, following)
        digest = package_digest(modules, package.dependencies)
        return replace(package, modules=tuple(modules), digest=digest)

    return next_version
