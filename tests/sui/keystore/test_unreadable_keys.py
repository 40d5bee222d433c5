"""An unreadable entry hides no other key and shows no secret."""

import json

import pytest

from nexus_tools.errors import NotFoundError, UsageError, ValidationError
from nexus_tools.sui.keystore import KeyPair, PysuiConfigFile, Wallet

BAD = ["AAAA", "not base64!", "", 7, None, {"alias": "x"}]


def key(number):
    return KeyPair.from_bytes(b"\0" + bytes([number] * 32))


@pytest.mark.parametrize("bad", BAD)
def test_unreadable_keystore_entry_is_named_by_its_number(tmp_path, bad):
    path = tmp_path / "sui.keystore"
    path.write_text(json.dumps([key(1).to_keystore(), bad, key(2).to_keystore()]))
    wallet = Wallet(path)
    assert [account.address for account in wallet.accounts()] == [key(1).address, key(2).address]
    (error,) = wallet.unreadable
    assert error.message.startswith(f"{path}: entry 2: ")
    assert not bad or str(bad) not in error.message.removeprefix(str(path))


def test_unreadable_entry_survives_every_change(tmp_path):
    path = tmp_path / "sui.keystore"
    path.write_text(json.dumps([key(1).to_keystore(), "AAAA"]))
    wallet = Wallet(path)
    wallet.add(key(2), "second")
    wallet.remove(key(1).address)
    assert sorted(json.loads(path.read_text())) == sorted([key(2).to_keystore(), "AAAA"])
    assert len(Wallet(path).unreadable) == 1


def test_signer_fails_when_the_active_key_is_unreadable(tmp_path):
    path = tmp_path / "sui.keystore"
    wallet = Wallet(path)
    wallet.add(key(1), "one")
    wallet.add(key(2), "two")
    wallet.use("two")
    path.write_text(json.dumps([key(1).to_keystore(), "AAAA"]))
    with pytest.raises(NotFoundError) as caught:
        Wallet(path).signer()
    assert "cannot be read, or does not exist" in caught.value.message
    assert Wallet(path).signer("one").address == key(1).address


def test_unreadable_encrypted_key_hides_no_other(tmp_path):
    path = tmp_path / "sui.keystore"
    wallet = Wallet(path, lambda _: "a passphrase")
    wallet.add(key(1), "one", passphrase="a passphrase")
    place = path.with_suffix(".encrypted")
    broken = {"alias": "two", "salt_base64": "c2FsdA=="}
    place.write_text(json.dumps([broken, *json.loads(place.read_text())]))
    again = Wallet(path, lambda _: "a passphrase")
    assert again.signer("one").address == key(1).address
    assert again.unreadable[0].message.startswith(f"{place}: entry 1: ")
    again.add(key(3), "three")
    assert broken in json.loads(place.read_text())


def test_unreadable_pysui_key_is_named_by_its_alias(tmp_path):
    document = {
        "groups": [
            {
                "group_name": "sui_grpc_config",
                "alias_list": [{"alias": "good"}, {"alias": "bad"}],
                "key_list": [
                    {"private_key_base64": key(1).to_keystore()},
                    {"private_key_base64": "AAAA"},
                ],
            }
        ]
    }
    (tmp_path / "PysuiConfig.json").write_text(json.dumps(document))
    files = PysuiConfigFile(tmp_path)
    assert [account.alias for account in files.accounts] == ["good"]
    (error,) = files.unreadable
    assert f"{tmp_path}/PysuiConfig.json: the key bad of the group sui_grpc_config" in error.message


@pytest.mark.parametrize("text", ["0x" + "ab" * 32, "AB" * 32, "0x00" + "ab" * 32, "0x12"])
def test_hexadecimal_key_is_refused_with_a_hint(text):
    with pytest.raises(ValidationError) as caught:
        KeyPair.parse(text)
    assert "the key is hexadecimal" in caught.value.message
    assert text not in str(caught.value)


def test_known_key_keeps_its_alias_and_is_reported(tmp_path):
    wallet = Wallet(tmp_path / "sui.keystore")
    wallet.add(key(1), "mine")
    with pytest.raises(UsageError) as caught:
        wallet.add(key(1), "ci")
    assert caught.value.code == "key_exists"
    assert "with the alias mine" in caught.value.message
    assert "wallet rename mine ci" in caught.value.hint
    assert wallet.add(key(1), "mine").alias == "mine"
    assert wallet.add(key(1)).alias == "mine"
