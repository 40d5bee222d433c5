"""Published workflows as tools of MCP, on a network where a Leader carries them."""

import asyncio
import json
from dataclasses import replace

import pytest
from anyio import to_thread
from mcp import MCPError

from nexus_tools.mcp_server import Budget, ExecutionCaller
from nexus_tools.registry import Executions
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.keystore import KeyPair

pytestmark = pytest.mark.usefixtures("published_workflows")

DIVIDE = "xyz.example.math.divide@1"
NAP = "xyz.example.time.nap@1"
HALVES, WAITS, WAYS = "xyz_example_halves_v1", "xyz_example_waits_v1", "xyz_example_ways_v1"
SERVED = ("--workflows", "--budget", "5")


async def run_json(user, *arguments):
    """Return the JSON output of a command, which has its own event loop."""
    return await to_thread.run_sync(lambda: user.json(*arguments))


async def balance(user):
    return (await run_json(user, "wallet", "show"))["balance_mist"]


def text(result):
    [content] = result.content
    return content.text


# --- Listed tools


@pytest.mark.long
async def test_published_workflow_is_listed_as_a_tool(on_stdio):
    async with on_stdio(*SERVED) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        properties = listed[HALVES].input_schema["properties"]
        shown = listed[HALVES]
    assert [*listed] == [HALVES, WAITS, WAYS]
    assert shown.title == "xyz.example.halves@1"
    assert "\n\n> Does halves.\n\nA call costs up to 0." in shown.description
    assert shown.meta["nexus/type"] == "workflow"
    assert [*properties] == shown.input_schema["required"] == ["dividend"]
    assert properties["dividend"]["type"] == "integer"
    assert not shown.input_schema["additionalProperties"]
    [variant] = [
        branch["properties"]["completed"]
        for branch in shown.output_schema["oneOf"]
        if branch["required"] == ["completed"]
    ]
    assert [*variant["properties"]["outputs"]["properties"]] == ["second.ok.quotient"]


@pytest.mark.long
async def test_workflow_with_several_entry_groups_requires_a_group(on_stdio, running_leader):
    async with on_stdio(*SERVED, "--only", "ways") as client:
        [tool] = (await client.list_tools()).tools
        unsaid = await client.call_tool(WAYS, {"dividend": 84})
        one = await client.call_tool(WAYS, {"group": "one", "dividend": 84})
        two = {"group": "two", "left.dividend": 84, "divisor": 2, "right.dividend": 3}
        other = await client.call_tool(WAYS, two)
    schema = tool.input_schema
    inputs = ["dividend", "divisor", "left.dividend", "right.dividend"]
    assert schema["properties"]["group"]["enum"] == ["two", "one"]
    assert (schema["required"], sorted(schema["properties"])) == (
        ["group"],
        [*inputs[:2], "group", *inputs[2:]],
    )
    assert text(unsaid).startswith("group_missing")
    assert one.structured_content["completed"]["outputs"] == {"last.ok.quotient": 4}
    assert other.structured_content["completed"]["outputs"] == {"last.ok.quotient": 14}


@pytest.mark.long
async def test_options_choose_among_workflows(on_stdio, seller):
    owner = str(seller.wallet.signer().address)
    for options, names in (
        (("--domain", "xyz.example", "--search", "does WAYS"), ["ways_v1"]),
        (("--exclude", "*w*", "--owner", owner), [HALVES]),
        (("--max-price", "0.01"), []),
        (("--page-size", "1"), [HALVES]),
    ):
        async with on_stdio(*SERVED, *options) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == names


@pytest.mark.long
async def test_workflows_and_on_chain_options_serve_both_kinds(on_stdio):
    pages = []
    async with on_stdio("--on-chain", *SERVED, "--page-size", "2") as client:
        page = await client.list_tools()
        pages.append([tool.title for tool in page.tools])
        while page.next_cursor:
            page = await client.list_tools(cursor=page.next_cursor)
            pages.append([tool.title for tool in page.tools])
    assert sorted(title for page in pages for title in page) == sorted(
        [DIVIDE, NAP, "xyz.example.text.count_words@1"]
        + [f"xyz.example.{name}@1" for name in ("halves", "waits", "ways")]
    )


@pytest.mark.long
async def test_workflows_are_found_by_words_and_called(on_stdio, running_leader):
    async with on_stdio(*SERVED, "--mode", "search") as client:
        found = await client.call_tool("find_tools", {"query": "halves"})
        fqn = found.structured_content["tools"][0]["fqn"]
        described = await client.call_tool("describe_tool", {"fqn": fqn})
        call = {"fqn": fqn, "inputs": {"dividend": 84}}
        result = await client.call_tool("call_tool", call)
    assert fqn == "xyz.example.halves@1"
    assert described.structured_content["input_schema"]["required"] == ["dividend"]
    assert result.structured_content["completed"]["outputs"] == {"second.ok.quotient": 21}


# --- Calls


