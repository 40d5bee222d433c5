import asyncio
import json
import os
import select
import signal
import socket
from contextlib import contextmanager
from pathlib import Path

import pytest

from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.localnet.framework import embedded_release, write_release
from nexus_tools.sui.network import Network
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import RANDOM, SUI_FRAMEWORK
from nexus_tools.sui.types.digest import dynamic_field_id
from nexus_tools.sui.types.type_tag import TYPE_TAG, Primitive


@pytest.fixture
def localnet_home(home):
    """A localnet in the background: its user."""
    home.pid = start_localnet(home, "--port", "0")["pid"]
    yield home
    home.run("localnet", "stop")


def start_localnet(home, *options, **environment):
    result = home.spawn("localnet", "start", "--detach", "--json", *options, **environment)
    assert result.code == 0, result.stderr
    return result.document


@contextmanager
def process_end(pid):
    """Wait at the end of the block until the process, which need not be a child, has ended."""
    descriptor = os.pidfd_open(pid)
    try:
        yield
        assert select.select([descriptor], [], [], 30)[0]
    finally:
        os.close(descriptor)


def test_detached_localnet_is_found_by_commands(localnet_home):
    status = localnet_home.json("localnet", "status")
    assert status["pid"] == localnet_home.pid
    network = localnet_home.json("network", "show")
    assert (network["url"], network["chain_id"]) == (status["url"], status["chain_id"])


def test_second_default_localnet_is_rejected(localnet_home):
    again = localnet_home.spawn("localnet", "start", "--port", "0", "--detach", "--json")
    assert (again.code, again.error["code"]) == (4, "localnet_running")
    assert "the chain is new" not in again.stderr
    assert localnet_home.json("localnet", "status")["pid"] == localnet_home.pid


def test_stop_waits_until_the_localnet_has_ended(localnet_home):
    with process_end(localnet_home.pid):
        localnet_home.json("localnet", "stop")
    assert localnet_home.fails("localnet", "status") == (3, "localnet_not_running")
    assert localnet_home.fails("localnet", "stop") == (3, "localnet_not_running")
    # Another program may listen on the port of a localnet.
    assert localnet_home.fails("network", "show", NEXUS_TOOLS_LOCALNET_PORT="1")[0] == 6


def test_faucet_sends_exact_amount(localnet_home):
    address = localnet_home.json("wallet", "new", "author")["address"]
    given = localnet_home.json("localnet", "faucet", "--amount", "100.25")
    assert (given["address"], given["amount_mist"]) == (address, 100_250_000_000)
    assert localnet_home.json("wallet", "show")["balance_mist"] == 100_250_000_000


def test_faucet_sends_default_amount_to_address(localnet_home):
    given = localnet_home.json("localnet", "faucet", f"0x{7:064x}")
    assert (given["address"], given["amount_mist"]) == (f"0x{'7':0>64}", 1_000_000_000_000)
    assert len(given["digests"]) == 1
    assert localnet_home.fails("localnet", "faucet", "0xnothing")[0] == 7


def test_address_keeps_leading_zeros(localnet_home):
    address = "0x0" + 63 * "7"
    assert (
        f" SUI sent to {address} on localnet\n"
        in localnet_home.run("localnet", "faucet", address).stderr
    )


def test_faucet_accepts_alias(localnet_home):
    account, _ = localnet_home.wallet.new("leader")
    given = localnet_home.json("localnet", "faucet", "leader")
    assert given["address"] == str(account.address)
    assert localnet_home.fails("localnet", "faucet", "nobody") == (3, "account_unknown")


@pytest.mark.parametrize("amount", ["0", "1000001"])
def test_faucet_rejects_invalid_amount(localnet_home, amount):
    result = localnet_home.run("localnet", "faucet", f"0x{7:064x}", "--amount", amount, "--json")
    assert (result.code, result.error["code"]) == (6, "faucet_failed")
    assert "amount_mist must be an integer from 1 to" in result.error["message"]


def test_advance_clock_moves_time(localnet_home):
    before = localnet_home.json("localnet", "status")["time_ms"]
    moved = localnet_home.json("localnet", "advance-clock", "7d")
    assert moved["time_ms"] >= before + 604_800_000
    assert localnet_home.json("localnet", "status")["time_ms"] >= moved["time_ms"]


