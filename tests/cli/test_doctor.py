"""Findings of `doctor` in valid settings, and in settings with one defect."""

import socket

import pytest

from nexus_tools.cli.doctor import network


@pytest.fixture(autouse=True)
def _patient(monkeypatch):
    """Wait for the network of the tests on a busy machine."""
    monkeypatch.setattr(network, "_NODE_TIMEOUT_S", 100.0)
    monkeypatch.setattr(network, "_CHECK_TIMEOUT_S", 100.0)


def findings_of(home, name, *arguments, **environment):
    """Exit code, and status and remedy of each finding of a name."""
    result = home.run("doctor", "--json", *arguments, **environment)
    rows = [row for row in result.document["findings"] if row["name"] == name]
    return result.code, [(row["status"], row["remedy"]) for row in rows]


def test_doctor_reports_health_when_all_checks_pass(author):
    result = author.run("doctor", "--json", SHELL="")
    assert result.code == 0, result.stdout
    assert result.document["healthy"] is True
    assert {row["status"] for row in result.document["findings"]} == {"ok"}
    names = {row["name"] for row in result.document["findings"]}
    assert names >= {
        "version",
        "extra",
        "network",
        "chain",
        "protocol",
        "clock",
        "wallet",
        "package",
    }


def test_doctor_prints_a_mark_and_remedy_for_each_finding(author):
    (author.data / "sui.keystore").chmod(0o644)
    result = author.run("doctor")
    assert result.code == 1
    lines = result.stdout.splitlines()
    place = next(i for i, line in enumerate(lines) if line.startswith("✗ keystore"))
    assert lines[place + 1].strip() == f"chmod 600 {author.data / 'sui.keystore'}"
    assert any(line.startswith("✓ network") for line in lines)
    assert "checks failed: keystore" in result.stderr
    quiet = author.run("doctor", "--quiet", SHELL="").stdout
    assert "✓" not in quiet
    assert "✗ keystore" in quiet


def test_remedies_lead_a_new_user_to_health(home, chain):
    assert findings_of(home, "keystore") == (1, [("problem", "nexus-tools wallet new")])
    start = ("problem", "nexus-tools localnet start --detach")
    closed = {"NEXUS_TOOLS_LOCALNET_PORT": "1"}
    assert findings_of(home, "localnet", **closed) == (1, [start])
    assert findings_of(home, "network", **closed) == (1, [start])
    home.configure(network="test", networks={"test": {"url": chain.url, "faucet_url": chain.url}})
    assert findings_of(home, "wallet") == (1, [("problem", "nexus-tools wallet new")])
    home.json("wallet", "new", "me")
    address = home.json("wallet", "show")["address"]
    faucet = f"nexus-tools localnet faucet {address} -n test"
    assert findings_of(home, "wallet") == (1, [("problem", faucet)])
    publish = "nexus-tools package publish -n test"
    assert findings_of(home, "package") == (1, [("problem", publish)])
    for remedy in (faucet, publish):
        home.json(*remedy.split()[1:], *(["--yes"] if "publish" in remedy else []))
    assert home.json("doctor")["healthy"] is True


def test_low_balance_is_a_warning(home, chain, publisher):
    home.configure(**publisher.settings)
    account, _ = home.wallet.new("poor")
    chain.fund(account.address, 1_000)
    code, [(status, remedy)] = findings_of(home, "wallet")
    assert (code, status) == (0, "warning")
    assert remedy.startswith("nexus-tools localnet faucet 0x")


def test_leader_whose_workers_cannot_pay_is_a_problem_with_a_remedy(author, new_home, chain):
    worker = new_home("worker", author).wallet.signer().address
    leader = author.json("leader", "register", "--yes")["leader"]
    assert findings_of(author, "leader") == (0, [("ok", "")])
    mine = author.json("wallet", "show")["address"]
    author.json("leader", "worker", "add", worker, "--yes")
    author.json("leader", "worker", "remove", mine, "--yes")
    faucet = f"nexus-tools localnet faucet {worker} --amount 1.000 -n test"
    assert findings_of(author, "leader") == (1, [("problem", faucet)])
    for command in (("status",), ("leader", "status", "--leader", leader)):
        assert faucet in author.run(*command).stderr
    author.json(*faucet.split()[1:])
    assert findings_of(author, "leader") == (0, [("ok", "")])
    assert "cannot pay" not in author.run("status").stderr


