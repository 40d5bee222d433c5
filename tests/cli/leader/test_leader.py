import json
import re
import signal
import urllib.request

import anyio
import httpx
import pytest

from benchmarks.proxy import Proxy


@pytest.fixture
def leader(author):
    """The id of a leader that the author registered, not active."""
    return author.json("leader", "register", "--name", "mine", "--inactive", "--yes")["leader"]


def balance(user):
    return user.json("wallet", "show")["balance_mist"]


def state(user):
    [row] = user.json("leader", "status")
    return row["state"]


def test_register_activates_leader_named_like_key(author):
    before = balance(author)
    document = author.json("leader", "register", "--yes")
    assert document["events"] == ["LeaderRegistered", "CollateralLocked", "LeaderActivityChanged"]
    assert before - balance(author) == 10_000_000_000 + document["cost_mist"]
    [row] = author.json("leader", "status")
    assert (row["leader"], row["name"], row["state"]) == (document["leader"], "author", "active")
    assert row["collateral_mist"] == 10_000_000_000
    author.json("leader", "unregister", "--yes")


def test_list_shows_the_newest_leaders_up_to_the_limit(author, leader, chain, monkeypatch):
    chain.fund(author.wallet.signer().address, 11 * 10**9)
    newest = author.json("leader", "register", "--name", "newest", "--yes")["leader"]
    listed = author.run("leader", "list", "--limit", "1", "--json")
    assert [row["leader"] for row in listed.document] == [newest]
    assert re.search(r"listed the newest 1 of \d+ leaders\. Use --all to list all", listed.stderr)
    everything = author.run("leader", "list", "--limit", "1", "--all", "--json")
    indices = [row["index"] for row in everything.document]
    assert indices == [*range(len(indices))][::-1]
    assert {leader, newest} <= {row["leader"] for row in everything.document}
    active = [row["leader"] for row in author.json("leader", "list", "--active", "--all")]
    assert newest in active
    assert leader not in active
    assert "Use --all" not in everything.stderr
    monkeypatch.setattr("nexus_tools.registry.MAX_SCANNED", 1)  # one page for each leader
    paged = author.json("leader", "list", "--all")
    assert [row["leader"] for row in paged] == [row["leader"] for row in everything.document]
    author.json("leader", "deactivate", "--leader", newest, "--yes")


def test_register_prints_run_command_of_worker(author, chain):
    chain.fund(author.wallet.signer().address, 10 * 10**9)
    author.wallet.new("machine")
    run = "`nexus-tools leader run"
    told = author.run("leader", "register", "--inactive", "--yes").stderr
    assert f"{run} --allow-loopback`" in told
    named = ("leader", "register", "--inactive", "--yes", "--worker", "machine")
    told = author.run(*named, "--name", "other").stderr
    assert f"{run} --worker machine --allow-loopback`" in told


@pytest.mark.parametrize("option", ["--wallet", "--worker"])
def test_run_with_wrong_key_names_worker_keys(author, leader, option):
    author.wallet.new("idle")
    refused = author.run("leader", "run", option, "idle")
    assert refused.code == 3
    command = "`nexus-tools leader run --worker author --allow-loopback`"
    assert f"Your other keys are workers of leaders. Run {command}" in refused.stderr


def test_run_warns_without_loopback_on_localnet(author, leader):
    line = author.daemon("loopback_not_allowed", "leader", "run", "--log-format", "json").line
    assert json.loads(line)["allow"] == "--allow-loopback"


def test_activate_and_deactivate_change_state(author, leader):
    assert state(author) == "inactive"
    author.json("leader", "activate", "--yes")
    assert state(author) == "active"
    assert author.fails("leader", "activate", "--yes") == (4, "already_active")
    author.json("leader", "deactivate", "--yes")
    assert state(author) == "inactive"
    assert author.fails("leader", "deactivate", "--yes") == (4, "not_active")


