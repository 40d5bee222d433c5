import subprocess
import sys

import pytest

from nexus_tools.errors import NotFoundError, ValidationError
from nexus_tools.sui.localnet.compiler import WASM_PATH, install_builder
from nexus_tools.sui.localnet.compiler.install import verified_wasm


def test_installed_compiler_is_the_pinned_one(dist):
    assert verified_wasm(dist) == dist / WASM_PATH


def test_installed_compiler_is_not_downloaded_again(dist, monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert install_builder(dist.parent) == dist


def test_other_compiler_is_rejected(tmp_path):
    (tmp_path / WASM_PATH).parent.mkdir()
    (tmp_path / WASM_PATH).write_bytes(b"\x00asm")
    with pytest.raises(ValidationError, match="SHA-256") as caught:
        verified_wasm(tmp_path)
    assert caught.value.code == "compiler_mismatch"


def test_missing_compiler_is_reported(tmp_path):
    with pytest.raises(NotFoundError, match=WASM_PATH):
        verified_wasm(tmp_path)


def test_download_fails_without_npm(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(NotFoundError, match=r"Node\.js"):
        install_builder(tmp_path)


def test_wasmtime_is_imported_only_to_build():
    program = (
        "import sys; from nexus_tools.sui.localnet.compiler import sources_digest;"
        "sys.exit('wasmtime' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
