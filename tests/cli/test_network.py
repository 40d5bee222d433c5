def test_the_usual_networks_and_the_own_ones_are_listed(home):
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


def test_a_network_that_nobody_knows_is_not_used(home):
    assert home.fails("network", "use", "nowhere") == (3, "network_unknown")
    assert not home.config_file.exists()


def test_a_network_that_does_not_respond_is_unreachable(home):
    home.configure(network="own", networks={"own": {"url": "http://127.0.0.1:1"}})
    assert home.fails("network", "show") == (6, "node_unreachable")


def test_a_url_that_is_none_is_said_so(home):
    home.configure(network="own", networks={"own": {"url": "ftp://example.com"}})
    assert home.fails("network", "show") == (2, "network_url_invalid")


def test_the_current_network_is_shown_with_its_chain_and_package(author, chain):
    document = author.json("network", "show")
    assert document["url"] == chain.url
    assert document["chain_id"] == author.settings["deployments"]["test"]["chain_id"]
    assert document["package"] == author.settings["deployments"]["test"]["package_id"]