def test_claim_returns_collateral_after_delay(author, leader):
    assert author.fails("leader", "claim", "--yes") == (4, "not_unregistered")
    gone = author.json("leader", "unregister", "--yes")
    assert gone["claimable_at_ms"] > 0
    assert state(author) == "unregistered"
    assert author.fails("leader", "unregister", "--yes") == (4, "already_unregistered")
    refused = author.run("leader", "claim", "--yes")
    assert refused.code == 4
    assert "claimable at" in refused.stderr
    author.json("localnet", "advance-clock", "7d")
    before = balance(author)
    claimed = author.json("leader", "claim", "--yes")
    assert balance(author) - before == 10_000_000_000 - claimed["cost_mist"]
    assert state(author) == "claimed"
    back = author.json("leader", "re-register", "--yes")
    assert back["amount_mist"] == 10_000_000_000
    assert state(author) == "inactive"


def test_cancel_unregister_restores_leader(author, leader):
    author.json("leader", "unregister", "--yes")
    author.json("leader", "cancel-unregister", "--yes")
    assert state(author) == "inactive"
    assert author.fails("leader", "top-up", "--yes") == (4, "nothing_to_top_up")


def test_missing_leader_hints_at_register(author):
    result = author.run("leader", "activate", "--yes", "--json")
    assert (result.code, result.error["code"]) == (3, "leader_missing")
    assert "leader register" in result.error["hint"]


def test_missing_leader_hints_at_the_key_that_owns_one(author, leader, tmp_path):
    author.wallet.new("idle")
    author.json("leader", "key", "new", tmp_path / "leader.pem")
    command = ("leader", "key", "add", tmp_path / "leader.pem", "--yes")
    result = author.run(*command, "--wallet", "idle", "--json")
    assert (result.code, result.error["code"]) == (3, "leader_missing")
    assert result.error["hint"].endswith("Run the command again with --wallet author.")
    told = author.run(*command).stderr
    assert f"next: set NEXUS_TOOLS_LEADER_SIGNING_KEY={tmp_path / 'leader.pem'} on" in told


def test_register_reports_insufficient_funds(author, leader):
    result = author.run("leader", "register", "--name", "second", "--yes", "--json")
    assert (result.code, result.error["code"]) == (4, "not_enough_sui")


@pytest.mark.parametrize("extra_mist", range(0, 9_000_000, 1_000_000))
@pytest.mark.parametrize(
    ("locked_mist", "verb"),
    [
        (10_000_000_000, ("leader", "register")),
        (1_000_000_000, ("tool", "register", "--from-meta", "-")),
    ],
)
def test_register_keeps_enough_sui_for_gas(
    new_home, publisher, chain, definition, *, locked_mist, verb, extra_mist
):
    user = new_home(f"user{extra_mist}", publisher)
    chain.fund(user.wallet.signer().address, locked_mist + extra_mist)
    stdin = json.dumps(definition)
    dry = user.run(*verb, "--dry-run", "--json", stdin=stdin)
    result = user.run(*verb, "--yes", "--json", stdin=stdin)
    assert dry.code == result.code
    if result.code == 0:
        assert balance(user) < extra_mist
        return
    assert (result.code, result.error["code"]) == (4, "not_enough_sui")
    assert balance(user) == locked_mist + extra_mist
    assert result.error["details"]["available_mist"] == locked_mist + extra_mist


def test_insufficient_funds_error_names_amounts(new_home, publisher, chain):
    user = new_home("poor", publisher)
    chain.fund(user.wallet.signer().address, 10_000_500_000)
    message = user.run("leader", "register", "--yes", "--json").error["message"]
    assert "the wallet has 10.0005 SUI, but the operation needs about 10.0" in message
    assert ": 10 SUI and up to 0.0" in message


def test_ambiguous_leader_is_rejected(author, leader, chain):
    chain.fund(author.wallet.signer().address, 20 * 10**9)
    second = author.json("leader", "register", "--inactive", "--yes")["leader"]
    result = author.run("leader", "activate", "--yes", "--json")
    assert (result.code, result.error["code"]) == (2, "leader_ambiguous")
    assert leader in result.error["hint"]
    document = author.json("leader", "activate", "--leader", second, "--dry-run")
    assert document["leader"] == second
    assert len(author.json("leader", "status")) == 2


