"""Money is conserved, and settling is profitable for a leader."""

import random
from contextlib import suppress

import pytest

from nexus_tools.errors import NexusError
from nexus_tools.registry import Invocations, LeaderRegistry, Registration, ToolRegistry
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Answer, Failure, FailureReason, ToolDefinition, ToolFqn

DAY_MS = 24 * 60 * 60 * 1000
STEPS = 60
STRUCT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


def definition(fqn):
    branch = {"type": "object", "properties": {"ok": STRUCT}, "required": ["ok"]}
    return ToolDefinition.parse(
        {
            "fqn": fqn,
            "url": "https://tools.example.com/echo",
            "input_schema": {"type": "object", "properties": {}},
            "output_schema": {"type": "object", "oneOf": [branch]},
        }
    )


class Economy:
    """Three accounts that use tools at random, and the gas that they spend."""

    def __init__(self, stage, clients, chance):
        author, leader, requester = clients
        self.chance = chance
        self.net = stage.net
        self.clients = clients
        self.tools = ToolRegistry(author, stage.deployment)
        self.leaders = LeaderRegistry(leader, stage.deployment)
        self.invocations = Invocations(requester, stage.deployment)
        self.closing = Invocations(leader, stage.deployment)
        self.fqns = []
        self.open = []
        self.closed = []
        self.leader = None
        self.gas_mist = 0

    async def pay(self, verb):
        sent = await verb
        self.gas_mist += sent.cost.net
        return sent

    async def start(self):
        self.before = await self.balances()
        self.locked_before = await self.locked()
        sent, self.leader = await self.leaders.register("economy", activate=True)
        self.gas_mist += sent.cost.net

    async def balances(self):
        """Return the sum of all balances, including burnt SUI."""
        whose = [client.address for client in self.clients] + [Address.of(0)]
        return sum([await self.clients[0].balance(owner) for owner in whose])

    async def locked(self):
        """Return the collateral of all tools and leaders, and the funds in all invocations."""
        owners = [tool async for tool in self.tools.iterate()]
        owners += [leader async for leader in self.leaders.iterate()]
        invocations = [
            await self.invocations.get(invocation) for invocation in (*self.open, *self.closed)
        ]
        collateral = sum(owner.collateral.balance_mist for owner in owners)
        return collateral + sum(invocation.payment_mist for invocation in invocations)

    # --- Actions

    async def register(self):
        fqn = f"xyz.money.number{len(self.fqns)}.echo@1"
        terms = {"price_mist": self.chance.randrange(10_000), "leaders": (self.leader,)}
        result = await self.tools.register(Registration(definition(fqn), **terms))
        self.gas_mist += result.sent.cost.net
        self.fqns.append(ToolFqn.parse(fqn))

    async def change_a_tool(self):
        fqn = self.chance.choice(self.fqns)
        verbs = ("unregister", "cancel_unregister", "claim", "re_register", "top_up")
        await self.pay(getattr(self.tools, self.chance.choice(verbs))(fqn))

    async def slash(self):
        fqn = self.chance.choice(self.fqns)
        amount_mist = self.chance.randrange(1, 10**9)
        verb = self.chance.choice(["propose", "execute", "cancel"])
        terms = (amount_mist, "a reason", bytes(32)) if verb == "propose" else ()
        await self.pay(getattr(self.tools, f"{verb}_slash")(fqn, *terms))

    async def request(self):
        tool = await self.tools.get(self.chance.choice(self.fqns))
        sent, invocation = await self.invocations.request(tool, {})
        self.gas_mist += sent.cost.net
        self.open.append(invocation)

    async def close(self):
        invocation = self.chance.choice(self.open)
        outcome = Answer("ok", {"text": "x" * self.chance.randrange(300)})
        if self.chance.random() < 0.3:
            outcome = Failure(FailureReason.UNREACHABLE, "nobody is there")
        await self.pay(self.closing.close(self.leader, {invocation: outcome}))
        self.open.remove(invocation)
        self.closed.append(invocation)

    async def expire(self):
        invocation = self.chance.choice(self.open)
        await self.pay(self.invocations.expire(invocation))
        self.open.remove(invocation)
        self.closed.append(invocation)

    async def delete(self):
        invocation = self.chance.choice(self.closed)
        await self.pay(self.invocations.delete(invocation))
        self.closed.remove(invocation)

    async def let_time_pass(self):
        self.net.advance_clock(self.chance.choice([1_000, 30_000, 7 * DAY_MS]))

    async def act(self):
        verbs = [self.register, self.change_a_tool, self.change_a_tool, self.slash, self.request]
        verbs += [self.request, self.close, self.close, self.expire, self.delete]
        verbs += [self.let_time_pass]
        with suppress(NexusError, IndexError):  # many actions are not allowed and change nothing
            await self.chance.choice(verbs)()


@pytest.fixture
async def participants(stage, advance_clock):
    async with (
        stage.client("author") as author,
        stage.client("leader") as leader,
        stage.client("requester") as requester,
    ):
        snapshot = stage.net.snapshot()
        yield author, leader, requester
        stage.net.revert(snapshot)


@pytest.mark.parametrize("seed", [1, 2])
async def test_collateral_and_refunds_equal_deposits_minus_payments(stage, participants, seed):
    economy = Economy(stage, participants, random.Random(seed))
    await economy.start()
    for _ in range(STEPS):
        await economy.act()
    spent = economy.before - await economy.balances()
    assert spent == economy.gas_mist + await economy.locked() - economy.locked_before
    assert economy.fqns
    assert economy.open or economy.closed


@pytest.fixture
async def earnings(stage, participants):
    """Return a function that measures a leader's gain from closing an invocation."""
    author, leader, requester = participants
    tools = ToolRegistry(author, stage.deployment)
    leaders = LeaderRegistry(leader, stage.deployment)
    await tools.register(Registration(definition("xyz.money.earnings.echo@1")))
    tool = await tools.get(ToolFqn.parse("xyz.money.earnings.echo@1"))
    _, place = await leaders.register("earnings", activate=True)
    requesting = Invocations(requester, stage.deployment)
    terms = {"leaders": [place], "max_outcome_bytes": 65_536}

    async def earn(outcome):
        _, invocation = await requesting.request(tool, {}, **terms)
        before = await leader.balance(leader.address)
        await Invocations(leader, stage.deployment).close(place, {invocation: outcome})
        return await leader.balance(leader.address) - before

    await earn(Failure(FailureReason.HTTP_ERROR, ""))  # the first fee creates an address balance
    return earn


@pytest.mark.parametrize("size", [0, 1, 200, 2_000, 20_000, 65_000])
async def test_settling_earns_a_leader_more_than_it_costs(earnings, size):
    assert await earnings(Answer("ok", {"text": "x" * size})) > 0


async def test_settling_the_maximum_number_of_ports_earns_more_than_it_costs(earnings):
    assert await earnings(Answer("ok", {f"port_{number}": 1 for number in range(32)})) > 0


@pytest.mark.parametrize("size", [0, 100, 200])
async def test_failing_earns_less_than_settling(earnings, size):
    failing = await earnings(Failure(FailureReason.HTTP_ERROR, "x" * size))
    settling = await earnings(Answer("ok", {"text": "x" * size}))
    assert failing < settling