def test_advance_epoch_starts_next_epoch(localnet_home):
    before = localnet_home.json("localnet", "advance-epoch")["epoch"]
    after = localnet_home.json("localnet", "advance-epoch")
    assert after["epoch"] == before + 1
    assert after["timestamp_ms"] <= localnet_home.json("localnet", "status")["time_ms"]


def test_revert_restores_snapshot(localnet_home):
    localnet_home.json("wallet", "new", "ann")
    snapshot = localnet_home.json("localnet", "snapshot")["snapshot"]
    localnet_home.json("localnet", "faucet")
    assert localnet_home.json("wallet", "show")["balance_mist"] == 1_000 * 10**9
    assert localnet_home.json("localnet", "revert", snapshot, "--yes") == {"snapshot": snapshot}
    assert localnet_home.json("wallet", "show")["balance_mist"] == 0


def test_invalid_snapshot_is_rejected(localnet_home):
    assert localnet_home.fails("localnet", "revert", "yesterday", "--yes") == (
        2,
        "snapshot_invalid",
    )
    strange = f"0-{'1' * 32}"
    assert localnet_home.fails("localnet", "revert", strange, "--yes") == (4, "snapshot_not_found")


def test_advance_clock_needs_localnet(home):
    assert home.fails("localnet", "advance-clock", "soon") == (2, "usage")
    # Another program may listen on the port of a localnet.
    nobody = {"NEXUS_TOOLS_LOCALNET_PORT": "1"}
    error = home.run("--json", "localnet", "advance-clock", "1s", **nobody).error
    assert (error["code"], error["hint"]) == (
        "node_unreachable",
        "Run `nexus-tools localnet start --detach`.",
    )
    home.configure(network="own", networks={"own": {"url": "http://127.0.0.1:1"}})
    assert home.fails("localnet", "advance-clock", "1s") == (6, "node_unreachable")


def test_stale_file_of_killed_localnet_is_ignored(localnet_home):
    with process_end(localnet_home.pid):
        os.kill(localnet_home.pid, signal.SIGKILL)
    trace = localnet_home.data / "localnet.json"
    assert json.loads(trace.read_text())["pid"] == localnet_home.pid
    assert localnet_home.fails("localnet", "status") == (3, "localnet_not_running")
    assert localnet_home.json("network", "list")[0]["url"] == "http://127.0.0.1:9000"


def test_stale_file_with_reused_pid_is_ignored(home):
    home.data.mkdir(parents=True)
    stale = {"pid": os.getpid(), "url": "http://127.0.0.1:1", "state": None, "detached": True}
    (home.data / "localnet.json").write_text(json.dumps(stale))
    assert home.fails("localnet", "stop") == (3, "localnet_not_running")


def test_state_survives_restart_and_kill(home, tmp_path):
    state = tmp_path / "state"
    first = start_localnet(home, "--port", "0", "--state", state)
    home.json("wallet", "new", "author")
    home.json("localnet", "faucet")
    home.json("package", "publish", "--yes")
    balance = home.json("wallet", "show")["balance_mist"]
    with process_end(first["pid"]):
        os.kill(first["pid"], signal.SIGKILL)
    second = start_localnet(home, "--port", "0", "--state", state)
    assert second["state"] == str(state)
    assert home.json("wallet", "show")["balance_mist"] == balance
    assert home.json("package", "show")["tools"] == 0
    home.json("localnet", "stop")


def test_start_refuses_a_state_that_lost_its_data(home, tmp_path):
    state = tmp_path / "state"
    with process_end(start_localnet(home, "--port", "0", "--state", state)["pid"]):
        home.json("localnet", "stop")
    (state / "ledger.sqlite").write_bytes(b"")
    result = home.spawn("localnet", "start", "--port", "0", "--state", state, "--detach", "--json")
    assert (result.code, result.error["code"]) == (7, "state_incomplete")
    Path(result.error["hint"].split("`")[1]).unlink()
    start_localnet(home, "--port", "0", "--state", state)
    home.json("localnet", "stop")


