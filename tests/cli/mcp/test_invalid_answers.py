"""Answers that break the output schema of a tool: neither a client nor a workflow's owner uses one.

No leader's daemon runs: a test settles in the leader's name.
"""

import pytest

from nexus_tools import OutputInvalidError
from nexus_tools.mcp_server import Budget, OnChainCalls, ToolOffers
from nexus_tools.mcp_server.results import error_result
from nexus_tools.registry import Executions, Invocations, ToolFilter
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Answer, ToolFqn

PLENTY = 10**9
DIVIDE = ToolFqn.parse("xyz.example.math.divide@1")
BAD = Answer("ok", {"quotient": "forty-two", "remainder": 0})


@pytest.fixture
async def settle(registry, operator, operator_leader):
    """Settles an invocation with an answer that the tool never promised."""
    async with SuiClient(registry.client.network, operator.wallet.signer()) as client:
        closing = Invocations(client, registry.deployment)

        async def settle(place, answer=BAD):
            await closing.close(Address.parse(operator_leader), {place: answer})

        yield settle


async def test_invalid_answer_is_an_error_and_its_refund_is_counted(registry, settle):
    invocations, budget = Invocations(registry.client, registry.deployment), Budget(PLENTY)
    calls = OnChainCalls(invocations, budget, print, max_outcome_bytes=4_096)
    before = await registry.client.balance(registry.client.address)

    async def hear(message):
        if message.startswith("requested: invocation "):
            await settle(Address.parse(message.split()[2].rstrip(",")))

    divide = await ToolOffers(registry, ToolFilter()).find(DIVIDE)
    with pytest.raises(OutputInvalidError) as caught:
        await calls.call(divide, {"dividend": 84, "divisor": 2}, hear)
    assert caught.value.answer == BAD
    text = error_result(caught.value).content[0].text
    assert text.startswith("output_invalid: ")
    assert "- /ok/quotient: " in text
    assert budget.spent_mist == before - await registry.client.balance(registry.client.address)
    assert (await invocations.get(caught.value.invocation)).is_closed


async def test_execution_state_reports_invalid_results(registry, user, halves, settle):
    executions = Executions(registry.client, registry.deployment)
    begun = await executions.start(halves.workflow, {"dividend": 84})
    state = await executions.state(begun.execution)
    assert state.invalid == ()
    [run] = state.runs.values()
    await settle(run.invocation.id)
    state = await executions.state(begun.execution)
    [invalid] = state.invalid
    assert (invalid.answer, invalid.invocation) == (BAD, run.invocation.id)
    with pytest.raises(OutputInvalidError):
        state.outputs()
    assert state.outputs(checked=False) == {}
    shown = user.spawn("workflow", "show", begun.execution, "--json")
    assert (shown.code, shown.error["code"]) == (7, "output_invalid")
    assert shown.document["invalid"][0]["details"]["invocation"] == str(invalid.invocation)


@pytest.mark.long
async def test_explain_names_schema_port_and_rule_of_an_invalid_answer(
    registry, user, halves, settle
):
    executions = Executions(registry.client, registry.deployment)
    begun = await executions.start(halves.workflow, {"dividend": 84})
    [run] = (await executions.state(begun.execution)).runs.values()
    await settle(run.invocation.id)
    why = user.spawn("tool", "outcome", run.invocation.id, "--explain", "--json")
    assert (why.code, why.error["code"], why.document["state"]) == (7, "output_invalid", "settled")
    assert "violates the tool's output schema" in why.document["check"]
    assert why.document["invalid_output"]["schema"] == "output"
    [failure] = why.document["invalid_output"]["failures"]
    assert failure["pointer"] == "/ok/quotient"
    assert failure["rule"].endswith("/type")
    shown = user.spawn("tool", "outcome", run.invocation.id, "--explain").stdout
    assert (
        f"/ok/quotient: {failure['message']}, keyword {failure['rule']} of the output schema"
        in shown
    )
