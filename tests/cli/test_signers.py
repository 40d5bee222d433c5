"""Commands that sign with `examples/remote_signer.py`, the server of another user."""

import json
import signal
import subprocess
import sys

import pytest
import tomli_w

from nexus_tools.sui.types.address import Address
from tests.cli.conftest import MIST_PER_SUI, Home, read_until

TOKEN = "t" * 32
RECIPIENT = "0x" + "b0b" + "0" * 61


class Custody:
    """The machine of the signer: its key, its policy, and its server."""

    def __init__(self, folder, example, packages):
        self.home = Home(folder)
        self.address = str(self.home.wallet.new("treasury")[0].address)
        self._example = example
        self._process = None
        (folder / "token").write_text(TOKEN)
        (folder / "token").chmod(0o600)
        self.policy = {
            "key": "treasury",
            "listen": "127.0.0.1:0",
            "token_file": "token",
            "total_file": "total.json",
            "log_file": "log.jsonl",
            "calls": packages,
            "recipients": [RECIPIENT],
            "max_budget_mist": MIST_PER_SUI // 10,
            "max_budget_mist_per_day": MIST_PER_SUI,
        }

    def write_policy(self, **changes):
        """Write the policy file, and return its path."""
        self.policy |= changes
        file = self.home.folder / "policy.toml"
        file.write_text(tomli_w.dumps(self.policy))
        return file

    def start(self, **changes):
        """Start the server, and return its URL with the address."""
        self.stop()
        file = self.write_policy(**changes)
        self._process = subprocess.Popen(
            [sys.executable, self._example, file],
            env=self.home.process_environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        line = read_until(self._process.stderr, "signing for")
        return f"{line.split(' at ')[1].strip()}#{self.address}"

    def stop(self):
        if self._process is not None:
            self._process.terminate()
            self._process.communicate(timeout=30)
            self._process = None

    @property
    def decisions(self):
        """The lines of the log."""
        file = self.home.folder / "log.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()]


@pytest.fixture
def packages(publisher):
    [deployment] = publisher.settings["deployments"].values()
    return [deployment["package_id"], deployment["workflows_id"]]


@pytest.fixture
def custody(chain, tmp_path_factory, examples, packages):
    found = Custody(tmp_path_factory.mktemp("custody"), examples / "remote_signer.py", packages)
    chain.fund(Address.parse(found.address), 20 * MIST_PER_SUI)
    yield found
    found.stop()


@pytest.fixture
def user(home, publisher, custody):
    """A user without a key, who has the token of the signer."""
    home.configure(**publisher.settings)
    file = home.folder / "signer-token"
    file.write_text(TOKEN)
    file.chmod(0o600)
    home.environment["NEXUS_TOOLS_SIGNER_TOKEN_FILE"] = str(file)
    return home


STOPPED_WHEN_READY = """
import runpy, signal, sys
write = sys.stderr.write

def interrupt(text):
    write(text)
    if "signing for" in text:
        signal.raise_signal({number})

sys.stderr.write = interrupt
runpy.run_path(sys.argv.pop(1), run_name="__main__")
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signer_stops_on_a_signal_as_soon_as_it_is_ready(custody, examples, number):
    program = STOPPED_WHEN_READY.format(number=int(number))
    command = [sys.executable, "-c", program, examples / "remote_signer.py", custody.write_policy()]
    environment = custody.home.process_environment
    ended = subprocess.run(command, env=environment, check=False, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert len(ended.stderr.splitlines()) == 1


def transfer(url, recipient=RECIPIENT):
    return ("wallet", "transfer", recipient, "0.5", "--signer", url, "--yes")


def test_tool_is_registered_and_sui_is_sent_with_a_remote_signer(
    user, custody, meta_file, definition
):
    friend = user.json("wallet", "new", "friend")["address"]
    url = custody.start(recipients=[friend])
    user.json("tool", "register", "--from-meta", meta_file(definition), "--signer", url, "--yes")
    [tool] = user.json("tool", "list", "--owner", custody.address)
    assert tool["fqn"] == definition["fqn"]
    user.json(*transfer(url, friend))
    assert user.json("wallet", "show", "friend")["balance_mist"] == MIST_PER_SUI // 2
    register, send = custody.decisions
    assert [register["decision"], send["decision"]] == ["signed", "signed"]
    assert send["calls"] == []
    assert send["transfers"] == [{"recipient": friend, "amounts": [MIST_PER_SUI // 2]}]


def test_signer_is_selected_by_a_setting_or_a_variable(user, custody):
    url = custody.start()
    shown = user.json("wallet", "show", NEXUS_TOOLS_SIGNER=url)
    assert (shown["address"], shown["source"]) == (custody.address, url.partition("#")[0])
    user.json("config", "set", "signer", url)
    assert user.json("status")["address"] == custody.address
    mine = user.json("wallet", "new", "mine")["address"]
    assert user.json("wallet", "show", "--wallet", "mine")["address"] == mine
    assert user.json("wallet", "show", NEXUS_TOOLS_WALLET="mine")["address"] == mine
    user.json("wallet", "use", "mine")
    assert "signer" not in user.settings
    assert user.json("wallet", "show")["address"] == mine


def test_command_refuses_a_wallet_and_a_signer(user, custody):
    url = custody.start()
    assert user.fails("wallet", "show", "--wallet", "x", "--signer", url) == (2, "signer_ambiguous")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"recipients": []}, f"the recipient {RECIPIENT} is not allowed"),
        ({"max_budget_mist": 1_000}, "the gas budget exceeds 1000 MIST"),
        ({"max_budget_mist_per_day": 1_000}, "the gas budgets of today exceed 1000 MIST"),
    ],
)
def test_transfer_outside_the_policy_is_refused(user, custody, changes, reason):
    url = custody.start(**changes)
    result = user.run(*transfer(url), "--json")
    assert (result.code, result.error["code"]) == (8, "signer_refused")
    assert reason in result.error["message"]
    [line] = custody.decisions
    assert (line["decision"], line["reason"]) == ("refused", reason)


def test_call_outside_the_policy_is_refused(user, custody, meta_file, definition):
    url = custody.start(calls=[])
    arguments = ("tool", "register", "--from-meta", meta_file(definition), "--signer", url, "--yes")
    result = user.run(*arguments, "--json")
    assert result.error["code"] == "signer_refused"
    assert "::definition::define is not allowed" in result.error["message"]


def test_functions_can_be_listed_without_their_package(user, custody, meta_file, definition):
    arguments = ("tool", "register", "--from-meta", meta_file(definition), "--yes")
    assert user.fails(*arguments, "--signer", custody.start(calls=[])) == (8, "signer_refused")
    [refused] = custody.decisions
    user.json(*arguments, "--signer", custody.start(calls=refused["calls"]))
    assert custody.decisions[-1]["calls"] == refused["calls"]


def test_daily_total_survives_a_restart(user, custody):
    user.json(*transfer(custody.start()))
    spent = json.loads((custody.home.folder / "total.json").read_text())["spent_mist"]
    url = custody.start(max_budget_mist_per_day=spent + 1)
    assert user.fails(*transfer(url)) == (8, "signer_refused")
    (custody.home.folder / "total.json").write_text("")
    result = user.run(*transfer(url), "--json")
    assert "is damaged" in result.error["message"]


def test_request_without_the_token_is_refused(user, custody):
    url = custody.start()
    del user.environment["NEXUS_TOOLS_SIGNER_TOKEN_FILE"]
    assert user.fails(*transfer(url)) == (8, "signer_unauthorized")
    wrong = user.run(*transfer(url), "--json", NEXUS_TOOLS_SIGNER_TOKEN="x" * 32)
    assert wrong.error["code"] == "signer_unauthorized"
    assert "x" * 32 not in wrong.stdout + wrong.stderr
    assert {line["decision"] for line in custody.decisions} == {"unauthorized"}


def test_client_certificate_replaces_the_token(user, custody, make_certificate):
    made = make_certificate("127.0.0.1")
    files = {"certificate": str(made.certificate), "key": str(made.key)}
    del custody.policy["token_file"]
    url = custody.start(tls={**files, "client_ca": str(made.certificate)})
    assert url.startswith("https://127.0.0.1:")
    user.json(
        *transfer(f"{url}&certificate={made.certificate}&key={made.key}&ca={made.certificate}")
    )
    assert user.fails(*transfer(f"{url}&ca={made.certificate}")) == (6, "signer_unreachable")
    assert user.fails(*transfer(url)) == (6, "signer_unreachable")
    assert [line["decision"] for line in custody.decisions] == ["signed"]


def test_signer_of_another_address_is_refused(user, custody, chain):
    url = custody.start().partition("#")[0] + "#0x" + "7" * 64
    chain.fund(Address.parse("0x" + "7" * 64), MIST_PER_SUI)
    assert user.fails(*transfer(url)) == (8, "signer_address_wrong")


def test_missing_address_is_shown_with_the_command_to_use(user, custody):
    url = custody.start()
    result = user.run(*transfer(url.partition("#")[0]), "--json")
    assert result.error["code"] == "signer_address_missing"
    assert f"'{url}'" in result.error["hint"]


def test_hint_repeats_the_signer(user, custody):
    url = custody.start()
    result = user.run("tool", "unregister", "xyz.test.absent@1", "--signer", url, "--yes", "--json")
    assert result.error["code"] == "tool_unknown"
    assert f"tool list --signer '{url}'`" in result.error["hint"]


def test_leader_closes_with_a_remote_signer(
    user, custody, stranger, operator, operator_leader, tool_server_url
):
    """The worker's key is at the remote signer; the machine of the Leader has no key."""
    operator.json("leader", "worker", "add", custody.address, "--yes")
    url = custody.start()
    daemon = user.daemon(
        *('"works"', "leader", "run", "--worker", url, "--allow-loopback"),
        *("--leader", operator_leader),
    )
    fqn = "xyz.example.math.divide@1"
    terms = ("--leader", operator_leader, "--yes")
    stranger.json("tool", "register", "--url", f"{tool_server_url}/{fqn}", *terms)
    inputs = ("--input", "dividend=7", "--input", "divisor=2")
    outcome = stranger.json("tool", "invoke", fqn, *inputs, "--leader", operator_leader, "--yes")
    assert outcome["ports"] == {"quotient": 3, "remainder": 1}
    assert daemon.end().code == 0
    assert not user.wallet.accounts()
    assert {line["decision"] for line in custody.decisions} == {"signed"}
    calls = {call.rsplit("::", 2)[-1] for line in custody.decisions for call in line["calls"]}
    assert {"settle", "send_funds"} <= calls


def test_leader_does_not_start_with_a_signer_of_another_address(user, custody):
    url = custody.start().partition("#")[0] + "#0x" + "7" * 64
    arguments = ("leader", "run", "--worker", url)
    assert user.fails(*arguments) == (8, "signer_address_wrong")


def test_leader_names_a_signer_that_is_not_a_worker(user, custody):
    assert user.fails("leader", "run", "--worker", custody.start()) == (3, "leader_missing")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"token_file": None}, "expected token_file, or client_ca"),
        ({"listen": "0.0.0.0:0"}, "needs [tls]"),
        ({"listen": "example.com"}, "'example.com' is not a valid address"),
        ({"tls": {"certificate": "server.pem"}}, "the setting 'key' is missing"),
        ({"limit": 1}, "unknown settings: limit"),
        ({"calls": ["0x2"]}, "0x2: name each function"),
        ({"calls": ["0x2::transfer"]}, "0x2::transfer: name each function"),
        ({"max_budget_mist": None}, "the setting 'max_budget_mist' is missing"),
    ],
)
def test_server_does_not_start_with_an_unsafe_policy(custody, changes, reason):
    policy = custody.policy | changes
    custody.policy = {key: value for key, value in policy.items() if value is not None}
    with pytest.raises(AssertionError, match="no line") as caught:
        custody.start()
    assert reason in str(caught.value)
