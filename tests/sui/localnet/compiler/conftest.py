"""The compiler, if it is installed: `scripts/move build` puts it into `.cache`."""

import pytest

MANIFEST = '[package]\nname = "sample"\nedition = "2024"\n\n[addresses]\nsample = "0x0"\n'


@pytest.fixture(scope="session")
def dist(compiler_cache):
    return compiler_cache / "sui-move-builder" / "dist"


@pytest.fixture(scope="session")
def builder(move_builder):
    return move_builder


@pytest.fixture
def package():
    """Make the sources of a package with one module `sample::main` from the module's body."""
    return lambda body, manifest=MANIFEST: {
        "Move.toml": manifest,
        "sources/main.move": f"module sample::main;\n\n{body}\n",
    }
