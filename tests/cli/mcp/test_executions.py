"""Workflows as a catalogue, on a chain without a running leader."""

import asyncio

import pytest
import structlog
from anyio import to_thread

from nexus_tools.contracts import ToolState
from nexus_tools.contracts.move_bindings.workflows.execution import ExecutionEnded
from nexus_tools.errors import WrongStateError
from nexus_tools.mcp_server import Budget, WorkflowCatalogue, WorkflowOffers, WorkflowTerms
from nexus_tools.mcp_server.catalogue import workflow_catalogue
from nexus_tools.registry import Executions, Registration, ToolFilter, ToolRegistry, Workflows
from nexus_tools.sui.client import SuiClient
from nexus_tools.tool import Answer, ToolDefinition, ToolFqn
from nexus_tools.workflow import Document, Vertex

DIVIDE = ToolFqn.parse("xyz.example.math.divide@1")
BRIEF, FLOW = "xyz.test.brief.tool@1", ToolFqn.parse("xyz.test.brief.flow@1")


@pytest.fixture
async def brief(registry):
    """The catalogue of a domain that has one workflow, of one tool."""
    ports = {"type": "object", "properties": {"a": {"type": "integer"}}}
    branch = {"type": "object", "properties": {"ok": ports}, "required": ["ok"]}
    document = {
        "fqn": BRIEF,
        "url": "https://tools.example.com",
        "input_schema": ports,
        "output_schema": {"type": "object", "oneOf": [branch]},
    }
    await registry.register(Registration(ToolDefinition.parse(document), 0))
    workflow = Document((Vertex("alone", BRIEF, entry_ports=("a",)),), ())
    await Workflows(registry.client, registry.deployment).publish(workflow, FLOW)
    brief = ToolFilter(domains=("xyz.test.brief",), state=ToolState.ACTIVE)
    offers = WorkflowOffers(registry, brief, WorkflowTerms(4_096, 1_000))
    return WorkflowCatalogue(offers, Unasked())


class Unasked:
    """No call comes here."""


class Asked:
    """Ends at once."""

    async def call(self, offer, _, __):
        return Answer("completed", {"funds_mist": offer.funds_mist})


async def test_workflow_is_offered_while_its_tools_are_active(registry, brief):
    found = await brief.find(FLOW)
    assert (await brief.page(None, 9)).definitions == (found,)
    await registry.unregister(ToolFqn.parse(BRIEF))
    assert await brief.find(FLOW) is None
    assert (await brief.page(None, 8)).definitions == ()
    with pytest.raises(WrongStateError) as refused:
        await brief.call(found, {"a": 1}, quiet)
    assert refused.value.code == "workflow_not_offered"


async def test_risen_workflow_cost_is_reported_before_the_start(registry, halves, seller):
    offers = WorkflowOffers(registry, ToolFilter(search="halves"), WorkflowTerms(4_096, 1_000))
    catalogue = WorkflowCatalogue(offers, Asked())
    [listed] = (await catalogue.page(None, 9)).definitions
    async with SuiClient(registry.client.network, seller.wallet.signer()) as client:
        tools = ToolRegistry(client, registry.deployment)
        await tools.update(DIVIDE, price_mist=10_000_001)
        try:
            with pytest.raises(WrongStateError) as raised:
                await catalogue.call(listed, {"dividend": 84}, quiet)
            answer = await catalogue.call(listed, {"dividend": 84}, quiet)
        finally:
            await tools.update(DIVIDE, price_mist=10_000_000)
    assert raised.value.code == "price_increased"
    assert answer.ports["funds_mist"] == raised.value.details["price_mist"]
    assert answer.ports["funds_mist"] == raised.value.details["listed_mist"] + 2


@pytest.mark.parametrize("place", ["Workflows.find", "WorkflowDefinition.of"])
async def test_page_skips_workflow_that_raises_an_unexpected_error(
    registry, halves, monkeypatch, place
):
    def found(fqn):
        if fqn == halves.workflow.fqn:
            raise KeyError("what a stranger published")

    kind, _, name = place.partition(".")
    original = getattr(getattr(workflow_catalogue, kind), name)
    by_kind = {
        "find": lambda self, fqn: found(fqn) or original(self, fqn),
        "of": lambda fqn, *more, **terms: found(fqn) or original(fqn, *more, **terms),
    }
    monkeypatch.setattr(
        f"nexus_tools.mcp_server.catalogue.workflow_catalogue.{place}", by_kind[name]
    )
    catalogue = WorkflowCatalogue(
        WorkflowOffers(registry, ToolFilter(), WorkflowTerms(4_096, 1_000)), Unasked()
    )
    with structlog.testing.capture_logs() as logged:
        page = await catalogue.page(None, 9)
    listed = [each.fqn.name for each in page.definitions]
    assert [name for name in ("halves", "waits", "ways") if name in listed] == ["waits", "ways"]
    assert [(each["event"], each["fqn"]) for each in logged] == [
        ("untrusted_entry_skipped", "xyz.example.halves@1")
    ]


# --- Calls


async def quiet(message):
    """Listen to nothing."""


async def start_call(calls, halves):
    """A call that waits for a Leader, and the id of its execution."""
    said = asyncio.Queue()
    running = asyncio.create_task(calls.call(halves, {"dividend": 84}, said.put))
    place = (await said.get()).split()[2].rstrip(",")
    assert (await said.get()).startswith("assigned to the leader 0x")
    return running, place


