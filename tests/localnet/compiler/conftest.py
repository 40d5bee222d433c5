"""The compiler, where it is installed: `scripts/move build` puts it into `.cache`."""

from pathlib import Path

import pytest

from nexus_tools.localnet.compiler.install import WASM_PATH

ROOT = Path(__file__).parents[3]
DIST = ROOT / ".cache" / "sui-move-builder" / "dist"

MANIFEST = '[package]\nname = "sample"\nedition = "2024"\n\n[addresses]\nsample = "0x0"\n'


@pytest.fixture(scope="session")
def dist():
    if not (DIST / WASM_PATH).is_file():
        pytest.skip("the Move compiler is not installed: scripts/move build fetches it")
    return DIST


@pytest.fixture(scope="session")
def builder(dist):
    pytest.importorskip("wasmtime", reason="the extra `compiler` is not installed")
    from nexus_tools.localnet.compiler import MoveBuilder

    return MoveBuilder(dist, ROOT / ".cache" / "wasmtime")


@pytest.fixture
def package():
    """Make the sources of a package with one module `sample::main` from the module's body."""
    return lambda body, manifest=MANIFEST: {
        "Move.toml": manifest,
        "sources/main.move": f"module sample::main;\n\n{body}\n",
    }