def test_missing_extra_is_named(author, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "wasmtime", None)
    code, rows = findings_of(author, "extra")
    assert ("warning", "pip install 'nexus-tools[compiler]'") in rows
    assert code == 0


def test_completion_that_is_not_installed_is_a_warning(author):
    code, rows = findings_of(author, "completion", SHELL="/bin/bash")
    assert (code, rows) == (0, [("warning", "nexus-tools completion install")])
    author.json("completion", "install", "bash")
    assert findings_of(author, "completion", SHELL="/bin/bash") == (0, [("ok", "")])


def test_readable_journal_is_a_warning(author):
    journal = author.data / "leaders" / "0x1.sqlite"
    journal.parent.mkdir(parents=True)
    journal.touch(0o644)
    assert findings_of(author, "journal") == (0, [("warning", f"chmod 600 {journal}")])


def test_unreachable_tool_server_is_a_problem(author, definition, meta_file, tool_server_url):
    dead = f"{tool_server_url.rpartition(':')[0]}:1"
    path = meta_file(definition | {"url": dead})
    author.json("tool", "register", "--from-meta", path, "--skip-validation", "--yes")
    validate = ("problem", f"nexus-tools tool validate {dead}")
    assert findings_of(author, "tool") == (1, [validate])
    well = ("--url", f"{tool_server_url}/divide", "--skip-validation", "--yes")
    author.json("tool", "update", definition["fqn"], *well)
    assert validate not in findings_of(author, "tool")[1]


def test_served_schemas_that_differ_from_the_chain_are_a_problem(
    author, definition, meta_file, tool_server_url
):
    url = f"{tool_server_url}/divide"
    differing = definition | {"fqn": "xyz.example.math.divide@1", "url": url}
    register = ("tool", "register", "--from-meta", meta_file(differing))
    author.json(*register, "--skip-validation", "--yes")
    assert findings_of(author, "tool")[1] == [("problem", f"nexus-tools tool validate {url}")]
    [tool] = author.json("status")["tools"]
    assert tool["problem"] == "serves schemas that differ from the chain"


def test_clock_difference_is_a_warning_except_on_a_localnet(author, publisher, chain):
    author.json("localnet", "advance-clock", "1h")
    [row] = [row for row in author.json("doctor")["findings"] if row["name"] == "clock"]
    assert (row["status"], row["remedy"]) == ("ok", "")
    assert row["message"].endswith(" ahead because it was advanced")
    author.configure(**author.settings | {"networks": {"test": {"url": chain.url}}})
    result = author.run("doctor", "--json")
    [row] = [row for row in result.document["findings"] if row["name"] == "clock"]
    assert (row["status"], row["remedy"]) == ("warning", "timedatectl set-ntp true")
    assert "behind the chain" in row["message"]


def test_silent_node_is_reported_after_the_timeout(author, monkeypatch):
    monkeypatch.setattr(network, "_NODE_TIMEOUT_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        known = author.settings
        known["networks"]["test"]["url"] = f"http://127.0.0.1:{listener.getsockname()[1]}"
        author.configure(**known)
        code, rows = findings_of(author, "network")
    assert (code, rows) == (1, [("problem", "nexus-tools network use NAME --url URL")])


def test_hint_matches_the_output_format(home):
    assert "lines with ✗" in home.run("doctor").stderr
    assert "remedy" in home.run("doctor", "--json").error["hint"]


def test_unknown_network_is_a_problem(author):
    assert findings_of(author, "network", "-n", "nowhere") == (
        1,
        [("problem", "nexus-tools network list")],
    )
