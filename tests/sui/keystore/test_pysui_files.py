"""Files that pysui itself writes, and its own objects."""

import base64
import subprocess
import sys

import pytest
from pysui import GroupProtocol, NetworkType, PysuiConfiguration

from nexus_tools.errors import NexusError, UsageError, ValidationError
from nexus_tools.sui.keystore import KeyPair, network_and_key
from nexus_tools.sui.keystore.pysui_config import PysuiConfigFile
from nexus_tools.sui.network import Network

GRAPHQL = "https://graphql.testnet.sui.io/graphql"


def entry(number):
    return base64.b64encode(bytes([0]) + bytes([number] * 32)).decode()


def profile(name, url, **more):
    return {"profile_name": name, "url": url, "network_type": NetworkType.LOCAL, **more}


def group(config, name, protocol, profiles, keys):
    profiles[0]["make_active"] = True
    return config.new_group(
        group_name=name,
        group_protocol=protocol,
        make_group_active=True,
        active_address_index=0,
        persist=True,
        profile_block=profiles,
        key_block=[{"key_string": entry(number), "alias": alias} for alias, number in keys],
    )


@pytest.fixture
def config(tmp_path):
    """Return two groups: GraphQL with one key, and gRPC, the active one, with two."""
    config = PysuiConfiguration.initialize_config(
        in_folder=tmp_path, init_groups=[{"name": "empty", "make_active": True}]
    )
    group(config, "queries", GroupProtocol.GRAPHQL, [profile("graph", GRAPHQL)], [("quinn", 3)])
    profiles = [
        profile("tls", "sui.example.com:443", faucet_url="https://faucet.example.com/v2/gas"),
        profile("plain", "http://127.0.0.1:9000"),
    ]
    group(config, "calls", GroupProtocol.GRPC, profiles, [("alice", 1), ("bob", 2)])
    return config


@pytest.fixture
def files(config, tmp_path):
    return PysuiConfigFile(tmp_path)


# --- Its file


def test_grpc_profiles_are_networks(files):
    assert files.networks == (
        Network(
            "tls", "https://sui.example.com:443", "https://faucet.example.com", has_profile=True
        ),
        Network("plain", "http://127.0.0.1:9000", has_profile=True),
    )


def test_graphql_profile_is_refused_with_a_hint(files):
    files.check_protocol("tls")
    files.check_protocol("nowhere")
    with pytest.raises(UsageError) as caught:
        files.check_protocol("graph")
    assert caught.value.code == "network_not_grpc"
    assert "queries.graph" in caught.value.message
    assert "a group that uses gRPC" in caught.value.hint


def test_keys_of_all_groups_are_found(files, config):
    found = {account.alias: str(account.address) for account in files.accounts}
    assert found["alice"] == config.address_for_alias(alias_name="alice")
    assert found["bob"] == config.address_for_alias(alias_name="bob")
    assert set(found) == {"alice", "bob", "quinn"}


def test_key_signs_as_pysui_does(files, config):
    (alice,) = (account for account in files.accounts if account.alias == "alice")
    transaction = b"the bytes of a transaction"
    theirs = config.keypair_for_address(address=config.active_address)
    signature = theirs.new_sign_secure(base64.b64encode(transaction).decode())
    assert base64.b64encode(files.key(alice.address).sign(transaction)).decode() == signature


def test_missing_file_has_no_networks_and_keys(tmp_path):
    files = PysuiConfigFile(tmp_path / "nothing")
    assert (files.networks, files.accounts) == ((), ())


def test_group_name_decides_the_protocol_in_older_files(tmp_path):
    text = """{"version": "1.0.0", "groups": [{"group_name": "sui_grpc_config", "profiles":
        [{"profile_name": "testnet", "url": "fullnode.testnet.sui.io:443"}]}]}"""
    (tmp_path / "PysuiConfig.json").write_text(text)
    (network,) = PysuiConfigFile(tmp_path).networks
    assert network.url == "https://fullnode.testnet.sui.io:443"


@pytest.mark.parametrize("text", ["", "[]", '{"groups": 1}', '{"groups": [{"profiles": []}]}'])
def test_malformed_file_is_named_in_the_error(tmp_path, text):
    (tmp_path / "PysuiConfig.json").write_text(text)
    with pytest.raises(ValidationError) as caught:
        assert PysuiConfigFile(tmp_path).networks
    assert caught.value.code == "pysui_config_file_invalid"
    assert "PysuiConfig.json" in caught.value.message


def test_representation_hides_secrets(files):
    assert files.accounts
    assert entry(1) not in repr(files._config)


def test_reading_the_file_does_not_import_pysui(files, tmp_path):
    program = (
        "import sys; from pathlib import Path\n"
        "from nexus_tools.sui.keystore.pysui_config import PysuiConfigFile, network_and_key\n"
        f"assert PysuiConfigFile(Path({str(tmp_path)!r})).accounts\n"
        "assert 'pysui' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


# --- Its objects


def test_configuration_returns_its_active_profile_and_key(config):
    network, key = network_and_key(config)
    assert network.name == "tls"
    assert key.address == KeyPair.parse(entry(1)).address
    assert str(key.address) == config.active_address


def test_configuration_follows_make_active(config):
    config.make_active(profile_name="plain", alias="bob", persist=False)
    network, key = network_and_key(config)
    assert network == Network("plain", "http://127.0.0.1:9000")
    assert str(key.address) == config.address_for_alias(alias_name="bob")


def test_configuration_for_graphql_is_refused_with_a_hint(config):
    config.make_active(group_name="queries", persist=False)
    with pytest.raises(UsageError, match=r"queries\.graph") as caught:
        network_and_key(config)
    assert caught.value.code == "network_not_grpc"


def test_configuration_without_a_profile_is_refused(config):
    config.active_group.using_profile = "gone"
    with pytest.raises(NexusError) as caught:
        network_and_key(config)
    assert caught.value.code == "network_unknown"


def test_configuration_without_a_key_is_refused(config):
    config.active_group.using_address = ""
    with pytest.raises(NexusError) as caught:
        network_and_key(config)
    assert caught.value.code == "account_unknown"


@pytest.mark.parametrize("value", [None, 7, object()])
def test_other_objects_are_refused_as_configuration(value):
    with pytest.raises(UsageError) as caught:
        network_and_key(value)
    assert caught.value.code == "pysui_config_invalid"
