"""Byte order marks in all files that users edit."""

import json

import pytest

from nexus_tools.bridges.mcp.declaration import read_servers
from nexus_tools.settings.passphrase import Passphrase
from nexus_tools.settings.settings import Settings
from nexus_tools.sui.keystore import KeyPair, PysuiConfigFile, SuiCliConfig, Wallet
from nexus_tools.sui.localnet.compiler.sources import read_sources
from nexus_tools.sui.support.text_file import read_text, without_byte_order_mark
from nexus_tools.testing.move_project import _document
from nexus_tools.tool import SigningKey

MARK = b"\xef\xbb\xbf"


@pytest.mark.parametrize("mark", [MARK, b""])
def test_read_text_drops_the_byte_order_mark(tmp_path, mark):
    path = tmp_path / "text"
    path.write_bytes(mark + "a\r\nä".encode())
    assert read_text(path) == "a\nä"
    assert without_byte_order_mark(mark + b"a") == b"a"


def test_without_mark_drops_only_first_mark():
    assert without_byte_order_mark(MARK + b"a" + MARK) == b"a" + MARK


@pytest.fixture
def file(tmp_path):
    """Return a function that writes a file as Windows editors do: with a mark and CR LF."""

    def file(name, text):
        path = tmp_path / name
        path.write_bytes(MARK + text.replace("\n", "\r\n").encode())
        path.chmod(0o600)
        return path

    return file


def test_settings_file_may_have_mark(file, monkeypatch):
    monkeypatch.setenv("NEXUS_TOOLS_CONFIG", str(file("c.toml", 'network = "testnet"\n')))
    assert Settings.load().values == {"network": "testnet"}


def test_keystores_may_have_mark(file):
    entry = KeyPair.new().to_keystore()
    assert len(Wallet(file("sui.keystore", json.dumps([entry]))).accounts()) == 1


def test_files_of_other_programs_may_have_mark(file, tmp_path):
    env = 'envs:\n  - alias: mine\n    rpc: "https://sui.example.com"\n'
    file("client.yaml", env)
    assert [network.name for network in SuiCliConfig(tmp_path).networks] == ["mine"]
    profile = {"profile_name": "mine", "url": "https://sui.example.com"}
    group = {"group_name": "sui_grpc_config", "profiles": [profile]}
    file("PysuiConfig.json", json.dumps({"groups": [group]}))
    assert [network.name for network in PysuiConfigFile(tmp_path).networks] == ["mine"]


def test_passphrase_and_signing_key_may_have_mark(file, tmp_path):
    secret = file("secret", "several words\n")
    assert Passphrase.of({"passphrase_file": str(secret)})("key") == "several words"
    key = SigningKey.new()
    key.save(tmp_path / "key.pem")
    copy = file("copy.pem", (tmp_path / "key.pem").read_text())
    assert SigningKey.load(copy).public_key == key.public_key


def test_declarations_and_definitions_may_have_mark(file):
    assert read_servers(file("mcp.json", '{"mcpServers": {}}')) == {}
    assert _document(file("meta.json", '{"a": 1}')) == {"a": 1}


def test_move_package_may_have_mark(file, tmp_path):
    file("Move.toml", '[package]\nname = "own"\n')
    (tmp_path / "sources").mkdir()
    file("sources/own.move", "module own::own;\n")
    assert read_sources(tmp_path) == {
        "Move.toml": '[package]\nname = "own"\n',
        "sources/own.move": "module own::own;\n",
    }
