"""Encrypted keys beside a keystore that the Sui CLI can still read."""

import json
from base64 import b64decode

import pytest

from nexus_tools.errors import NexusError
from nexus_tools.settings.passphrase import Passphrase
from nexus_tools.sui.keystore import KeyPair, Wallet
from nexus_tools.sui.keystore import encrypted_keys as module

WORDS = "correct horse battery staple"


@pytest.fixture(autouse=True)
def cheap(monkeypatch):
    """Use the lowest cost that scrypt allows."""
    monkeypatch.setattr(module, "COST", 2)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "sui.keystore"


def refusal(call):
    with pytest.raises(NexusError) as refused:
        call()
    return refused.value


def test_scrypt_uses_128_mebibytes(monkeypatch):
    monkeypatch.undo()
    # RFC 7914: 128 * N * r bytes.
    assert 128 * module.COST * 8 == 128 * 2**20


def test_encrypted_key_signs_with_its_passphrase(path):
    account, _ = Wallet(path).new("vault", passphrase=WORDS)
    wallet = Wallet(path, lambda alias: {"vault": WORDS}[alias])
    assert wallet.accounts() == (account,)
    assert account.encrypted
    assert wallet.signer().address == account.address
    assert wallet.export("vault").startswith("suiprivkey1")


@pytest.mark.parametrize("wrong", ["", "Correct horse battery staple", WORDS + " "])
def test_wrong_passphrase_raises_its_error_code(path, wrong):
    Wallet(path).new("vault", passphrase=WORDS)
    error = refusal(Wallet(path, lambda _: wrong).signer)
    assert error.code == "passphrase_wrong"
    assert WORDS not in str(error)
    assert error.__cause__ is None


def test_signer_fails_when_no_passphrase_is_available(path):
    Wallet(path).new("vault", passphrase=WORDS)
    assert refusal(Wallet(path).signer).code == "passphrase_missing"


def test_passphrase_is_unicode_normalized(path):
    Wallet(path).new(passphrase="Schlu\u0308ssel")
    assert Wallet(path, lambda _: "Schl\u00fcssel").signer()


def test_empty_passphrase_is_refused(path):
    error = refusal(lambda: Wallet(path).new(passphrase=""))
    assert error.code == "passphrase_empty"


def test_keystore_stays_readable_for_the_sui_cli(path):
    Wallet(path).new("vault", passphrase=WORDS)
    plain, _ = Wallet(path).new("plain")
    entries = json.loads(path.read_text())
    assert [len(b64decode(entry)) for entry in entries] == [33]
    aliases = json.loads(path.with_suffix(".aliases").read_text())
    assert [aliase["alias"] for aliase in aliases] == ["plain"]
    # The Sui CLI rewrites only its own files, so it does not lose the other one.
    path.write_text("[]")
    assert [account.alias for account in Wallet(path).accounts()] == ["vault"]
    assert plain.alias not in [account.alias for account in Wallet(path).accounts()]


def test_secret_is_in_no_file(path):
    wallet = Wallet(path, lambda _: WORDS)
    wallet.new("vault", passphrase=WORDS)
    key = wallet.signer()
    for file in path.parent.iterdir():
        text = file.read_text()
        assert key.to_keystore() not in text
        assert key.secret.hex() not in text
        assert WORDS not in text
    assert path.with_suffix(".encrypted").stat().st_mode & 0o777 == 0o600


def test_encrypted_key_is_renamed_used_and_removed_without_passphrase(path):
    Wallet(path).new("vault", passphrase=WORDS)
    Wallet(path).new("plain")
    Wallet(path).rename("vault", "safe")
    assert Wallet(path).use("safe").alias == "safe"
    assert Wallet(path, lambda alias: {"safe": WORDS}[alias]).signer("safe")
    Wallet(path).remove("safe")
    assert [account.alias for account in Wallet(path).accounts()] == ["plain"]
    assert json.loads(path.with_suffix(".encrypted").read_text()) == []


def test_two_keys_have_separate_passphrases(path):
    Wallet(path).new("one", passphrase="one")
    Wallet(path).new("two", passphrase="two")
    wallet = Wallet(path, lambda alias: alias)
    assert {wallet.signer(alias).address for alias in ("one", "two")} == {
        account.address for account in wallet.accounts()
    }


def test_add_refuses_to_encrypt_a_key_that_is_stored_unencrypted(path):
    key = KeyPair.new()
    Wallet(path).add(key, "plain")
    error = refusal(lambda: Wallet(path).add(key, passphrase=WORDS))
    assert error.code == "key_unencrypted"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("scrypt_cost", 2**30),
        ("scrypt_cost", 3),
        ("salt_base64", "?"),
        ("public_key_base64", "AA=="),
        ("secret_base64", None),
    ],
)
def test_modified_file_is_refused_or_does_not_decrypt(path, field, value):
    Wallet(path).new("vault", passphrase=WORDS)
    place = path.with_suffix(".encrypted")
    document = json.loads(place.read_text())
    document[0][field] = value
    place.write_text(json.dumps(document))
    wallet = Wallet(path)
    assert wallet.accounts() == ()
    assert [error.code for error in wallet.unreadable] == ["key_invalid"]


def test_public_key_cannot_be_exchanged(path):
    Wallet(path).new("vault", passphrase=WORDS)
    other = KeyPair.new()
    place = path.with_suffix(".encrypted")
    document = json.loads(place.read_text())
    document[0]["public_key_base64"] = module._base64(bytes([other.scheme]) + other.public_key)
    place.write_text(json.dumps(document))
    wallet = Wallet(path, lambda _: WORDS)
    assert refusal(lambda: wallet.signer("vault")).code == "passphrase_wrong"
    assert refusal(wallet.signer).code == "account_unknown"


# --- Sources of a passphrase


def test_passphrase_file_is_private_and_its_first_line_is_read(tmp_path):
    file = tmp_path / "passphrase"
    file.write_text(f"{WORDS}\r\nsomething else\n")
    file.chmod(0o600)
    assert Passphrase(file=file)("vault") == WORDS
    file.chmod(0o644)
    assert refusal(lambda: Passphrase(file=file)("vault")).code == "passphrase_file_invalid"
    missing = Passphrase(file=tmp_path / "missing")
    assert refusal(lambda: missing("vault")).code == "passphrase_file_invalid"


def test_passphrase_setting_comes_before_the_prompt():
    assert Passphrase(WORDS, prompt=lambda alias: alias)("vault") == WORDS
    assert Passphrase(prompt=lambda alias: alias)("vault") == "vault"
    assert WORDS not in repr(Passphrase(WORDS))
