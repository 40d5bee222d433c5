import json
import stat

import pytest

from nexus_tools.errors import NotFoundError, UsageError, ValidationError
from nexus_tools.sui.keystore import KeyPair, Wallet
from nexus_tools.sui.signature import SignatureScheme
from nexus_tools.sui.support.private_file import write_private

# The first key of Mysten's TypeScript SDK's ed25519 vectors.
SUIPRIVKEY = "suiprivkey1qrwsjvr6gwaxmsvxk4cfun99ra8uwxg3c9pl0nhle7xxpe4s80y05ctazer"
ADDRESS = "0xa2d14fad60c56049ecf75246a481934691214ce413e6a8ae2fe6834c173a6133"
# base64 of the flag 0 and the secret, as the Sui command line keeps that key.
ENTRY = "AN0JMHpDum3BhrVwnkylH0/HGRHBQ/fO/8+MYOawO8j6"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "config" / "sui.keystore"


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_missing_file_is_an_empty_wallet_and_nothing_is_written(path):
    wallet = Wallet(path)
    assert wallet.accounts() == ()
    assert not path.exists()
    with pytest.raises(NotFoundError, match="does not contain any keys"):
        wallet.account()


def test_keystore_has_the_list_format_of_the_sui_cli(path):
    Wallet(path).add(KeyPair.parse(SUIPRIVKEY), "alice")
    assert json.loads(path.read_text()) == [ENTRY]
    assert json.loads(path.with_suffix(".aliases").read_text()) == [
        {"alias": "alice", "public_key_base64": _public_key()}
    ]


def _public_key():
    from base64 import b64encode

    return b64encode(b"\0" + KeyPair.parse(SUIPRIVKEY).public_key).decode()


def test_keystore_of_the_sui_cli_is_read_with_its_aliases(path):
    path.parent.mkdir()
    path.write_text(json.dumps([ENTRY]))
    alias = {"alias": "festive-ruby", "public_key_base64": _public_key()}
    path.with_suffix(".aliases").write_text(json.dumps([alias]))
    account = Wallet(path).account("festive-ruby")
    assert str(account.address) == ADDRESS
    assert account.active


def test_wallet_files_are_private(path):
    Wallet(path).new("alice")
    files = [path, path.with_suffix(".aliases"), path.with_suffix(".active")]
    assert [mode(file) for file in files] == [0o600] * 3
    assert mode(path.parent) == 0o700


def test_new_key_is_restored_from_its_mnemonic(path):
    for scheme in (
        SignatureScheme.ED25519,
        SignatureScheme.SECP256K1,
        SignatureScheme.SECP256R1,
    ):
        account, mnemonic = Wallet(path).new(scheme=scheme)
        assert KeyPair.from_mnemonic(mnemonic, scheme).address == account.address
        assert account.scheme is scheme


def test_mnemonic_is_not_stored(path):
    _, mnemonic = Wallet(path).new()
    kept = "".join(file.read_text() for file in path.parent.iterdir())
    assert not any(f" {word} " in kept for word in mnemonic.split())


def test_first_key_is_active_until_another_is_chosen(path):
    first, _ = Wallet(path).new("first")
    second, _ = Wallet(path).new("second")
    assert Wallet(path).account().address == first.address
    Wallet(path).use("second")
    assert Wallet(path).account().address == second.address


def test_removing_the_active_key_activates_the_next(path):
    wallet = Wallet(path)
    wallet.new("first")
    wallet.new("second")
    wallet.remove("first")
    assert [account.alias for account in wallet.accounts()] == ["second"]
    assert wallet.account().alias == "second"


def test_account_is_found_by_alias_and_by_address(path):
    wallet = Wallet(path)
    wallet.add(KeyPair.parse(SUIPRIVKEY), "alice")
    assert wallet.account("alice") == wallet.account(ADDRESS)
    with pytest.raises(NotFoundError) as caught:
        wallet.account("bob")
    assert caught.value.code == "account_unknown"


def test_adding_a_key_twice_keeps_one_entry_and_its_alias(path):
    wallet = Wallet(path)
    wallet.add(KeyPair.parse(SUIPRIVKEY), "alice")
    wallet.add(KeyPair.parse(ENTRY))
    assert [account.alias for account in wallet.accounts()] == ["alice"]


def test_exported_key_equals_the_imported_key(path):
    wallet = Wallet(path)
    wallet.add(KeyPair.parse(ENTRY))
    assert wallet.export() == SUIPRIVKEY


def test_two_wallets_on_one_file_keep_both_changes(path):
    one, other = Wallet(path), Wallet(path)
    one.new("one")
    other.new("other")
    assert {account.alias for account in Wallet(path).accounts()} == {"one", "other"}


def test_alias_is_unique(path):
    wallet = Wallet(path)
    wallet.new("alice")
    with pytest.raises(UsageError, match="belongs to your key"):
        wallet.new("alice")
    assert len(Wallet(path).accounts()) == 1


@pytest.mark.parametrize("alias", ["1st", "two words", "x" * 65, "a/b"])
def test_alias_has_a_restricted_format(path, alias):
    with pytest.raises(ValidationError) as caught:
        Wallet(path).new(alias)
    assert caught.value.code == "alias_invalid"


def test_renamed_account_keeps_its_key(path):
    wallet = Wallet(path)
    account, _ = wallet.new("alice")
    wallet.rename("alice", "anna")
    assert Wallet(path).account("anna").address == account.address


@pytest.mark.parametrize("text", ["{", "{}", "7"])
def test_malformed_keystore_is_refused_and_not_changed(path, text):
    path.parent.mkdir()
    path.write_text(text)
    with pytest.raises(ValidationError):
        Wallet(path)
    assert path.read_text() == text


def test_wallet_representation_hides_its_keys(path):
    wallet = Wallet(path)
    wallet.add(KeyPair.parse(SUIPRIVKEY))
    printed = f"{wallet!r} {wallet.accounts()!r} {wallet.signer()!r}"
    assert ENTRY not in printed
    assert SUIPRIVKEY not in printed


def test_failed_write_keeps_the_old_file(tmp_path):
    path = tmp_path / "file"
    write_private(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_private(path, "new \ud800")
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


def test_misspelt_alias_gets_a_suggestion(path):
    wallet = Wallet(path)
    wallet.new("publisher")
    with pytest.raises(NotFoundError) as caught:
        wallet.account("pubisher")
    assert caught.value.hint == "Did you mean publisher?"
