"""Encrypted keys wherever a key is taken: commands, the Leader, programs."""

import pytest

from nexus_tools.settings.settings import Settings
from nexus_tools.sui.keystore import Wallet
from nexus_tools.sui.keystore import encrypted_keys as module
from nexus_tools.sui.types.address import Address

SECRET = "correct horse battery staple"
WORDS = {"NEXUS_TOOLS_PASSPHRASE": SECRET}


@pytest.fixture(autouse=True)
def cheap(monkeypatch):
    monkeypatch.setattr(module, "COST", 2)


@pytest.fixture
def vault(home):
    home.json("wallet", "new", "vault", "--encrypt", **WORDS)
    return home


def test_encrypted_key_is_listed_and_exported(vault):
    vault.json("wallet", "new", "plain")
    rows = vault.json("wallet", "list")
    assert {row["alias"]: row["encrypted"] for row in rows} == {"vault": True, "plain": False}
    lines = vault.run("wallet", "list", COLUMNS="200").stdout.splitlines()
    assert any(line.split()[-1:] == ["Encrypted"] for line in lines)
    assert {line.split()[0]: line.split()[-1] for line in lines if "0x" in line} == {
        "vault": "yes",
        "plain": "no",
    }
    exported = vault.run("wallet", "export", "vault", "--yes", **WORDS).stdout
    assert exported.startswith("suiprivkey1")


@pytest.mark.parametrize(
    ("environment", "error"),
    [
        ({}, (2, "passphrase_missing")),
        ({"NEXUS_TOOLS_PASSPHRASE": "wrong"}, (8, "passphrase_wrong")),
        ({"NEXUS_TOOLS_PASSPHRASE_FILE": "/nowhere"}, (2, "passphrase_file_invalid")),
    ],
)
def test_export_fails_without_the_right_passphrase(vault, environment, error):
    assert vault.fails("wallet", "export", "vault", "--yes", **environment) == error


def test_import_encrypts_the_key(home, tmp_path):
    made = home.json("wallet", "new", "plain")
    secret = home.run("wallet", "export", "plain", "--yes").stdout.strip()
    imports = ("wallet", "import", "--secret", secret, "--encrypt")
    assert home.fails(*imports, **WORDS) == (2, "key_unencrypted")
    other = {"NEXUS_TOOLS_KEYSTORE": str(tmp_path / "other.keystore")}
    assert home.json(*imports, **WORDS, **other)["address"] == made["address"]
    assert Wallet(tmp_path / "other.keystore", lambda _: SECRET).signer().to_bech32() == secret


def test_short_passphrase_is_rejected(home):
    new = ("wallet", "new", "vault", "--encrypt")
    assert home.fails(*new, NEXUS_TOOLS_PASSPHRASE="7 chars") == (2, "passphrase_too_short")
    assert home.json("wallet", "list") == []
    home.json(*new, NEXUS_TOOLS_PASSPHRASE="8 chars.")


def test_taken_alias_is_rejected_before_the_passphrase_prompt(vault):
    assert vault.fails("wallet", "new", "vault", "--encrypt") == (2, "alias_taken")


def test_passphrase_and_secret_are_in_no_output_and_no_file(vault, tmp_path):
    wrong = vault.run("wallet", "export", "vault", "--yes", NEXUS_TOOLS_PASSPHRASE="wr0ng words")
    assert "wr0ng words" not in wrong.stdout + wrong.stderr
    key = Wallet(vault.data / "sui.keystore", lambda _: SECRET).signer()
    files = [path for path in vault.folder.rglob("*") if path.is_file()]
    assert files
    for path in files:
        content = path.read_bytes()
        assert SECRET.encode() not in content
        assert key.secret not in content
        assert key.to_keystore().encode() not in content


def test_settings_find_encrypted_key_with_passphrase_variable(vault, monkeypatch):
    for name, value in (vault.environment | WORDS).items():
        monkeypatch.setenv(name, value)
    assert (
        str(Settings.load().find_key("vault").address) == vault.json("wallet", "list")[0]["address"]
    )


def test_missing_passphrase_error_of_a_new_key_does_not_say_open(home):
    result = home.run("wallet", "new", "vault", "--encrypt", "--json")
    assert (result.code, result.error["code"]) == (2, "passphrase_missing")
    assert "open" not in result.error["message"]


def test_read_only_commands_need_no_passphrase(author, chain):
    address = author.json("wallet", "new", "vault", "--encrypt", **WORDS)["address"]
    chain.fund(Address.parse(address), 10**9)
    status = author.json("status", "-w", "vault")
    assert (status["address"], status["money"]["balance_mist"]) == (address, 10**9)
    assert author.json("leader", "status", "-w", "vault") == []
    assert author.json("invocation", "list", "-w", "vault") == []
    given = author.json("localnet", "faucet", "--amount", "2", "-w", "vault")
    assert (given["address"], given["amount_mist"]) == (address, 2 * 10**9)


def test_encrypted_key_signs_transactions(author, chain):
    made = author.json("wallet", "new", "vault", "--encrypt", **WORDS)
    chain.fund(Address.parse(made["address"]), 10**9)
    sends = ("wallet", "transfer", "-w", "vault", "0x" + "7" * 64, "0.1", "--yes")
    assert author.fails(*sends) == (2, "passphrase_missing")
    assert author.json(*sends, **WORDS)["amount_mist"] == 10**8
