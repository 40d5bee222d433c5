"""A keystore shares no file with another keystore, and a crash between writes loses no key."""

import json
import os
import stat

import pytest

from nexus_tools.errors import NexusError
from nexus_tools.sui.keystore import KeyPair, Wallet, encrypted_keys
from nexus_tools.sui.keystore import wallet as module
from nexus_tools.sui.keystore.sui_cli_config import SuiCliConfig
from nexus_tools.sui.support.private_file import create_private, write_private

WORDS = "correct horse battery staple"


@pytest.fixture(autouse=True)
def cheap(monkeypatch):
    monkeypatch.setattr(encrypted_keys, "COST", 2)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "sui.keystore"


def key(number):
    return KeyPair.from_bytes(b"\0" + bytes([number] * 32))


def refusal(call):
    with pytest.raises(NexusError) as refused:
        call()
    return refused.value


def test_lock_file_that_is_a_symlink_is_refused_and_its_target_kept(path, tmp_path):
    target = tmp_path / "target"
    target.write_text("text")
    (tmp_path / f".{path.name}.lock").symlink_to(target)
    with pytest.raises(OSError):  # noqa: PT011 - the number differs between systems
        Wallet(path).add(key(1))
    assert target.read_text() == "text"


# --- Names


@pytest.mark.parametrize("suffix", [".encrypted", ".active", ".aliases"])
def test_wallet_refuses_the_companion_of_a_keystore(path, suffix):
    Wallet(path).add(key(1), "vault", passphrase=WORDS)
    companion = path.with_suffix(suffix)
    before = companion.read_bytes()
    error = refusal(lambda: Wallet(companion).add(key(2), "hot", passphrase=WORDS))
    assert error.code == "keystore_name_invalid"
    assert "sui.keystore" in error.hint
    assert companion.read_bytes() == before


@pytest.mark.parametrize(
    "name", ["prod.mainnet", "keys", ".keystore", "sui.KEYSTORE", "sui.keystore.old", "config.toml"]
)
def test_wallet_refuses_a_name_without_the_suffix(tmp_path, name):
    error = refusal(lambda: Wallet(tmp_path / name).add(key(1)))
    assert error.code == "keystore_name_invalid"
    assert f"{name}.keystore" in error.hint
    assert list(tmp_path.iterdir()) == []


def test_wallet_refuses_a_link_to_a_companion(path):
    Wallet(path).add(key(1), "vault", passphrase=WORDS)
    link = path.with_name("link.keystore")
    link.symlink_to(path.with_suffix(".encrypted"))
    assert refusal(lambda: Wallet(link)).code == "keystore_name_invalid"


def test_keystores_with_one_stem_share_nothing(tmp_path):
    main, test = tmp_path / "prod.mainnet.keystore", tmp_path / "prod.testnet.keystore"
    Wallet(main).add(key(1), "main", passphrase=WORDS)
    Wallet(main).add(key(2), "treasury")
    Wallet(main).use("treasury")
    before = {file: file.read_bytes() for file in tmp_path.glob("prod.mainnet.*")}
    Wallet(test).add(key(3), "other", passphrase=WORDS)
    Wallet(test).remove("other")
    assert len(before) == 4
    assert {file: file.read_bytes() for file in before} == before
    assert Wallet(main).account().alias == "treasury"


def test_link_and_its_keystore_are_one_wallet(path):
    Wallet(path).add(key(1), "one")
    link = path.parent / "elsewhere" / "link.keystore"
    link.parent.mkdir()
    link.symlink_to(path)
    Wallet(link).add(key(2), "two")
    Wallet(link).use("two")
    assert link.is_symlink()
    assert [account.alias for account in Wallet(path).accounts()] == ["one", "two"]
    assert Wallet(path).account().alias == "two"
    Wallet(link).remove("one")
    assert json.loads(path.read_text()) == [key(2).to_keystore()]


