import importlib.util
import subprocess
import sys

import pytest

from nexus_tools.errors import NotFoundError, ValidationError
from nexus_tools.sui.bytecode import deserialize
from nexus_tools.sui.localnet.framework import load_framework, loader
from nexus_tools.sui.types.address import MOVE_STDLIB, SUI_FRAMEWORK, SUI_SYSTEM


def test_packages_have_module_counts_of_release():
    sizes = {address[-1]: len(package.modules) for address, package in load_framework().items()}
    assert sizes == {1: 22, 2: 61, 3: 11}


# The sizes of the files in Sui's own `framework_bytecode` at mainnet-v1.62.1, which hold BCS of
# `vector<vector<u8>>`. A length above 127 takes two bytes there, and none is above 16 383.
@pytest.mark.parametrize(
    ("address", "size"), [(MOVE_STDLIB, 17_780), (SUI_FRAMEWORK, 88_320), (SUI_SYSTEM, 49_040)]
)
def test_packages_have_sizes_of_release(address, size):
    lengths = [len(module) for module in load_framework()[address].modules]
    assert 1 + sum(length + (1 if length < 128 else 2) for length in lengths) == size


def test_modules_have_address_of_their_package():
    for address, package in load_framework().items():
        assert {deserialize(module).address for module in package.modules} == {address}
        assert package.address == address


def test_packages_depend_on_previous_ones():
    dependencies = {a[-1]: [d[-1] for d in p.dependencies] for a, p in load_framework().items()}
    assert dependencies == {1: [], 2: [1], 3: [1, 2]}


def test_modules_refer_only_to_package_and_its_dependencies():
    for package in load_framework().values():
        known = {package.address, *package.dependencies}
        for module in map(deserialize, package.modules):
            assert {module.module_id(i)[0] for i in range(len(module.module_handles))} <= known


def test_framework_is_immutable():
    with pytest.raises(TypeError):
        load_framework()[MOVE_STDLIB] = None


def test_wheel_is_read_without_import():
    program = (
        "import sys; from nexus_tools.sui.localnet.framework import load_framework;"
        "load_framework(); sys.exit('sui_sandbox' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_missing_wheel_is_reported_with_its_extra(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(NotFoundError, match=r"sui-sandbox.* is not installed") as caught:
        loader.find_library()
    assert caught.value.hint == "Run `pip install 'nexus-tools[localnet]'`."


def test_other_framework_is_rejected_with_expected_version(monkeypatch, tmp_path):
    library = bytearray(loader.find_library().read_bytes())
    module = load_framework()[SUI_FRAMEWORK].modules[0]
    library[library.find(module) + len(module) // 2] ^= 1
    changed = tmp_path / "library.so"
    changed.write_bytes(library)
    monkeypatch.setattr(loader, "find_library", lambda: changed)
    with pytest.raises(ValidationError, match=r"1\.62\.1: 0x2 not found") as caught:
        load_framework.__wrapped__()
    assert caught.value.code == "framework_version_mismatch"
