"""Several processes, one key: everything that is reported as sent has arrived exactly once."""

import json
import subprocess
import sys

import pytest

DIVIDE = "xyz.example.math.divide@1"
INPUT = '{"dividend": 84, "divisor": 2}'
PROCESSES = 4

PROGRAM = """
import asyncio, json, sys
from nexus_tools import Nexus

async def main():
    async with Nexus.at("test", "author") as nexus:
        tool = await nexus.tools.get(sys.argv[1])
        inputs = {"dividend": 84, "divisor": 2}
        sent, invocation = await nexus.invocations.request(tool, inputs)
        print(json.dumps({"digest": str(sent.digest), "invocation": str(invocation)}))

asyncio.run(main())
"""


@pytest.fixture(scope="module")
def flow(publisher, new_home, chain, carrier, served, tmp_path_factory):
    """The FQN of a workflow of a tool with a price."""
    seller = new_home("seller", publisher)
    chain.fund(seller.wallet.signer().address, 60 * 10**9)
    terms = ("--price", "0.01", "--leader", carrier)
    seller.json("tool", "register", "--url", served, "--all", *terms, "--yes")
    kind = {"variant": "off_chain", "tool_fqn": DIVIDE}
    ports = [{"name": "dividend"}, {"name": "divisor"}]
    vertex = {"name": "halve", "kind": kind, "entry_ports": ports}
    file = tmp_path_factory.mktemp("flow") / "flow.json"
    file.write_text(json.dumps({"vertices": [vertex], "edges": []}))
    seller.json("workflow", "publish", file, "--name", "xyz.example.halve@1", "--yes")
    return "xyz.example.halve@1"


def reported(processes):
    """The documents of the processes that report success; the others report an error."""
    ended = [(*process.communicate(timeout=300), process.returncode) for process in processes]
    assert all("Traceback" not in err for _, err, _ in ended)
    found = [json.loads(out) for out, _, code in ended if code == 0]
    assert found, ended
    assert len({each["digest"] for each in found}) == len(found)
    return found


def at_once(user, *command):
    """Start the same command in several processes; returns what those report that succeed."""
    arguments = (*command, "--yes", "--json")
    return reported([user.process(*arguments) for _ in range(PROCESSES)])


@pytest.mark.parametrize("how", [(), ("--deposit",)], ids=["coin", "deposit"])
def test_equal_transfers_arrive_as_often_as_they_are_reported(author, how):
    author.wallet.new("shop")
    sent = at_once(author, "wallet", "transfer", "shop", "0.1", *how)
    assert author.json("wallet", "show", "shop")["balance_mist"] == 100_000_000 * len(sent)
    spent = sum(each["amount_mist"] + each["cost_mist"] for each in sent)
    assert author.json("wallet", "show")["balance_mist"] == 20_000_000_000 - spent


def test_equal_invocations_exist_as_often_as_they_are_reported(author, flow):
    sent = at_once(author, "tool", "invoke", DIVIDE, "--input", INPUT, "--no-wait")
    listed = {row["invocation"] for row in author.json("invocation", "list")}
    assert listed == {each["invocation"] for each in sent}
    assert len(listed) == len(sent)


def test_equal_invocations_of_programs_exist_as_often_as_they_are_reported(author, flow):
    command = [sys.executable, "-c", PROGRAM, DIVIDE]
    sent = reported(
        [
            subprocess.Popen(
                command,
                env=author.environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for _ in range(PROCESSES)
        ]
    )
    listed = {row["invocation"] for row in author.json("invocation", "list")}
    assert listed == {each["invocation"] for each in sent}


def test_equal_executions_exist_as_often_as_they_are_reported(author, flow):
    sent = at_once(author, "workflow", "run", flow, "--input", INPUT)
    listed = {row["execution"] for row in author.json("workflow", "executions")}
    assert listed == {each["execution"] for each in sent}
    assert len(listed) == len(sent)


def test_equal_schedules_exist_as_often_as_they_are_reported(author, flow):
    plan = ("--every", "1h", "--funds", "1", "--input", INPUT)
    sent = at_once(author, "schedule", "create", flow, *plan)
    listed = {row["schedule"] for row in author.json("schedule", "list")}
    assert listed == {each["schedule"] for each in sent}
    assert len(listed) == len(sent)


def test_one_registration_of_a_tool_is_reported_when_several_start(author, definition, meta_file):
    file = meta_file(definition)
    command = ("tool", "register", "--from-meta", file, "--yes", "--json")
    ended = [author.process(*command) for _ in range(PROCESSES)]
    before = 20_000_000_000
    outputs = [(*each.communicate(timeout=300), each.returncode) for each in ended]
    new = [json.loads(out) for out, _, code in outputs if code == 0]
    registered = [each for each in new if each["digest"] is not None]
    assert len(registered) == 1
    left = author.json("wallet", "show")["balance_mist"]
    assert left == before - 1_000_000_000 - registered[0]["cost_mist"]


def test_one_leader_of_a_name_is_registered_when_several_start(author, chain):
    chain.fund(author.wallet.signer().address, 40 * 10**9)
    command = ("leader", "register", "--name", "lee", "--yes", "--json")
    ended = [author.process(*command) for _ in range(PROCESSES)]
    outputs = [(*each.communicate(timeout=300), each.returncode) for each in ended]
    assert {code for _, _, code in outputs} == {0}, outputs
    found = [json.loads(out) for out, _, _ in outputs]
    assert len({each["leader"] for each in found}) == 1
    assert len([each for each in found if each["digest"] is not None]) == 1
    own = author.json("wallet", "show")["address"]
    owned = [each for each in author.json("leader", "list") if each["owner"] == own]
    assert [each["name"] for each in owned] == ["lee"]