def test_keystore_of_the_sui_cli_may_have_any_name(tmp_path):
    theirs = tmp_path / "keys.json"
    theirs.write_text(json.dumps([key(1).to_keystore()]))
    (tmp_path / "client.yaml").write_text(f"keystore: {{File: {theirs}}}\n")
    (account,) = SuiCliConfig(tmp_path).accounts
    assert account.address == key(1).address


# --- The active key


@pytest.fixture
def stale(path):
    """Create a keystore whose active key, `two`, another program has removed."""
    wallet = Wallet(path)
    wallet.add(key(1), "one")
    wallet.add(key(2), "two")
    wallet.use("two")
    path.write_text(json.dumps([key(1).to_keystore()]))
    return path


def test_signer_fails_when_the_active_key_is_missing(stale):
    error = refusal(Wallet(stale).signer)
    assert error.code == "account_unknown"
    assert str(key(2).address) in error.message
    assert "nexus-tools wallet use" in error.hint
    assert not any(account.active for account in Wallet(stale).accounts())
    assert Wallet(stale).signer("one").address == key(1).address


def test_changes_of_other_keys_keep_a_missing_active_key(stale):
    wallet = Wallet(stale)
    wallet.add(key(3), "three")
    wallet.rename("three", "drei")
    wallet.remove("one")
    assert refusal(Wallet(stale).signer).code == "account_unknown"
    assert wallet.use("drei").active
    assert Wallet(stale).signer().address == key(3).address


def test_first_key_of_an_emptied_wallet_becomes_active(stale):
    stale.write_text("[]")
    assert refusal(Wallet(stale).account).code == "wallet_empty"
    Wallet(stale).add(key(3), "three")
    assert Wallet(stale).account().alias == "three"


def test_active_file_without_an_address_is_named_in_the_error(path):
    Wallet(path).add(key(1))
    active = path.with_suffix(".active")
    active.write_text("the first one\n")
    error = refusal(lambda: Wallet(path))
    assert error.code == "wallet_invalid"
    assert str(active) in error.message


# --- A crash


class Crash(BaseException):
    """A simulated end of the process."""


CHANGES = {
    "add": lambda wallet: wallet.add(key(4), "four"),
    "add encrypted": lambda wallet: wallet.add(key(4), "four", passphrase=WORDS),
    "rename": lambda wallet: wallet.rename("two", "zwei"),
    "rename encrypted": lambda wallet: wallet.rename("vault", "safe"),
    "remove": lambda wallet: wallet.remove("one"),
    "use": lambda wallet: wallet.use("two"),
}


@pytest.mark.parametrize("writes", range(4))
@pytest.mark.parametrize("change", CHANGES)
def test_crash_after_any_write_loses_no_other_key(path, monkeypatch, change, writes):
    wallet = Wallet(path)
    for number, alias in enumerate(["one", "two"], 1):
        wallet.add(key(number), alias)
    wallet.add(key(3), "vault", passphrase=WORDS)
    done = []

    def write(place, text):
        if len(done) == writes:
            raise Crash
        write_private(place, text)
        done.append(place)

    monkeypatch.setattr(module, "write_private", write)
    with pytest.raises(Crash):
        CHANGES[change](wallet)
    after = Wallet(path, lambda _: WORDS)
    kept = [key(number).address for number in ((2, 3) if change == "remove" else (1, 2, 3))]
    assert [after.signer(address).address for address in kept] == kept
    assert after.unreadable == ()


@pytest.mark.skipif(os.name != "posix", reason="only POSIX systems flush a folder")
@pytest.mark.parametrize("write", [write_private, create_private])
def test_file_name_is_flushed_after_its_content(tmp_path, monkeypatch, write):
    flushed, fsync = [], os.fsync

    def record(descriptor):
        is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        flushed.append((is_folder, (tmp_path / "file").exists()))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", record)
    write(tmp_path / "file", "text")
    assert [is_folder for is_folder, _ in flushed] == [False, True]
    assert flushed[-1] == (True, True)
