import re
import socket

import pytest


@pytest.fixture
def free_port():
    """Yield a port without a server: it is bound, but not listened on."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield str(taken.getsockname()[1])


def test_list_has_well_known_and_own_networks(home):
    home.json("network", "use", "own", "--url", "http://127.0.0.1:1234")
    networks = {row["name"]: row for row in home.json("network", "list")}
    assert {"localnet", "devnet", "testnet", "mainnet", "own"} == set(networks)
    assert networks["own"] == {
        "name": "own",
        "url": "http://127.0.0.1:1234",
        "current": True,
        "source": "nexus-tools",
    }
    assert networks["testnet"]["source"] == "well-known"


def test_use_rejects_unknown_network(home):
    assert home.fails("network", "use", "nowhere") == (3, "network_unknown")
    assert not home.config_file.exists()


def test_unreachable_network_is_reported(home):
    home.configure(network="own", networks={"own": {"url": "http://127.0.0.1:1"}})
    assert home.fails("network", "show") == (6, "node_unreachable")


@pytest.mark.parametrize("command", [("tool", "list"), ("network", "show"), ("leader", "status")])
def test_missing_localnet_error_hints_at_localnet_start(home, free_port, command):
    home.wallet.new("author")
    result = home.run(*command, "--json", NEXUS_TOOLS_LOCALNET_PORT=free_port)
    assert (result.code, result.error["code"]) == (6, "node_unreachable")
    assert "the localnet is not running" in result.error["message"]
    assert "localnet start" in result.error["hint"]


def test_commands_report_that_another_node_uses_the_localnet_port(author, chain):
    port = chain.url.rpartition(":")[2]
    result = author.run(
        *("tool", "list", "--network", "localnet", "--json"), NEXUS_TOOLS_LOCALNET_PORT=port
    )
    assert (result.code, result.error["code"]) == (3, "localnet_not_running")
    assert f"Another node listens at {chain.url}" in result.error["message"]
    start, use = re.findall("`nexus-tools (.*?)`", result.error["hint"])
    doctor = author.run("doctor", "--network", "localnet", "--json", NEXUS_TOOLS_LOCALNET_PORT=port)
    remedies = {each["name"]: each["remedy"] for each in doctor.document["findings"]}
    assert remedies["localnet"] == f"nexus-tools {start}"
    started = author.spawn(*start.split(), NEXUS_TOOLS_LOCALNET_PORT=port)
    author.run("localnet", "stop")
    assert started.code == 0, started.stderr
    author.json(*use.replace("NAME", "theirs").split())
    assert author.fails("tool", "list") == (3, "package_not_published")


def test_faucet_and_status_refuse_a_node_that_uses_the_localnet_port(home, chain):
    port = {"NEXUS_TOOLS_LOCALNET_PORT": chain.url.rpartition(":")[2]}
    assert home.fails("status", **port) == (3, "localnet_not_running")
    assert home.fails("localnet", "advance-clock", "1d", **port) == (3, "localnet_not_running")
    account, _ = home.wallet.new("author")
    assert home.fails("localnet", "faucet", **port) == (3, "localnet_not_running")
    sent = home.fails("wallet", "transfer", str(account.address), "1", "--yes", **port)
    assert sent == (3, "localnet_not_running")
    home.configure(networks={"theirs": {"url": chain.url, "faucet_url": chain.url}})
    faucet = home.run("localnet", "faucet", "--network", "theirs")
    assert f"sent to {account.address} on theirs" in faucet.stderr


def test_localnet_is_listed_at_the_configured_port(home):
    networks = home.json("network", "list", NEXUS_TOOLS_LOCALNET_PORT="9123")
    assert networks[0]["url"] == "http://127.0.0.1:9123"


def test_invalid_network_url_is_reported(home):
    home.configure(network="own", networks={"own": {"url": "ftp://example.com"}})
    assert home.fails("network", "show") == (2, "network_url_invalid")


def test_show_prints_chain_and_package_of_the_current_network(author, chain):
    document = author.json("network", "show")
    assert document["url"] == chain.url
    assert document["chain_id"] == author.settings["deployments"]["test"]["chain_id"]
    assert document["package"] == author.settings["deployments"]["test"]["package_id"]


def test_show_omits_the_package_of_another_chain(author, chain):
    published = author.settings["deployments"]["test"]
    author.configure(
        **author.settings | {"deployments": {"test": published | {"chain_id": "1" * 32}}}
    )
    assert author.json("network", "show")["package"] is None
    assert "package" not in author.run("network", "show").stdout


def test_transaction_command_shows_executed_transaction(author, stranger):
    account = stranger.wallet.account().address
    sent = author.json("wallet", "transfer", account, "1", "--yes")
    shown = author.json("network", "transaction", sent["digest"])
    assert (shown["digest"], shown["status"]) == (sent["digest"], "succeeded")
    assert shown["cost_mist"] == sent["cost_mist"]
    printed = author.run("network", "transaction", sent["digest"])
    assert (printed.code, sent["digest"] in printed.stdout) == (0, True)


def test_unknown_transaction_is_not_found(author):
    digest = "1" * 32
    assert author.fails("network", "transaction", digest) == (3, "transaction_unknown")
    assert author.fails("network", "transaction", "?") == (7, "digest_invalid")
