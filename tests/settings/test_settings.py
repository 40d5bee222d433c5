"""Where networks, keys and deployments are found, and which one is meant."""

import json
import threading

import pytest

from nexus_tools.errors import NexusError
from nexus_tools.settings.settings import Settings
from nexus_tools.sui.keystore import KeyPair

SUI_ADDRESS = "0xa2d14fad60c56049ecf75246a481934691214ce413e6a8ae2fe6834c173a6133"


def entry(number):
    return KeyPair.from_bytes(bytes([0]) + bytes([number] * 32)).to_keystore()


def write_pysui(home, profiles=(), keys=(), protocol=2):
    folder = home / ".pysui"
    folder.mkdir()
    group = {
        "group_name": "mine",
        "protocol": protocol,
        "profiles": [{"profile_name": name, "url": url} for name, url in profiles],
        "alias_list": [{"alias": alias} for alias, _ in keys],
        "key_list": [{"private_key_base64": entry(number)} for _, number in keys],
    }
    (folder / "PysuiConfig.json").write_text(json.dumps({"groups": [group]}))


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A user who has nothing; `Settings.load()` finds what a test puts there."""
    for variable in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "SUI_CONFIG_DIR"):
        monkeypatch.delenv(variable, raising=False)
    for variable in ("NEXUS_TOOLS_NETWORK", "NEXUS_TOOLS_WALLET", "NEXUS_TOOLS_KEYSTORE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def code_of(call, *arguments):
    with pytest.raises(NexusError) as caught:
        call(*arguments)
    return caught.value.code


# --- Networks


def test_network_of_sui_cli_is_found(home, sui_files):
    folder = sui_files(home)
    found = Settings.load().locate_network("private")
    assert (found.value.url, found.source) == ("https://sui.example.com", "sui")
    assert found.file == folder / "client.yaml"


def test_sui_config_dir_is_used(home, sui_files, monkeypatch, tmp_path):
    monkeypatch.setenv("SUI_CONFIG_DIR", str(sui_files(tmp_path / "elsewhere")))
    assert Settings.load().locate_network("private").source == "sui"


def test_network_of_pysui_is_found(home):
    write_pysui(home, [("mine", "sui.example.com:443")])
    found = Settings.load().locate_network("mine")
    assert (found.value.url, found.source) == ("https://sui.example.com:443", "pysui")


def test_network_sources_have_precedence(home, sui_files):
    sui_files(home)
    settings = Settings.load()
    assert settings.locate_network("testnet").source == "well-known"
    settings.networks = {
        "testnet": {"url": "https://a.example.com"},
        "private": {"url": "https://b"},
    }
    assert settings.find_network("testnet").url == "https://a.example.com"
    assert settings.locate_network("private").source == "nexus-tools"


def test_ambiguous_network_name_is_rejected(home, sui_files):
    sui_files(home)
    write_pysui(home, [("private", "other.example.com:443")])
    with pytest.raises(NexusError) as caught:
        Settings.load().find_network("private")
    assert caught.value.code == "network_ambiguous"
    for told in ("https://sui.example.com", "https://other.example.com:443", "PysuiConfig.json"):
        assert told in caught.value.message


def test_equal_networks_in_two_files_are_found(home, sui_files):
    sui_files(home)
    write_pysui(home, [("private", "https://sui.example.com")])
    assert Settings.load().locate_network("private").source == "sui"


def test_network_without_grpc_is_rejected(home):
    write_pysui(home, [("graph", "https://graphql.example.com/graphql")], protocol=1)
    assert code_of(Settings.load().find_network, "graph") == "network_not_grpc"
    assert code_of(Settings.load().find_network, "nowhere") == "network_unknown"


def test_own_network_is_found_without_reading_external_files(home):
    folder = home / ".sui" / "sui_config"
    folder.mkdir(parents=True)
    (folder / "client.yaml").write_text("[")
    assert Settings.load().find_network("testnet").name == "testnet"
    assert code_of(Settings.load().find_network, "nowhere") == "sui_config_invalid"


def test_all_networks_lists_every_source(home, sui_files):
    sui_files(home)
    settings = Settings.load()
    networks = {
        all_network.value.name: all_network for all_network in settings.all_networks(pytest.fail)
    }
    assert {"localnet", "testnet", "private", "local"} <= set(networks)
    for name, network in networks.items():
        assert settings.locate_network(name) == network


def test_broken_file_is_reported_and_skipped(home):
    folder = home / ".sui" / "sui_config"
    folder.mkdir(parents=True)
    (folder / "client.yaml").write_text("[")
    write_pysui(home, [("mine", "sui.example.com:443")], [("alice", 1)])
    settings, told = Settings.load(), []
    assert "mine" in {all_network.value.name for all_network in settings.all_networks(told.append)}
    assert [all_account.value.alias for all_account in settings.all_accounts(told.append)] == [
        "alice"
    ]
    assert [error.code for error in told] == ["sui_config_invalid"] * 2


# --- Keys


def test_key_of_sui_cli_is_found_by_alias_and_address(home, sui_files):
    sui_files(home)
    settings = Settings.load()
    for which in ("ruby", SUI_ADDRESS):
        assert str(settings.find_key(which).address) == SUI_ADDRESS
        assert settings.locate_account(which).source == "sui"


def test_key_of_pysui_is_found(home):
    write_pysui(home, keys=[("alice", 1)])
    key = Settings.load().find_key("alice")
    assert key.to_keystore() == entry(1)


def test_own_alias_has_precedence(home, sui_files):
    sui_files(home)
    settings = Settings.load()
    ours, _ = settings.open_wallet().new("ruby")
    assert settings.find_key("ruby").address == ours.address
    assert str(settings.find_key(SUI_ADDRESS).address) == SUI_ADDRESS


def test_ambiguous_alias_is_rejected(home, sui_files):
    sui_files(home)
    write_pysui(home, keys=[("ruby", 1)])
    with pytest.raises(NexusError) as caught:
        Settings.load().find_key("ruby")
    assert caught.value.code == "account_ambiguous"
    assert SUI_ADDRESS in caught.value.message
    assert "client.yaml" in caught.value.message
    assert "PysuiConfig.json" in caught.value.message


def test_unknown_key_is_rejected(home, sui_files):
    sui_files(home)
    assert code_of(Settings.load().find_key, "emerald") == "account_unknown"


def test_external_key_signs_only_when_selected(home, sui_files):
    sui_files(home)
    settings = Settings.load()
    with pytest.raises(NexusError, match="ruby") as caught:
        settings.find_key()
    assert caught.value.code == "wallet_empty"
    settings.use_account(settings.locate_account("ruby"))
    assert str(Settings.load().find_key().address) == SUI_ADDRESS


def test_selecting_own_key_replaces_external_selection(home, sui_files):
    sui_files(home)
    settings = Settings.load()
    ours, _ = settings.open_wallet().new("mine")
    settings.use_account(settings.locate_account("ruby"))
    settings.use_account(settings.locate_account("mine"))
    assert Settings.load().find_key().address == ours.address


def test_wallet_setting_accepts_external_key(home, sui_files, monkeypatch):
    sui_files(home)
    monkeypatch.setenv("NEXUS_TOOLS_WALLET", "ruby")
    assert str(Settings.load().find_key().address) == SUI_ADDRESS


# --- Several commands at once


def test_save_keeps_what_another_command_changed(home):
    Settings.load().save()
    waiting, other = Settings.load(), Settings.load()
    other.values |= {"wallet": "alice", "max_gas_price": "1500"}
    other.networks["mine"] = {"url": "http://127.0.0.1:1"}
    other.deployments["testnet"] = {"package": "0x1"}
    other.save()
    waiting.values["timeout"] = "1m"
    waiting.deployments["devnet"] = {"package": "0x2"}
    waiting.save()
    found = Settings.load()
    assert found.values == {"wallet": "alice", "max_gas_price": "1500", "timeout": "1m"}
    assert found.networks == {"mine": {"url": "http://127.0.0.1:1"}}
    assert found.deployments == {"testnet": {"package": "0x1"}, "devnet": {"package": "0x2"}}
    assert waiting.values == found.values


def test_save_removes_only_what_was_removed_here(home):
    settings = Settings.load()
    settings.values |= {"wallet": "alice", "timeout": "1m"}
    settings.deployments |= {"testnet": {"package": "0x1"}, "devnet": {"package": "0x2"}}
    settings.save()
    waiting, other = Settings.load(), Settings.load()
    del other.values["timeout"]
    del other.deployments["devnet"]
    other.save()
    del waiting.values["wallet"]
    waiting.deployments["testnet"] = {"package": "0x3"}
    waiting.save()
    found = Settings.load()
    assert found.values == {}
    assert found.deployments == {"testnet": {"package": "0x3"}}


def test_concurrent_saves_lose_no_change(home):
    ready = threading.Barrier(8)

    def remember(number):
        settings = Settings.load()
        ready.wait()
        settings.deployments[f"net{number}"] = {"package": f"0x{number}"}
        settings.save()

    threads = [threading.Thread(target=remember, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Settings.load().deployments.keys() == {f"net{number}" for number in range(8)}