def test_register_sends_nothing_when_the_name_is_registered(author, leader):
    before = balance(author)
    again = author.json("leader", "register", "--name", "mine", "--yes")
    assert (again["leader"], again["digest"], again["active"]) == (leader, None, False)
    said = author.run("leader", "register", "--name", "mine")
    assert said.code == 0
    assert "the leader mine is already registered, nothing was sent" in said.stderr
    assert f"nexus-tools leader activate --leader {leader}" in said.stderr
    assert balance(author) == before
    [row] = author.json("leader", "status")
    assert row["leader"] == leader


def test_register_names_the_other_leader_before_it_asks(author, leader, chain):
    chain.fund(author.wallet.signer().address, 20 * 10**9)
    asked = author.run("leader", "register", "--name", "second")
    assert asked.code == 2
    assert f"You already own the leader mine ({leader}). Register the leader second" in asked.stderr
    told = author.run("leader", "register", "--name", "second", "--inactive", "--yes")
    assert f"You already own the leader mine ({leader})." in told.stderr
    again = author.json("leader", "activate", "--leader", "second", "--yes")
    assert again["leader"] != leader


def test_register_hints_at_cancel_unregister(author, leader):
    author.json("leader", "unregister", "--yes")
    result = author.run("leader", "register", "--name", "mine", "--yes", "--json")
    assert (result.code, result.error["code"]) == (4, "leader_unregistered")
    assert f"leader cancel-unregister --leader {leader}" in result.error["hint"]


def test_dry_run_registers_nothing(author):
    before = balance(author)
    document = author.json("leader", "register", "--dry-run")
    assert (document["dry_run"], document["digest"]) == (True, None)
    assert balance(author) == before
    assert author.json("leader", "status") == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_daemon_logs_ready_and_stops_cleanly(author, leader, number):
    daemon = author.daemon("works", "leader", "run", "--health-port", "0", "--log-format", "json")
    works = json.loads(daemon.line)
    assert (works["event"], works["leader"]) == ("works", leader)
    with urllib.request.urlopen(f"{works['health']}/healthz") as response:
        assert response.status == 200
    ended = daemon.end(number)
    assert (ended.code, ended.stdout) == (0, "")
    events = [json.loads(line)["event"] for line in ended.stderr.splitlines()]
    # A Leader with a new journal searches for schedules beside other work, also while it stops.
    assert sorted(events) in (["stopped"], ["schedules_found", "stopped"])


def test_daemon_without_health_port_logs_no_health(author, leader):
    daemon = author.daemon("works", "leader", "run", "--log-format", "json")
    assert "health" not in json.loads(daemon.line)


def test_daemon_prints_ready_message(author, leader):
    daemon = author.daemon("✓", "leader", "run", "--health-port", "0", "--log-format", "text")
    assert f"the leader {leader} is running, health at http://127.0.0.1:" in daemon.line


@pytest.mark.long
def test_json_log_contains_errors_as_json(author, leader):
    author.daemon("works", "leader", "run")
    second = author.spawn("leader", "run", "--log-format", "json")
    *_, last = map(json.loads, second.stderr.splitlines())
    assert second.code == 2
    assert (last["event"], last["code"], last["level"]) == ("ended", "journal_locked", "error")


def test_public_health_host_warns(author, leader):
    options = ("--health-host", "0.0.0.0", "--health-port", "0", "--log-format", "json")
    daemon = author.daemon("health_endpoint_public", "leader", "run", *options)
    assert json.loads(daemon.line)["url"].startswith("http://0.0.0.0:")


@pytest.mark.long
def test_journal_is_locked_by_one_daemon(author, leader):
    author.daemon("works", "leader", "run")
    journal = author.data / "leaders" / f"{leader}.sqlite"
    assert journal.is_file()
    second = author.spawn("leader", "run", "--json")
    assert (second.code, second.error["code"]) == (2, "journal_locked")
    assert second.error["hint"].startswith("Stop the other process.")
    assert "--journal" not in second.error["hint"]


def test_journal_can_be_in_postgresql(author, leader, postgres):
    url = postgres.new_url()
    author.daemon("works", "leader", "run", "--journal", url)
    schema = url.partition("schema=")[2]
    [(identity,)] = postgres.execute("SELECT value FROM identity", schema=schema)
    assert identity.endswith(leader)
    assert not (author.data / "leaders").exists()


