"""Calls whose transactions go wrong: a budget never shows less than the wallet lost.

No leader's daemon runs.
"""

import asyncio

import pytest

from nexus_tools.errors import (
    NexusError,
    NotFoundError,
    RefusedOnChainError,
    UnreachableError,
    WrongStateError,
)
from nexus_tools.mcp_server import Budget, ExecutionCaller, OnChainCalls, ToolOffers
from nexus_tools.registry import Executions, Invocations, LeaderRegistry, ToolFilter
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.client.connection.connection import Connection
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import ToolFqn

PLENTY = 10**9
DIVIDE = ToolFqn.parse("xyz.example.math.divide@1")


async def quiet(message):
    """Listen to nothing."""


@pytest.fixture(params=["workflow", "tool"])
async def call_opener(request, registry, halves):
    """Opens calls within a budget; gives them, and one of them to be awaited.

    They name the list of commands that shows what they began.
    """
    client, deployment = registry.client, registry.deployment
    divide = await ToolOffers(registry, ToolFilter()).find(DIVIDE)

    def open_calls(budget, warn=print, hear=quiet):
        if request.param == "workflow":
            calls = ExecutionCaller(Executions(client, deployment), budget, warn)
            return calls, lambda: calls.call(halves, {"dividend": 84}, hear)
        invocations = Invocations(client, deployment)
        calls = OnChainCalls(invocations, budget, warn, max_outcome_bytes=4_096)
        return calls, lambda: calls.call(divide, {"dividend": 84, "divisor": 2}, hear)

    open_calls.listed = {
        "workflow": "`nexus-tools workflow executions`",
        "tool": "`nexus-tools invocation list`",
    }[request.param]
    return open_calls


@pytest.fixture
def send_hooks(monkeypatch):
    """Has something happen around each transaction that is sent, as a test sets it."""

    class Sent:
        before = after = None
        hidden = False
        """Whether the node knows no transaction."""

    original = Connection.call

    async def call(self, name, **fields):
        is_sent = name.endswith("/ExecuteTransaction")
        if Sent.hidden and name.endswith("/GetTransaction"):
            raise NotFoundError("not_found", "Transaction not found")
        if is_sent and Sent.before:
            await Sent.before()
        answer = await original(self, name, **fields)
        if is_sent and Sent.after:
            await Sent.after()
        return answer

    monkeypatch.setattr(Connection, "call", call)
    return Sent


async def lose_answer():
    raise UnreachableError("node_unreachable", "the answer is lost")


async def wealth(registry):
    return await registry.client.balance(registry.client.address)


async def test_call_with_a_lost_answer_is_charged_in_full(registry, call_opener, send_hooks):
    before, warned, budget = await wealth(registry), [], Budget(PLENTY)
    send_hooks.after = staticmethod(lose_answer)
    _, one = call_opener(budget, warned.append)
    with pytest.raises(UnreachableError) as lost:
        await one()
    assert 0 < before - await wealth(registry) <= budget.spent_mist
    digest = lost.value.details["digest"]
    assert warned == [warned[0]]
    assert warned[0].startswith(f"the transaction {digest} may have ")
    assert call_opener.listed in warned[0]


async def test_calls_whose_answers_are_lost_end_with_the_budget(registry, call_opener, send_hooks):
    send_hooks.after = staticmethod(lose_answer)
    first = Budget(PLENTY)
    with pytest.raises(UnreachableError):
        await call_opener(first)[1]()
    before, budget = await wealth(registry), Budget(int(2.5 * first.spent_mist))
    _, one = call_opener(budget)
    for _ in range(2):
        with pytest.raises(UnreachableError):
            await one()
    with pytest.raises(WrongStateError) as refused:
        await one()
    assert refused.value.code == "budget_exhausted"
    assert before - await wealth(registry) <= 2.5 * first.spent_mist


async def test_gas_of_an_aborted_call_is_charged(
    registry, call_opener, send_hooks, operator, operator_leader
):
    """The leader goes out of service between the simulation and the transaction."""
    signer, leader = operator.wallet.signer(), Address.parse(operator_leader)
    async with SuiClient(registry.client.network, signer) as client:
        leaders = LeaderRegistry(client, registry.deployment)

        async def leave():
            send_hooks.before = None
            await leaders.deactivate(leader)

        before, budget, warned = await wealth(registry), Budget(PLENTY), []
        send_hooks.before = staticmethod(leave)
        try:
            with pytest.raises(NexusError) as aborted:
                await call_opener(budget, warned.append)[1]()
        finally:
            await leaders.activate(leader)
    lost = before - await wealth(registry)
    assert lost > 0
    assert (budget.spent_mist, aborted.value.details["gas_mist"], warned) == (lost, lost, [])


async def test_call_rejected_by_the_node_is_charged_in_full(registry, call_opener, send_hooks):
    """A node may refuse what it has executed."""

    async def refuse():
        raise RefusedOnChainError("refused_by_node", "not today")

    before, budget, warned = await wealth(registry), Budget(PLENTY), []
    send_hooks.after = staticmethod(refuse)
    send_hooks.hidden = True
    with pytest.raises(UnreachableError) as refused:
        await call_opener(budget, warned.append)[1]()
    assert 0 < before - await wealth(registry) <= budget.spent_mist
    assert [refused.value.details["digest"] in each for each in warned] == [True]


async def test_call_denied_repeatedly_is_paid_once(registry, call_opener, send_hooks):
    async def deny():
        stale = "object version is unavailable for consumption"
        raise RefusedOnChainError("refused_by_node", stale, details={"attempts": 2})

    first = Budget(PLENTY)
    send_hooks.after = staticmethod(lose_answer)
    with pytest.raises(UnreachableError):
        await call_opener(first)[1]()
    before, budget, warned = await wealth(registry), Budget(PLENTY), []
    send_hooks.after = staticmethod(deny)
    send_hooks.hidden = True
    with pytest.raises(UnreachableError) as denied:
        await call_opener(budget, warned.append)[1]()
    assert 0 < before - await wealth(registry) <= budget.spent_mist < 1.5 * first.spent_mist
    assert [denied.value.details["digest"] in each for each in warned] == [True]


async def test_closing_reports_a_possibly_executed_transaction(registry, call_opener, send_hooks):
    executed, warned, budget = asyncio.Event(), [], Budget(PLENTY)

    async def hang():
        executed.set()
        await asyncio.Event().wait()

    before = await wealth(registry)
    send_hooks.after = staticmethod(hang)
    calls, one = call_opener(budget, warned.append)
    running = asyncio.create_task(one())
    await executed.wait()
    await calls.close()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert len(warned) == 1
    assert call_opener.listed in warned[0]
    assert 0 < before - await wealth(registry) <= budget.spent_mist


async def test_closing_names_a_call_whose_caller_was_not_notified(call_opener):
    said, warned = asyncio.Queue(), []

    async def hang(message):
        await said.put(message)
        await asyncio.Event().wait()

    calls, one = call_opener(Budget(PLENTY), warned.append, hang)
    running = asyncio.create_task(one())
    place = (await said.get()).split()[2].rstrip(",")
    await calls.close()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert [place in each for each in warned] == [True]
