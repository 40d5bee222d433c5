"""A byte order mark is read in every file that users edit."""

import json

import pytest

from nexus_tools.bridges.mcp.declaration import declared_servers
from nexus_tools.settings.passphrase import Passphrase
from nexus_tools.settings.settings import Settings
from nexus_tools.sui.keystore import KeyPair, PysuiFiles, SuiFiles, Wallet
from nexus_tools.sui.localnet.compiler.sources import read_sources
from nexus_tools.sui.support.text_file import read_text, without_mark
from nexus_tools.testing.move_project import _document
from nexus_tools.tool import SigningKey

MARK = b"\xef\xbb\xbf"


@pytest.mark.parametrize("mark", [MARK, b""])
def test_read_text_drops_the_mark_and_keeps_the_rest(tmp_path, mark):
    path = tmp_path / "text"
    path.write_bytes(mark + "a\r\nä".encode())
    assert read_text(path) == "a\nä"
    assert without_mark(mark + b"a") == b"a"


def test_without_mark_drops_one_mark_at_the_start_alone():
    assert without_mark(MARK + b"a" + MARK) == b"a" + MARK


@pytest.fixture
def file(tmp_path):
    """Writes a file as Windows editors do: with a mark, and with CR LF."""

    def file(name, text):
        path = tmp_path / name
        path.write_bytes(MARK + text.replace("\n", "\r\n").encode())
        path.chmod(0o600)
        return path

    return file


def test_the_settings_are_read(file, monkeypatch):
    monkeypatch.setenv("NEXUS_TOOLS_CONFIG", str(file("c.toml", 'network = "testnet"\n')))
    assert Settings.load().values == {"network": "testnet"}


def test_keystores_are_read(file):
    entry = KeyPair.new().to_keystore()
    assert len(Wallet(file("sui.keystore", json.dumps([entry]))).accounts()) == 1


def test_the_files_of_other_programs_are_read(file, tmp_path):
    env = 'envs:\n  - alias: mine\n    rpc: "https://sui.example.com"\n'
    file("client.yaml", env)
    assert [each.name for each in SuiFiles(tmp_path).networks] == ["mine"]
    profile = {"profile_name": "mine", "url": "https://sui.example.com"}
    group = {"group_name": "sui_grpc_config", "profiles": [profile]}
    file("PysuiConfig.json", json.dumps({"groups": [group]}))
    assert [each.name for each in PysuiFiles(tmp_path).networks] == ["mine"]


def test_a_passphrase_and_a_signing_key_are_read(file, tmp_path):
    secret = file("secret", "several words\n")
    assert Passphrase.of({"passphrase_file": str(secret)})("key") == "several words"
    key = SigningKey.new()
    key.save(tmp_path / "key.pem")
    copy = file("copy.pem", (tmp_path / "key.pem").read_text())
    assert SigningKey.load(copy).public_key == key.public_key


def test_declarations_and_definitions_are_read(file):
    assert declared_servers(file("mcp.json", '{"mcpServers": {}}')) == {}
    assert _document(file("meta.json", '{"a": 1}')) == {"a": 1}


def test_a_move_package_is_read(file, tmp_path):
    file("Move.toml", '[package]\nname = "own"\n')
    (tmp_path / "sources").mkdir()
    file("sources/own.move", "module own::own;\n")
    assert read_sources(tmp_path) == {
        "Move.toml": '[package]\nname = "own"\n',
        "sources/own.move": "module own::own;\n",
    }