def test_run_logs_why_it_cannot_open_the_journal(author, leader):
    options = ("--journal", "postgresql://127.0.0.1:1/d", "--log-format", "text")
    line = author.daemon("not_ready", "leader", "run", *options).line
    assert "cannot open the journal in PostgreSQL" in line
    assert "Check the PostgreSQL server and the URL of the journal." in line


@pytest.mark.long
def test_change_to_postgresql_is_refused_while_a_leader_uses_the_file(author, leader, postgres):
    author.daemon("works", "leader", "run")
    second = author.spawn("leader", "run", "--journal", postgres.new_url(), "--json")
    assert (second.code, second.error["code"]) == (2, "journal_unfinished")
    assert "a Leader uses" in second.error["message"]


def test_invalid_journal_url_is_refused_without_its_password(author, leader):
    refused = author.run("leader", "run", "--journal", "postgresql://a:hush/hush@host/db", "--json")
    assert (refused.code, refused.error["code"]) == (2, "config_invalid")
    assert "journal: expected postgresql://" in refused.error["message"]
    assert "hush" not in refused.stdout + refused.stderr


def test_environment_sets_config(author, leader, tmp_path):
    journal = tmp_path / "elsewhere.sqlite"
    author.daemon("works", "leader", "run", NEXUS_TOOLS_LEADER_JOURNAL=str(journal))
    assert journal.is_file()


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--max-concurrent", "0"], "max_concurrent"),
        (["--allow-network", "10.0.0.0/99"], "allowed_networks"),
        (["--storage", "walrus"], "storages"),
    ],
)
def test_out_of_range_setting_is_named(author, leader, options, word):
    result = author.run("leader", "run", *options, "--json")
    assert (result.code, result.error["code"]) == (2, "config_invalid")
    assert word in result.error["message"]


def test_run_rejects_key_without_leader(stranger, leader):
    assert stranger.fails("leader", "run", "--leader", leader)[0] == 8
    assert stranger.fails("leader", "run") == (3, "leader_missing")


def test_worker_runs_leader_of_other_owner(author, stranger, leader):
    author.json("leader", "worker", "add", stranger.wallet.signer().address, "--yes")
    daemon = stranger.daemon("works", "leader", "run", "--log-format", "json")
    assert json.loads(daemon.line)["leader"] == leader


def test_leader_runs_with_several_workers(author, chain, leader):
    account, _ = author.wallet.new("second")
    chain.fund(account.address, 10**9)
    author.json("leader", "worker", "add", "second", "--yes")
    workers = ("--worker", "author", "--worker", "second")
    daemon = author.daemon("works", "leader", "run", *workers, "--log-format", "json")
    assert json.loads(daemon.line)["leader"] == leader


# --- A node that is away at the start


@pytest.fixture
async def unreachable_node(author, chain):
    """A way to the node on which the author depends, that is closed."""
    async with Proxy(int(chain.url.rpartition(":")[2])).running() as proxy:
        settings = author.settings
        settings["networks"]["test"]["url"] = proxy.url
        author.configure(**settings)
        await proxy.drop()
        yield proxy


async def test_daemon_is_not_ready_while_node_is_unreachable(
    author, leader, unreachable_node, free_tcp_port
):
    health = f"http://127.0.0.1:{free_tcp_port}"
    port = str(free_tcp_port)
    daemon = author.daemon("not_ready", "leader", "run", "--json", "--health-port", port)
    assert "does not respond" in json.loads(daemon.line)["node"]
    assert json.loads(daemon.line)["code"] == "node_unreachable"
    async with httpx.AsyncClient() as client:
        assert (await client.get(f"{health}/healthz")).status_code == 200
        response = await client.get(f"{health}/readyz")
    assert response.status_code == 503
    assert "does not respond" in response.json()["problems"]["node"]
    await unreachable_node.mend()
    await anyio.to_thread.run_sync(line_with, "works", daemon.process.stderr)
    ended = await anyio.to_thread.run_sync(daemon.end)
    assert ended.code == 0


def line_with(word, stream):
    return next(line for line in stream if word in line)


@pytest.mark.long
async def test_ctrl_c_stops_daemon_waiting_for_node(author, leader, unreachable_node):
    ended = author.daemon("not_ready", "leader", "run", "--json").end(signal.SIGINT)
    assert ended.code == 130
    assert "Traceback" not in ended.stderr