def test_start_names_the_extra_when_it_is_not_installed(home, tmp_path):
    missing = "import sys\nsys.modules |= dict.fromkeys(('sui_sandbox', 'py_arkworks_bls12381'))\n"
    (tmp_path / "sitecustomize.py").write_text(missing)
    result = home.spawn(
        *("localnet", "start", "--port", "0", "--detach", "--json"), PYTHONPATH=str(tmp_path)
    )
    assert (result.code, result.error["code"]) == (3, "framework_not_found")
    assert result.error["hint"] == "Run `pip install 'nexus-tools[localnet]'`."


@pytest.mark.parametrize("ends", ["killed", "stopped"])
def test_start_without_state_warns_of_the_chain_that_was_kept(home, tmp_path, ends):
    state = tmp_path / "the state"
    first = start_localnet(home, "--port", "0", "--state", state)
    with process_end(first["pid"]):
        if ends == "killed":
            os.kill(first["pid"], signal.SIGKILL)
        else:
            home.json("localnet", "stop")
    second = home.spawn("localnet", "start", "--port", "0", "--detach")
    assert second.code == 0
    assert f"--state '{state}'" in second.stderr
    home.json("localnet", "stop")
    third = home.spawn("localnet", "start", "--port", "0", "--detach")
    assert "stored its chain" not in third.stderr
    home.json("localnet", "stop")


def test_second_localnet_runs_beside_the_first_under_its_name(localnet_home):
    start_localnet(localnet_home, "--name", "second", NEXUS_TOOLS_LOCALNET_PORT="1")
    first, second = (
        localnet_home.json("localnet", "status", "-n", name) for name in ("localnet", "second")
    )
    assert first["url"] != second["url"]
    assert first["chain_id"] != second["chain_id"]
    networks = {each["name"]: each["url"] for each in localnet_home.json("network", "list")}
    assert networks["second"] == second["url"]
    localnet_home.json("wallet", "new", "author")
    localnet_home.json("localnet", "faucet", "-n", "second")
    assert localnet_home.json("wallet", "show")["balance_mist"] == 0
    assert localnet_home.json("wallet", "show", "-n", "second")["balance_mist"] > 0
    before = localnet_home.json("localnet", "advance-epoch", "-n", "second")["epoch"]
    assert localnet_home.json("localnet", "advance-epoch")["epoch"] == before
    localnet_home.json("network", "use", "second")
    assert localnet_home.json("localnet", "status")["name"] == "second"
    with process_end(second["pid"]):
        localnet_home.json("localnet", "stop")
    assert localnet_home.fails("localnet", "status") == (3, "localnet_not_running")
    unknown = localnet_home.run("wallet", "show", "--json")
    assert (unknown.code, unknown.error["code"]) == (3, "network_unknown")
    assert "localnet start --detach --name second" in unknown.error["hint"]
    localnet_home.json("network", "use", "localnet")
    assert localnet_home.json("localnet", "status")["pid"] == first["pid"]


@pytest.mark.parametrize("name", ["", "Two", "../up", "testnet", "own"])
def test_start_refuses_a_name_that_is_not_free(home, name):
    home.configure(networks={"own": {"url": "http://127.0.0.1:1"}})
    assert home.fails("localnet", "start", "--name", name) == (2, "localnet_name_invalid")


def test_reset_starts_new_chain_at_same_port(home, tmp_path):
    state = tmp_path / "state"
    started = start_localnet(home, "--port", "0", "--state", state)
    (state / "mine.txt").write_text("not the localnet's")
    chain = home.json("localnet", "status")["chain_id"]
    home.json("wallet", "new", "author")
    home.json("localnet", "faucet")
    home.json("package", "publish", "--yes")
    again = home.spawn("localnet", "reset", "--yes", "--json").document
    assert (again["url"], again["state"]) == (started["url"], str(state))
    assert home.json("localnet", "status")["chain_id"] != chain
    assert home.json("wallet", "show")["balance_mist"] == 0
    assert home.fails("package", "show") == (3, "package_not_published")
    assert (state / "mine.txt").exists()
    home.json("localnet", "stop")


