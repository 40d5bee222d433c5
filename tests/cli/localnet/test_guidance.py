"""Messages about the chain of a localnet, and about a missing localnet."""


def test_start_and_stop_say_that_the_chain_is_in_memory(home, tmp_path):
    keep = "To keep a chain, run `nexus-tools localnet start --state FOLDER`"
    start = ("localnet", "start", "--detach", "--port", "0", "--name", "kept")
    first = home.spawn(*start).stderr
    assert f"the chain is new and in memory. {keep}" in first
    assert "`nexus-tools localnet stop --network kept`" in first
    network = ("--network", "kept")
    home.json("wallet", "new", "author")
    home.json("localnet", "faucet", *network)
    home.json("package", "publish", "--yes", *network)
    assert (
        f"the localnet's chain was in memory and is lost. {keep}"
        in home.run("localnet", "stop", *network).stderr
    )
    assert "the chain of your last localnet is lost" in home.spawn(*start).stderr
    assert "on kept: the chain was reset" in home.json("status", *network)["next"]
    home.run("localnet", "stop", *network)
    kept = home.spawn(*start, "--state", tmp_path / "state").stderr
    assert keep not in kept
    assert keep not in home.run("localnet", "stop", *network).stderr


def test_faucet_hints_at_localnet_start_when_no_localnet_runs(home):
    home.json("wallet", "new", "author")
    error = home.run("localnet", "faucet", "--json", NEXUS_TOOLS_LOCALNET_PORT="1").error
    assert error["code"] == "faucet_failed"
    assert error["hint"] == "Run `nexus-tools localnet start --detach` to start a localnet."
