import stat

import pytest

from tests.cli.conftest import Typist


def test_network_defaults_to_localnet(home):
    assert home.json("config", "show")["network"] == "localnet"


def test_environment_overrides_the_file_and_options_override_both(home):
    home.configure(network="devnet")
    assert home.json("config", "show")["network"] == "devnet"
    assert home.json("config", "show", NEXUS_TOOLS_NETWORK="testnet")["network"] == "testnet"
    result = home.run("network", "show", "-n", "nowhere", "--json", NEXUS_TOOLS_NETWORK="testnet")
    assert result.code == 3
    assert "nowhere" in result.error["message"]


def test_show_names_settings_from_the_environment(home):
    document = home.json("config", "show", NEXUS_TOOLS_WALLET="author")
    assert document["from_environment"] == ["wallet"]


def test_misspelled_variable_is_wrong_usage(home):
    result = home.run("config", "show", "--json", NEXUS_TOOLS_NETWROK="testnet")
    assert (result.code, result.error["code"]) == (2, "variable_unknown")
    assert result.error["hint"] == "Did you mean NEXUS_TOOLS_NETWORK?"


def test_help_works_with_misspelled_variables(home):
    assert home.run("network", "use", "--help", NEXUS_TOOLS_NETWROK="testnet").code == 0


def test_set_saves_the_setting_in_the_file(home):
    home.json("config", "set", "network", "testnet")
    assert home.settings["network"] == "testnet"
    assert home.json("config", "show")["network"] == "testnet"


def test_file_is_readable_by_its_owner_only(home):
    home.run("config", "set", "network", "devnet")
    assert stat.S_IMODE(home.config_file.stat().st_mode) == 0o600


def test_unknown_setting_is_wrong_usage(home):
    result = home.run("config", "set", "colour", "red")
    assert result.code == 2
    assert "network" in result.stderr


@pytest.mark.parametrize(
    "text",
    [
        "network = [",
        "network = 3",
        "colour = 'red'",
        "networks = 'all'",
        b"\xff\xfe".decode("latin"),
    ],
)
def test_malformed_file_error_names_the_file(home, text):
    home.config_file.parent.mkdir(parents=True)
    home.config_file.write_text(text)
    result = home.run("wallet", "list", "--json")
    assert (result.code, result.error["code"]) == (2, "config_invalid")
    assert str(home.config_file) in result.error["message"]


def test_variable_selects_another_file(home, tmp_path):
    other = tmp_path / "other.toml"
    other.write_text("network = 'mainnet'")
    assert home.json("config", "show", NEXUS_TOOLS_CONFIG=str(other))["network"] == "mainnet"


def test_set_keeps_other_settings(home):
    home.configure(network="own", networks={"own": {"url": "http://127.0.0.1:1"}})
    home.wallet.new("author")
    home.json("config", "set", "wallet", "author")
    assert home.settings["networks"] == {"own": {"url": "http://127.0.0.1:1"}}
    assert home.settings["network"] == "own"


@pytest.mark.parametrize(
    ("key", "value", "failure"),
    [
        ("wallet", "nobody", (3, "account_unknown")),
        ("network", "nowhere", (3, "network_unknown")),
        ("keystore", "/dev/null/sui.keystore", (2, "file_inaccessible")),
        ("keystore", "sui.encrypted", (2, "keystore_name_invalid")),
        ("wallet", "", (2, "setting_empty")),
        ("timeout", "0s", (2, "timeout_invalid")),
        ("timeout", "0 h 0 ms", (2, "timeout_invalid")),
        ("timeout", "soon", (2, "duration_invalid")),
    ],
)
def test_set_rejects_values_that_do_not_exist(home, key, value, failure):
    assert home.fails("config", "set", key, value) == failure
    assert not home.config_file.exists()


def test_unset_removes_a_setting(home):
    home.configure(network="mainnet", networks={"own": {"url": "http://127.0.0.1:1"}})
    assert home.json("config", "unset", "network") == {"network": None, "was": "mainnet"}
    assert home.json("config", "show")["network"] == "localnet"
    assert home.settings["networks"] == {"own": {"url": "http://127.0.0.1:1"}}
    assert home.settings.keys() == {"networks", "deployments", "upgrade_locks"}
    assert home.json("config", "unset", "network") == {"network": None, "was": None}


def test_unset_removes_a_missing_key(home):
    home.configure(wallet="nobody", keystore="/proc")
    home.json("config", "unset", "wallet")
    home.json("config", "unset", "keystore")
    home.json("wallet", "new", "author")
    assert home.json("wallet", "list")[0]["active"] is True


@pytest.mark.parametrize(
    ("command", "variable", "value"),
    [
        (("wallet", "use", "one"), "NEXUS_TOOLS_WALLET", "two"),
        (("config", "set", "wallet", "one"), "NEXUS_TOOLS_WALLET", "two"),
        (("config", "unset", "wallet"), "NEXUS_TOOLS_WALLET", "two"),
        (("network", "use", "testnet"), "NEXUS_TOOLS_NETWORK", "devnet"),
        (("config", "set", "network", "testnet"), "NEXUS_TOOLS_NETWORK", "devnet"),
    ],
)
def test_command_warns_when_a_variable_overrides_its_setting(home, command, variable, value):
    for alias in ("one", "two"):
        home.wallet.new(alias)
    result = home.run(*command, **{variable: value})
    assert result.code == 0
    assert "✓" not in result.stderr
    assert f"{variable}={value}" in result.stderr
    assert "✓" in home.run(*command).stderr


def test_equal_variable_overrides_nothing(home):
    account, _ = home.wallet.new("one")
    result = home.run("wallet", "use", "one", NEXUS_TOOLS_WALLET=str(account.address))
    assert "✓ commands sign with one" in result.stderr


def test_use_replaces_the_wallet_in_the_file(home):
    for alias in ("one", "two"):
        home.wallet.new(alias)
    home.json("config", "set", "wallet", "two")
    assert home.json("wallet", "use", "one")["active"] is True
    assert "wallet" not in home.settings


def test_max_gas_price_limits_what_a_node_may_report(home, localnet):
    home.configure(network="own", networks={"own": {"url": localnet.url}})
    home.wallet.new("author")
    home.json("config", "set", "max_gas_price", "999")
    assert home.json("config", "show")["max_gas_price"] == 999
    transfer = ("wallet", "transfer", "0x" + "ab" * 32, "0.1", "--yes", "--json")
    refused = home.run(*transfer)
    assert (refused.code, refused.error["code"]) == (6, "gas_price_refused")
    home.run("config", "set", "max_gas_price", "1000")
    assert home.run(*transfer).error["code"] != "gas_price_refused"  # the wallet has no SUI


@pytest.mark.parametrize("value", ["0", "-1", "many", "1.5", "9" * 40])
def test_max_gas_price_must_be_a_positive_integer(home, value):
    result = home.run("config", "set", "max_gas_price", "--json", "--", value)
    assert (result.code, result.error["code"]) == (2, "gas_price_invalid")
    assert home.json("config", "show")["max_gas_price"] == 10_000


def test_confirmed_command_keeps_concurrent_changes(home):
    home.wallet.new("old")
    home.wallet.new("new")
    home.configure(wallet="old")

    def agree():
        home.spawn("config", "set", "max_gas_price", "1500")
        home.spawn("network", "use", "testnet")
        return "y"

    result = home.run("wallet", "remove", "old", "--force", stdin=Typist(agree))
    assert result.code == 0
    assert home.settings["max_gas_price"] == "1500"
    assert home.settings["network"] == "testnet"
    assert "wallet" not in home.settings
