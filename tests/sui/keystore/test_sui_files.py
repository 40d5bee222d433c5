"""Files as the Sui CLI 1.5x writes them; key and address: tests/sui/keystore/test_wallet.py."""

import pytest

from nexus_tools.errors import ValidationError
from nexus_tools.sui.keystore.sui_cli_config import SuiCliConfig
from nexus_tools.sui.network import Network

ADDRESS = "0xa2d14fad60c56049ecf75246a481934691214ce413e6a8ae2fe6834c173a6133"


def test_environments_are_networks_with_the_faucets_of_the_cli(tmp_path, sui_files):
    testnet, local, private = SuiCliConfig(sui_files(tmp_path)).networks
    assert testnet == Network(
        "testnet",
        "https://fullnode.testnet.sui.io:443",
        "https://faucet.testnet.sui.io",
        has_profile=True,
    )
    urls = ("http://127.0.0.1:9000", "http://127.0.0.1:9123")
    assert local == Network("local", *urls, has_profile=True)
    assert private == Network("private", "https://sui.example.com", has_profile=True)


def test_key_is_found_with_its_alias(tmp_path, sui_files):
    files = SuiCliConfig(sui_files(tmp_path))
    (account,) = files.accounts
    assert (account.alias, str(account.address)) == ("ruby", ADDRESS)
    assert str(files.key(account.address).address) == ADDRESS


def test_keystore_may_be_in_another_folder(tmp_path, sui_files):
    folder = sui_files(tmp_path)
    moved = tmp_path / "moved.keystore"
    (folder / "sui.keystore").rename(moved)
    (folder / "sui.aliases").rename(moved.with_suffix(".aliases"))
    client_yaml = folder / "client.yaml"
    text = client_yaml.read_text().replace(str(folder / "sui.keystore"), str(moved))
    client_yaml.write_text(text)
    assert [account.alias for account in SuiCliConfig(folder).accounts] == ["ruby"]


def test_reading_changes_no_files(tmp_path, sui_files):
    folder = sui_files(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    files = SuiCliConfig(folder)
    files.key(files.accounts[0].address)
    assert files.networks
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_missing_folder_has_no_networks_and_keys(tmp_path):
    files = SuiCliConfig(tmp_path / "sui_config")
    assert (files.networks, files.accounts) == ((), ())


@pytest.mark.parametrize(
    "text", ["envs: 3", "envs: [{alias: a}]", "keystore: [", "just text", "keystore: {File: 7}"]
)
def test_malformed_file_is_named_in_the_error(tmp_path, text):
    (tmp_path / "client.yaml").write_text(text)
    with pytest.raises(ValidationError) as caught:
        assert SuiCliConfig(tmp_path).networks
    assert caught.value.code == "sui_config_invalid"
    assert str(tmp_path / "client.yaml") in caught.value.message