def random_bytes(home):
    """The random bytes of a first transaction that takes them: what `0x8` holds then."""
    home.json("localnet", "faucet")
    builder = TransactionBuilder()
    builder.move_call(
        SUI_FRAMEWORK,
        "random",
        "new_generator",
        [builder.object(RANDOM, mutable=False)],
    )
    url = home.json("localnet", "status")["url"]

    async def draw():
        async with SuiClient(Network("localnet", url), home.wallet.signer()) as client:
            await client.execute(builder)
            random = await client.object(RANDOM)
            inner, version = random.data.contents[32:64], random.data.contents[64:72]
            field = dynamic_field_id(inner, TYPE_TAG.encode(Primitive.U64), version)
            state = await client.object(field)
            return state.data.contents[-48:]

    return asyncio.run(draw())


@pytest.fixture
def ann(home):
    """A user with a wallet, whose localnet ends with the test."""
    home.json("wallet", "new", "ann")
    yield home
    home.run("localnet", "stop")


def test_seed_makes_random_bytes_reproducible(ann):
    started = start_localnet(ann, "--port", "0", "--randomness-seed", "-dice")
    assert started["randomness_seed"] == "-dice"
    first = random_bytes(ann)
    again = ann.spawn("localnet", "reset", "--yes", "--json").document
    assert again["randomness_seed"] == "-dice"
    assert random_bytes(ann) == first


def test_random_bytes_differ_without_seed(ann):
    assert start_localnet(ann, "--port", "0")["randomness_seed"] is None
    first = random_bytes(ann)
    ann.spawn("localnet", "reset", "--yes", "--json")
    assert random_bytes(ann) != first


def test_reset_asks_for_confirmation(localnet_home):
    result = localnet_home.run("localnet", "reset", "--json")
    assert result.code == 2
    assert localnet_home.json("localnet", "status")["pid"] == localnet_home.pid


@pytest.mark.parametrize("options", [[], ["--detach"]])
def test_used_port_error_has_hint(home, options):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        result = home.spawn(
            "localnet", "start", *options, "--json", NEXUS_TOOLS_LOCALNET_PORT=str(port)
        )
    assert (result.code, result.error["code"]) == (2, "port_unavailable")
    assert str(port) in result.error["message"]
    assert "--port 0" in result.error["hint"]
    assert home.fails("localnet", "status") == (3, "localnet_not_running")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_foreground_localnet_prints_url_and_stops_cleanly(home, number):
    localnet = home.daemon("http://127.0.0.1:", "localnet", "start", "--port", "0")
    assert home.json("localnet", "status")["url"] in localnet.line
    assert home.fails("localnet", "reset", "--yes") == (4, "localnet_in_foreground")
    ended = localnet.end(number)
    assert (ended.code, ended.stdout) == (0, "")
    assert "Traceback" not in ended.stderr


def test_start_failure_names_log(home, tmp_path):
    state = tmp_path / "state"
    state.mkdir()
    (state / "ledger.sqlite").write_bytes(b"this is no database, and long enough to be noticed")
    result = home.spawn("localnet", "start", "--port", "0", "--state", state, "--detach", "--json")
    assert (result.code, result.error["code"]) == (7, "state_damaged")


def test_start_uses_protocol_version_and_framework(ann, tmp_path):
    folder = tmp_path / "framework"
    write_release(embedded_release(), folder)
    options = ("--protocol-version", "139", "--framework-from", folder)
    started = start_localnet(ann, "--port", "0", *options)
    again = ann.spawn("localnet", "reset", "--yes", "--json").document
    for document in (started, ann.json("localnet", "status"), again):
        assert document["protocol_version"] == 139
        assert document["framework_from"] == str(folder)
        assert document["framework"] == dict(embedded_release().digests)
    told = ann.run("localnet", "status").stdout
    assert "139" in told
    assert "0x2 3d78a6a8" in told


def test_unknown_protocol_version_is_rejected(home):
    result = home.spawn("localnet", "start", "--protocol-version", "141", "--port", "0", "--json")
    assert (result.code, result.error["code"]) == (2, "protocol_version_unknown")
    assert "105 to 140" in result.error["message"]


def test_missing_framework_is_rejected(home):
    result = home.spawn("localnet", "start", "--framework-from", "nowhere", "--port", "0", "--json")
    assert (result.code, result.error["code"]) == (2, "framework_source_invalid")
