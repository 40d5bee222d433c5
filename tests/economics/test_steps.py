"""A leader that closes an attempt and leaves the step to others."""

import pytest

from nexus_tools.registry import add_advance, add_outcome
from nexus_tools.sui.builder import TransactionBuilder
from nexus_tools.tool import Failure, FailureReason
from nexus_tools.workflow import DIALECT, Document, Vertex
from tests.economics.carried import Stage
from tests.economics.test_executions import SOURCE, answer, definition


@pytest.fixture
async def stage(chain, stranger, leader, active_leader):
    stage = Stage(chain.deployment, stranger, leader, active_leader)
    await stage.register_tool(definition(SOURCE, ["e"]))
    return stage


@pytest.mark.parametrize("outcome", [answer(), Failure(FailureReason.UNREACHABLE, "")])
@pytest.mark.parametrize("count", [1, 4, 16, 32])
async def test_a_leader_that_does_not_advance_hoped_for_more(stage, count, outcome):
    """With so many closings in one transaction; whoever advances instead is paid for it."""
    flow = Document((Vertex("begin", SOURCE, entry_ports=("e",)),), (), dialect=DIALECT)
    workflow = await stage.publish(flow)
    gained_mist = {}
    for advances in (True, False):
        executions = [await stage.begin(workflow, {"begin": {"e": 1}}) for _ in range(count)]
        builder = TransactionBuilder()
        for each in executions:
            await each.take()
        invocations = [event.invocation for each in executions for event in each.requests.values()]
        for invocation in invocations:
            add_outcome(builder, stage.deployment, invocation, stage.leader, outcome)
        if advances:
            for each, invocation in zip(executions, invocations, strict=True):
                add_advance(builder, stage.deployment, each.id, workflow.id, invocation)
        gained_mist[advances] = (await executions[0].send(builder)) / count
    assert gained_mist[True] > gained_mist[False]