async def test_closing_names_the_running_execution(calls, halves):
    warned, budget = [], Budget(10**9)
    opened = calls(budget, warned.append)
    running, place = await start_call(opened, halves)
    await opened.close()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert [f"`nexus-tools workflow cancel {place}` to end it" in each for each in warned] == [True]
    assert budget.spent_mist > halves.funds_mist / 2


async def test_call_continues_when_its_caller_stops_waiting(calls, halves):
    opened = calls(Budget(10**9))
    running, _ = await start_call(opened, halves)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    [task] = opened._paid._running
    assert not task.done()
    await opened.close()
    assert task.done()


async def test_call_cancelled_before_payment_costs_nothing(calls, halves):
    budget = Budget(10**9)
    opened = calls(budget)
    running = asyncio.create_task(opened.call(halves, {"dividend": 84}, quiet))
    await asyncio.sleep(0)  # it begins to read the chain
    await asyncio.sleep(0)
    running.cancel()
    [task] = opened._paid._running
    await asyncio.wait([running, task])
    assert (task.cancelled(), budget.spent_mist) == (True, 0)


async def test_reserved_budget_is_unavailable_to_other_calls(calls, halves):
    opened = calls(Budget(int(1.5 * halves.funds_mist)))
    running, _ = await start_call(opened, halves)
    with pytest.raises(WrongStateError) as refused:
        await opened.call(halves, {"dividend": 84}, quiet)
    assert refused.value.code == "budget_exhausted"
    assert not running.done()
    await opened.close()


def advance_clock(user, time):
    """Has some time pass on the chain."""
    return to_thread.run_sync(lambda: user.json("localnet", "advance-clock", time))


def advance_clock_after_start(user, time):
    """Return a callback that advances the clock when an execution starts."""

    async def hear(message):
        if message.startswith("assigned to"):
            await advance_clock(user, time)

    return hear


async def test_funds_of_a_timed_out_execution_are_refunded(calls, halves, user, monkeypatch):
    """The deadline of the execution, one hour, passes right after its start."""
    monkeypatch.setattr("nexus_tools.mcp_server.calls.executions._GRACE_S", -3_599.9)
    budget = Budget(10**9)

    answer = await calls(budget).call(
        halves, {"dividend": 84}, advance_clock_after_start(user, "1h")
    )
    assert answer.variant == "err_timed_out"
    assert answer.ports["outputs"] == {}
    assert budget.spent_mist < 30_000_000 < halves.funds_mist


@pytest.fixture
async def brief_halves(registry, monkeypatch):
    """Return the workflow with a deadline of one second. Open invocations expire later."""
    monkeypatch.setattr("nexus_tools.mcp_server.calls.executions._GRACE_S", -0.9)
    offers = WorkflowOffers(registry, ToolFilter(), WorkflowTerms(4_096, 1_000))
    return await offers.find(ToolFqn.parse("xyz.example.halves@1"))


@pytest.fixture
def after_stopping(monkeypatch):
    """Run an action after `expire` leaves an execution with an open invocation."""
    original = Executions.expire

    def after_stopping(happens):
        async def expire(self, execution):
            sent = await original(self, execution)
            if not self.has_emitted(sent, ExecutionEnded):
                await happens(execution, original)
            return sent

        monkeypatch.setattr(Executions, "expire", expire)

    return after_stopping


async def test_execution_is_followed_until_a_late_last_run_closes(
    registry, calls, brief_halves, user, operator, after_stopping
):
    async def close(execution, expire):
        await advance_clock(user, "1h")
        async with SuiClient(registry.client.network, operator.wallet.signer()) as client:
            await expire(Executions(client, registry.deployment), execution)

    after_stopping(close)
    wallet, budget = registry.client, Budget(10**9)
    before = await wallet.balance(wallet.address)
    answer = await calls(budget).call(
        brief_halves, {"dividend": 84}, advance_clock_after_start(user, "2s")
    )
    assert answer.variant == "err_timed_out"
    assert budget.spent_mist == before - await wallet.balance(wallet.address)


async def test_execution_ends_when_its_last_run_expires(
    registry, calls, brief_halves, user, after_stopping, monkeypatch
):
    monkeypatch.setattr("nexus_tools.mcp_server.calls.executions._CLOSING_S", 0)

    after_stopping(lambda *_: advance_clock(user, "1h"))
    wallet, budget = registry.client, Budget(10**9)
    before = await wallet.balance(wallet.address)
    answer = await calls(budget).call(
        brief_halves, {"dividend": 84}, advance_clock_after_start(user, "2s")
    )
    assert answer.variant == "err_timed_out"
    # The wallet was paid 1 210 000 MIST for the step, which the budget does not count.
    assert budget.spent_mist == before - await wallet.balance(wallet.address) + 1_210_000


async def test_unfinished_execution_is_charged_in_full(calls, brief_halves, user, monkeypatch):
    monkeypatch.setattr("nexus_tools.mcp_server.calls.executions._CLOSING_S", 0)

    budget = Budget(10**9)
    with pytest.raises(WrongStateError) as unknown:
        await calls(budget).call(
            brief_halves, {"dividend": 84}, advance_clock_after_start(user, "2s")
        )
    assert unknown.value.code == "execution_not_followed"
    assert budget.spent_mist > brief_halves.funds_mist / 2
