"""A wallet without SUI: the hint of each command leads to enough at the first attempt."""

import json
import re
import shlex

import pytest

from nexus_tools.sui.localnet import ThreadedLocalnet

DIVIDE = "xyz.example.math.divide@1"
INPUT = '{"dividend": 84, "divisor": 2}'


@pytest.fixture
def poor(publisher, new_home):
    """A user who knows the network and the package, and has nothing."""
    return new_home("poor", publisher)


def works_after_its_hint(user, *command, stdin=""):
    refused = user.run(*command, "--yes", "--json", stdin=stdin)
    assert (refused.code, refused.error["code"]) == (4, "not_enough_sui")
    required = refused.error["details"]["required_mist"]
    assert refused.error["details"]["lacking_mist"] == required
    (hint,) = re.findall("`([^`]+)`", refused.error["hint"])
    funded = user.run(*shlex.split(hint)[1:])
    assert funded.code == 0, funded.stderr
    result = user.run(*command, "--yes", "--json", stdin=stdin)
    assert result.code == 0, result.stderr
    return result.document


def test_first_error_of_a_new_user_lists_all_steps(home, free_tcp_port):
    """No key, no localnet, no SUI."""
    port = {"NEXUS_TOOLS_LOCALNET_PORT": str(free_tcp_port)}
    publish = ("package", "publish", "--network", "localnet", "--yes", "--json")
    refused = home.run(*publish, **port)
    assert (refused.code, refused.error["code"]) == (3, "wallet_empty")
    hints = re.findall("`nexus-tools ([^`]+)`", refused.error["hint"])
    try:
        for hint in hints:
            done = home.spawn(*shlex.split(hint), **port)
            assert done.code == 0, done.stderr
        published = home.spawn(*publish, **port)
    finally:
        home.run("localnet", "stop")
    assert published.code == 0, published.stderr
    assert len(hints) == 3


def test_package_publish_works_after_its_hint(home):
    with ThreadedLocalnet() as localnet:
        url = localnet.url
        home.configure(network="test", networks={"test": {"url": url, "faucet_url": url}})
        home.wallet.new("author")
        published = works_after_its_hint(home, "package", "publish")
        assert published["workflows_id"]
        left = home.json("wallet", "show")["balance_mist"]
    assert left < 500_000_000  # the hint names not much more than publishing takes


def test_leader_register_works_after_its_hint(poor):
    assert works_after_its_hint(poor, "leader", "register")["collateral_mist"] == 10**10


def test_tool_register_works_after_its_hint(poor, definition):
    stdin = json.dumps(definition)
    works_after_its_hint(poor, "tool", "register", "--from-meta", "-", stdin=stdin)


def test_tool_register_of_many_tools_works_after_its_hint(poor, definition):
    many = [
        definition | {"fqn": definition["fqn"].replace("@1", f"@{version}")}
        for version in range(1, 41)
    ]
    stdin = json.dumps(many)
    works_after_its_hint(poor, "tool", "register", "--from-meta", "-", stdin=stdin)


def test_tool_invoke_works_after_its_hint(poor, halve_fqn):
    command = ("tool", "invoke", DIVIDE, "--input", INPUT, "--no-wait")
    assert works_after_its_hint(poor, *command)["invocation"]


def test_tool_invoke_works_after_its_hint_when_it_waits(poor, halve_fqn, operator):
    leader = operator.daemon("works", "leader", "run", "--allow-loopback")
    document = works_after_its_hint(poor, "tool", "invoke", DIVIDE, "--input", INPUT)
    assert document["variant"] == "ok"
    assert leader.end().code == 0


def test_workflow_run_works_after_its_hint(poor, halve_fqn):
    command = ("workflow", "run", halve_fqn, "--input", INPUT)
    assert works_after_its_hint(poor, *command)["execution"]


def test_schedule_create_works_after_its_hint(poor, halve_fqn):
    command = ("schedule", "create", halve_fqn, "--input", INPUT, "--every", "1h", "--funds", "1")
    assert works_after_its_hint(poor, *command)["funds_mist"] == 10**9


def test_wallet_transfer_works_after_its_hint(poor):
    poor.wallet.new("friend")
    command = ("wallet", "transfer", "friend", "1.5")
    assert works_after_its_hint(poor, *command)["amount_mist"] == 1_500_000_000


def test_insufficient_funds_error_names_amount_and_gas(poor):
    poor.wallet.new("friend")
    error = poor.run("wallet", "transfer", "friend", "1", "--yes", "--json").error
    words = r"the wallet has 0 SUI, but the operation needs about 1\.01\S* SUI: 1 SUI and up to"
    assert re.match(words, error["message"])
