"""Where SUI, rights or objects go, an address is whole, and an alias stands for it."""

import json

import anyio
import pytest

from nexus_tools.contracts import Deployment
from nexus_tools.registry import Invocations
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.network import Network
from nexus_tools.sui.types.address import Address

WHOLE = "0x0f00000000000000000000000000000000000000000000000000000000000abc"
SHORT = [WHOLE[:-1], "0x1", "0X2", WHOLE + "0"]
ADDRESS = {"type": "string", "pattern": "^0x[0-9a-fA-F]{1,64}$"}


@pytest.fixture
def leader(author, chain):
    chain.fund(author.wallet.signer().address, 20 * 10**9)
    return author.json("leader", "register", "--name", "mine", "--yes")["leader"]


@pytest.fixture
def friend(author):
    author.wallet.new("friend")
    return str(author.wallet.account("friend").address)


def verbs(fqn, who):
    return [
        ("wallet", "transfer", who, "0.1"),
        ("wallet", "transfer", who, "0.1", "--deposit"),
        ("tool", "operators", "add", fqn, who),
        ("tool", "update", fqn, "--payout", who),
        ("tool", "offer", fqn.rpartition("@")[0], who),
        ("leader", "worker", "add", who, "--leader", "mine"),
        ("leader", "register", "--name", "second", "--worker", who),
        ("leader", "offer", who, "--leader", "mine"),
    ]


@pytest.mark.parametrize("who", SHORT, ids=["lost-digit", "one", "two", "one-more"])
def test_commands_reject_short_address_as_recipient(author, leader, registered_fqn, who):
    before = author.json("wallet", "show")["balance_mist"]
    for verb in (*verbs(registered_fqn, who), ("admin", "offer", who)):
        assert author.fails(*verb, "--yes") == (7, "address_invalid"), verb
    assert author.json("wallet", "show")["balance_mist"] == before


def test_short_address_error_counts_the_digits(author):
    error = author.run("wallet", "transfer", WHOLE[:-1], "1", "--yes", "--json").error
    assert "has 63 digits, expected 64" in error["message"]


@pytest.mark.parametrize("who", ["friend", WHOLE], ids=["alias", "address"])
def test_commands_accept_alias_and_full_address(author, leader, registered_fqn, friend, who):
    address = friend if who == "friend" else WHOLE
    for verb in verbs(registered_fqn, who):
        document = author.json(*verb, "--dry-run")
        assert address in json.dumps(document), verb


def test_filter_accepts_short_address(author):
    assert author.json("tool", "list", "--owner", "0x1") == []


def test_faucet_accepts_short_address(author):
    given = author.json("localnet", "faucet", "0xabc", "--amount", "1")
    assert (given["address"], given["amount_mist"]) == (f"0x{'abc':0>64}", 10**9)


@pytest.mark.parametrize(
    "command",
    [
        ("localnet", "faucet", WHOLE[:-1]),
        ("tool", "outcome", WHOLE[:-1]),
        ("leader", "status", "--leader", WHOLE[:-1]),
        ("leader", "claim", "--leader", WHOLE[:-1]),
        ("schedule", "show", WHOLE[:-1]),
        ("schedule", "cancel", WHOLE[:-1]),
        ("schedule", "pause", WHOLE[:-1]),
        ("schedule", "refill", WHOLE[:-1], "1"),
        ("schedule", "extend", WHOLE[:-1], "--add-executions", "1"),
        ("workflow", "show", WHOLE[:-1]),
        ("workflow", "watch", WHOLE[:-1]),
        ("workflow", "cancel", WHOLE[:-1]),
        ("workflow", "clean", WHOLE[:-1]),
        ("workflow", "refill", WHOLE[:-1], "1"),
        ("workflow", "run", WHOLE[:-1]),
        ("question", "answer", WHOLE[:-1], "--approve"),
        ("package", "use", WHOLE[:-1]),
        ("package", "lock", WHOLE[:-1]),
    ],
    ids=lambda command: "-".join(command[:2]),
)
def test_commands_reject_id_with_missing_digit(author, command):
    error = author.run(*command, "--json").error
    assert error["code"] == "address_invalid", error
    assert "has 63 digits, expected 64" in error["message"]


def inputs_of(user, chain, invoked):
    """The inputs of an invocation on chain."""
    known = user.json("package", "show")
    deployment = Deployment.parse({name: known[name] for name in Deployment.__struct_fields__})

    async def read():
        async with SuiClient(Network("test", chain.url)) as client:
            invocations = Invocations(client, deployment)
            found = await invocations.get(Address.parse(invoked["invocation"]))
            return found.inputs.as_json()

    return anyio.run(read)


@pytest.fixture
def address_tool_fqn(author, definition, meta_file, operator_leader):
    """The FQN of a tool with an input that is an address, and a workflow of it."""
    schema = {"type": "object", "properties": {"to": ADDRESS, "note": {"type": "string"}}}
    document = definition | {"input_schema": schema | {"required": ["to"]}}
    terms = ("--price", "0.001", "--leader", operator_leader)
    author.json("tool", "register", "--from-meta", meta_file(document), *terms, "--yes")
    return definition["fqn"]


def test_address_input_accepts_alias(author, address_tool_fqn, friend, chain):
    inputs = '{"to": "friend", "note": "friend"}'
    invoked = author.json(
        "tool", "invoke", address_tool_fqn, "--input", inputs, "--no-wait", "--yes"
    )
    assert inputs_of(author, chain, invoked) == {"to": friend, "note": "friend"}


@pytest.mark.parametrize("who", [*SHORT[:2], "nobody"], ids=["lost-digit", "one", "no-key"])
def test_address_input_rejects_short_address(author, address_tool_fqn, who):
    inputs = json.dumps({"to": who})
    result = author.run("tool", "invoke", address_tool_fqn, "--input", inputs, "--yes", "--json")
    assert (result.code, result.error["code"]) == (7, "input_invalid")
    assert result.error["message"].startswith("input to: ")


def test_workflow_address_input_accepts_alias(author, address_tool_fqn, friend, tmp_path):
    kind = {"variant": "off_chain", "tool_fqn": address_tool_fqn}
    vertex = {"name": "pay", "kind": kind, "entry_ports": [{"name": "to"}]}
    file = tmp_path / "flow.json"
    file.write_text(json.dumps({"vertices": [vertex], "edges": []}))
    fqn = address_tool_fqn.replace("@1", "-flow@1")
    author.json("workflow", "publish", file, "--name", fqn, "--yes")
    run = ("workflow", "run", fqn, "--yes")
    assert author.json(*run, "--input", "to=friend")["execution"]
    assert author.fails(*run, "--input", f"to={WHOLE[:-1]}") == (7, "input_invalid")
    planned = ("schedule", "create", fqn, "--every", "1h", "--funds", "1", "--yes")
    assert author.fails(*planned, "--input", "pay.to=0x1") == (7, "input_invalid")
    assert author.json(*planned, "--input", "pay.to=friend")["schedule"]
