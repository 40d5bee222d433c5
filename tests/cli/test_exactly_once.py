"""Several processes, one key: everything that is reported as sent has arrived exactly once."""

import json
import subprocess
import sys

import pytest

DIVIDE = "xyz.example.math.divide@1"
INPUT = '{"dividend": 84, "divisor": 2}'
PROCESSES = 4
# .ci/run starts processes of all commands; one transfer and one registration are usual tests.
LONG = pytest.mark.long

PROGRAM = """
import asyncio, json, sys
from nexus_tools import Nexus

async def main():
    async with Nexus.connect("test", "author") as nexus:
        tool = await nexus.tools.get(sys.argv[1])
        inputs = {"dividend": 84, "divisor": 2}
        sent, invocation = await nexus.invocations.request(tool, inputs)
        print(json.dumps({"digest": str(sent.digest), "invocation": str(invocation)}))

asyncio.run(main())
"""


def documents(processes):
    """The documents of the processes that report success; the others report an error."""
    ended = [(*process.communicate(timeout=300), process.returncode) for process in processes]
    assert all("Traceback" not in err for _, err, _ in ended)
    found = [json.loads(out) for out, _, code in ended if code == 0]
    assert found, ended
    return found


def successful_documents(processes):
    """The documents of the processes that report success, each with a transaction of its own."""
    found = documents(processes)
    assert len({each["digest"] for each in found}) == len(found)
    return found


def start(user, *command):
    """Start the same command in several processes."""
    return [user.process(*command, "--yes", "--json") for _ in range(PROCESSES)]


def at_once(user, *command):
    """Start the same command in several processes; returns what those report that succeed."""
    return successful_documents(start(user, *command))


@pytest.mark.parametrize(
    "how", [pytest.param((), id="coin"), pytest.param(("--deposit",), id="deposit", marks=LONG)]
)
def test_equal_transfers_arrive_as_often_as_they_are_reported(author, how):
    author.wallet.new("shop")
    sent = at_once(author, "wallet", "transfer", "shop", "0.1", *how)
    assert author.json("wallet", "show", "shop")["balance_mist"] == 100_000_000 * len(sent)
    spent = sum(each["amount_mist"] + each["cost_mist"] for each in sent)
    assert author.json("wallet", "show")["balance_mist"] == 20_000_000_000 - spent


@LONG
def test_equal_invocations_exist_as_often_as_they_are_reported(author, halve_fqn):
    sent = at_once(author, "tool", "invoke", DIVIDE, "--input", INPUT, "--no-wait")
    listed = {row["invocation"] for row in author.json("invocation", "list")}
    assert listed == {each["invocation"] for each in sent}
    assert len(listed) == len(sent)


@LONG
def test_equal_invocations_of_programs_exist_as_often_as_they_are_reported(author, halve_fqn):
    command = [sys.executable, "-c", PROGRAM, DIVIDE]
    sent = successful_documents(
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


@LONG
def test_equal_executions_exist_as_often_as_they_are_reported(author, halve_fqn):
    sent = at_once(author, "workflow", "run", halve_fqn, "--input", INPUT)
    listed = {row["execution"] for row in author.json("workflow", "executions")}
    assert listed == {each["execution"] for each in sent}
    assert len(listed) == len(sent)


@LONG
def test_equal_schedules_exist_as_often_as_they_are_reported(author, halve_fqn):
    plan = ("--every", "1h", "--funds", "1", "--input", INPUT)
    sent = at_once(author, "schedule", "create", halve_fqn, *plan)
    listed = {row["schedule"] for row in author.json("schedule", "list")}
    assert listed == {each["schedule"] for each in sent}
    assert len(listed) == len(sent)


def test_concurrent_registrations_of_a_tool_report_one(author, definition, meta_file):
    file = meta_file(definition)
    new = documents(start(author, "tool", "register", "--from-meta", file))
    before = 20_000_000_000
    registered = [each for each in new if each["digest"] is not None]
    assert len(registered) == 1
    left = author.json("wallet", "show")["balance_mist"]
    assert left == before - 1_000_000_000 - registered[0]["cost_mist"]


@LONG
def test_concurrent_registrations_of_a_leader_create_one(author, chain):
    chain.fund(author.wallet.signer().address, 40 * 10**9)
    found = documents(start(author, "leader", "register", "--name", "lee"))
    assert len(found) == PROCESSES
    assert len({each["leader"] for each in found}) == 1
    assert len([each for each in found if each["digest"] is not None]) == 1
    own = author.json("wallet", "show")["address"]
    owned = [each for each in author.json("leader", "list") if each["owner"] == own]
    assert [each["name"] for each in owned] == ["lee"]
