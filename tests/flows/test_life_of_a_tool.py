"""The main flow: a tool is written, registered, called, settled, unregistered and claimed."""

import asyncio

import pytest

from nexus_tools.contracts import ToolState
from nexus_tools.contracts.move_bindings.state import State
from nexus_tools.errors import WrongStateError
from nexus_tools.registry import Invocations, Registration, ToolRegistry
from nexus_tools.tool import ToolFqn
from nexus_tools.tool_server import ToolServer, Variant, tool

DAY_MS = 24 * 60 * 60 * 1000
SUI = 1_000_000_000


class Sum(Variant, name="ok"):
    result: int


class Overflow(Variant, name="err_overflow"):
    reason: str


def make_add(name):
    @tool(f"xyz.flows.{name}.add@1")
    async def add(a: int, b: int) -> Sum | Overflow:
        """Adds two 64-bit integers."""
        if abs(a + b) >= 2**63:
            return Overflow(reason="the sum does not fit 64 bits")
        return Sum(result=a + b)

    return add


@pytest.fixture
def registry(author, stage):
    return ToolRegistry(author, stage.deployment)


@pytest.fixture
def register(registry, serve, leader_id):
    """Return a function that serves and registers `add` under a unique name, with its FQN."""

    async def register(name):
        add = make_add(name)
        url = await serve(ToolServer([add]))
        definition = add.definition(url)
        await registry.register(Registration(definition, 5_000, leaders=(leader_id,)))
        return ToolFqn.parse(f"xyz.flows.{name}.add@1")

    return register


async def call(requester, stage, record, inputs):
    invocations = Invocations(requester, stage.deployment)
    _, invocation = await invocations.request(record, inputs)
    async with asyncio.timeout(30):
        return await invocations.wait_until_closed(invocation)


async def test_invocation_settles_with_the_answer_of_the_tool(
    registry, register, requester, stage, leader
):
    fqn = await register("settled")
    closed = await call(requester, stage, await registry.get(fqn), {"a": 40, "b": 2})
    assert isinstance(closed.state, State.Settled)
    assert closed.state.variant == "ok"
    assert closed.state.ports.as_json() == {"result": 42}
    assert closed.state.leader == leader


async def test_domain_error_is_an_outcome(registry, register, requester, stage, leader):
    fqn = await register("domain")
    closed = await call(requester, stage, await registry.get(fqn), {"a": 2**63 - 1, "b": 1})
    assert closed.state.variant == "err_overflow"


async def test_schema_invalid_inputs_fail_without_a_call(
    registry, register, requester, stage, leader
):
    fqn = await register("inputs")
    closed = await call(requester, stage, await registry.get(fqn), {"a": "forty", "b": 2})
    assert isinstance(closed.state, State.Failed)
    assert closed.state.reason == "input_invalid"


async def test_settling_pays_the_tool_its_price(
    registry, register, requester, stage, leader, author
):
    fqn = await register("price")
    before = await author.balance(author.address)
    await call(requester, stage, await registry.get(fqn), {"a": 1, "b": 1})
    assert await author.balance(author.address) == before + 5_000


async def test_collateral_is_returned_only_after_the_delay(
    registry, register, author, advance_clock
):
    fqn = await register("claim")
    assert (await registry.get(fqn)).collateral.balance_mist == SUI

    await registry.unregister(fqn)
    assert (await registry.get(fqn)).state is ToolState.UNREGISTERED
    with pytest.raises(WrongStateError, match="claimable at") as caught:
        await registry.claim(fqn)
    assert caught.value.code == "delay_not_over"

    advance_clock(7 * DAY_MS)
    before = await author.balance(author.address)
    sent = await registry.claim(fqn)
    assert (await registry.get(fqn)).state is ToolState.CLAIMED
    assert await author.balance(author.address) == before + SUI - sent.cost.net


async def test_unregistered_tool_accepts_no_invocation(registry, register, requester, stage):
    fqn = await register("closed")
    await registry.unregister(fqn)
    invocations = Invocations(requester, stage.deployment)
    with pytest.raises(WrongStateError, match="does not accept invocations"):
        await invocations.request(await registry.get(fqn), {"a": 1, "b": 1})


async def test_owner_re_registers_a_claimed_tool_with_new_collateral(
    registry, register, requester, stage, leader, advance_clock
):
    fqn = await register("revived")
    await registry.unregister(fqn)
    advance_clock(7 * DAY_MS)
    await registry.claim(fqn)
    await registry.re_register(fqn)
    assert (await registry.get(fqn)).state is ToolState.ACTIVE
    closed = await call(requester, stage, await registry.get(fqn), {"a": 1, "b": 2})
    assert closed.state.ports.as_json() == {"result": 3}