async def test_workflow_call_starts_an_execution_and_returns_its_result(
    on_stdio, running_leader, operator_leader, user
):
    heard = []

    async def hear(progress, total, message):
        heard.append(message)

    before = await balance(user)
    async with on_stdio(*SERVED) as client:
        result = await client.call_tool(HALVES, {"dividend": 84}, progress_callback=hear)
    [(variant, ports)] = result.structured_content.items()
    assert (variant, result.is_error) == ("completed", False)
    assert ports["outputs"] == {"second.ok.quotient": 21}
    assert json.loads(text(result)) == result.structured_content
    began, carried, *steps = heard
    assert began.startswith(f"started: execution {ports['execution']}, transaction ")
    assert operator_leader in carried
    assert steps == ["first: ok", "second: ok", f"completed, paid {result.meta['nexus/paid']}"]
    assert result.meta["nexus/execution"] == ports["execution"]
    assert result.meta["nexus/paid_mist"] == before - await balance(user)


@pytest.mark.long
async def test_failed_workflow_call_reports_reason_and_vertex(on_stdio, running_leader, user):
    async with on_stdio(*SERVED) as client:
        result = await client.call_tool(WAITS, {"duration_ms": 0, "ending": "crash"})
    [(variant, ports)] = result.structured_content.items()
    assert (variant, result.is_error) == ("err_terminated", True)
    place = ports["execution"]
    assert ports["reason"].startswith(f"the execution {place} was terminated: nap failed, http_err")
    assert ports["reason"].endswith(ports["failures"][0])
    assert (await run_json(user, "workflow", "show", place))["status"] == "terminated"


@pytest.mark.long
async def test_invalid_inputs_are_rejected_before_payment(on_stdio, user):
    before = await balance(user)
    async with on_stdio(*SERVED) as client:
        wrong = await client.call_tool(HALVES, {"dividend": "much"})
        missing = await client.call_tool(HALVES, {})
        unknown = await client.call_tool(HALVES, {"dividend": 84, "divisor": 3})
        with pytest.raises(MCPError, match="unknown tool"):
            await client.call_tool("xyz_example_other_v1", {})
    assert [text(each).partition(":")[0] for each in (wrong, missing, unknown)] == [
        "input_invalid",
        "input_missing",
        "input_unknown",
    ]
    assert "dividend" in text(wrong)
    assert await balance(user) == before


# --- The budget


@pytest.mark.long
async def test_call_beyond_the_budget_is_rejected(on_stdio, user):
    before = await balance(user)
    async with on_stdio("--workflows", "--budget", "0.05") as client:
        result = await client.call_tool(HALVES, {"dividend": 84})
    assert result.is_error
    assert text(result).startswith("budget_exhausted")
    assert await balance(user) == before


async def quiet(message):
    """Listen to nothing."""


async def charge_and_loss(wallet, calls, halves):
    """Return the charge of a call, and the loss of the wallet."""
    before, budget = await wallet.balance(wallet.address), Budget(10**9)
    answer = await calls(budget).call(halves, {"dividend": 84}, quiet)
    assert answer.ports["outputs"] == {"second.ok.quotient": 21}
    return budget.spent_mist, before - await wallet.balance(wallet.address)


async def test_budget_is_charged_with_the_loss_of_the_wallet(
    registry, calls, halves, running_leader
):
    for _ in range(2):  # refunds are in its address balance then
        spent_mist, lost_mist = await charge_and_loss(registry.client, calls, halves)
        assert spent_mist == lost_mist
        # Two tools at 0.01 SUI, a Leader's fees, what is stored: less than it began with.
        assert 20_000_000 < lost_mist < halves.funds_mist


async def test_wallet_without_coins_is_charged_with_its_loss(
    registry, halves, running_leader, user
):
    key = KeyPair.new()
    await run_json(user, "wallet", "transfer", str(key.address), "2", "--deposit", "--yes")
    async with SuiClient(registry.client.network, key) as wallet:
        executions = Executions(wallet, registry.deployment)
        spent_mist, lost_mist = await charge_and_loss(
            wallet, lambda budget: ExecutionCaller(executions, budget, print), halves
        )
    assert spent_mist == lost_mist


async def test_execution_is_cancelled_when_its_funds_run_out(
    registry, calls, halves, running_leader
):
    wallet, budget = registry.client, Budget(10**9)
    before = await wallet.balance(wallet.address)
    cost = await Executions(wallet, registry.deployment).estimate_cost(halves.workflow)
    scant = replace(halves, funds_mist=cost.start_mist)
    answer = await calls(budget).call(scant, {"dividend": 84}, quiet)
    assert answer.variant == "err_cancelled"
    assert answer.ports["reason"].endswith("its funds did not cover its next step")
    assert budget.spent_mist == before - await wallet.balance(wallet.address)


@pytest.mark.long
async def test_calls_at_the_same_time_share_the_budget(on_stdio, running_leader):
    async with on_stdio(*SERVED) as client:
        first, second = await asyncio.gather(
            client.call_tool(HALVES, {"dividend": 84}), client.call_tool(HALVES, {"dividend": 40})
        )
    outputs = [each.structured_content["completed"]["outputs"] for each in (first, second)]
    assert outputs == [{"second.ok.quotient": 21}, {"second.ok.quotient": 10}]


@pytest.mark.parametrize("more", [(), ("--on-chain",)])
def test_workflows_option_requires_a_budget(user, more):
    assert user.fails("mcp", "serve", "--workflows", *more) == (2, "budget_missing")
