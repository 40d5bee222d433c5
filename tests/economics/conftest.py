"""The balances of all parties before and after an action of one of them."""

from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import ClassVar

import pytest

from nexus_tools.errors import NexusError
from nexus_tools.registry import Invocations, LeaderRegistry, Registration, ToolRegistry
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.keystore import KeyPair
from nexus_tools.tool import Answer, Failure, FailureReason
from tests.retry_policies import QUICK


@dataclass
class Round:
    """The gain of each party in a period, in MIST, including gas."""

    before: dict
    gained: dict = field(default_factory=dict)

    def __getitem__(self, party):
        return self.gained[party]


class Parties:
    """The admin, the tool owner, the leader, the user (a requester), an attacker, and their funds.

    A balance is the sum of an address's coins and its address balance. Locked collateral counts for
    the
    party that locks it.
    """

    PRICE_MIST = 100_000_000
    INPUTS: ClassVar = {"a": 20, "b": 22}
    ANSWER = Answer("ok", {"result": 42})
    FAILURE = Failure(FailureReason.UNREACHABLE, "")

    def __init__(self, chain, clients):
        self.chain, self.clients = chain, clients

    def address(self, party):
        return self.clients[party].address

    async def purses(self):
        return {name: await client.balance(client.address) for name, client in self.clients.items()}

    @asynccontextmanager
    async def round(self):
        played = Round(await self.purses())
        yield played
        after = await self.purses()
        played.gained |= {name: after[name] - had for name, had in played.before.items()}

    def tools(self, party="owner"):
        return ToolRegistry(self.clients[party], self.chain.deployment)

    def leaders(self, party="leader"):
        return LeaderRegistry(self.clients[party], self.chain.deployment)

    def invocations(self, party="user"):
        return Invocations(self.clients[party], self.chain.deployment)

    def pass_time(self, milliseconds):
        self.chain.net.advance_clock(milliseconds)

    def pass_windows(self):
        """Wait as long as any invocation does: two windows of 5 + 15 s, and a second."""
        self.pass_time(41_000)

    async def register_tool(self, definition, *leaders, price_mist=PRICE_MIST, **terms):
        """Register a tool of the owner for these leaders."""
        wanted = Registration(definition, price_mist=price_mist, leaders=leaders, **terms)
        await self.tools().register(wanted)
        return await self.tools().get(definition.fqn)

    async def register_leader(self, party, name):
        """Register and activate a leader of a party, and return its ID."""
        return (await self.leaders(party).register(name, activate=True))[1]

    async def request(self, tool, party="user", **terms):
        """Request an invocation as a party, and return its ID."""
        return (await self.invocations(party).request(tool, self.INPUTS, **terms))[1]

    async def honest(self, tool, leader, inputs=INPUTS, party="leader"):
        """Return the gain of each party from an honest invocation, settled and deleted."""
        async with self.round() as played:
            invocations = self.invocations()
            _, invocation = await invocations.request(tool, inputs, leaders=[leader])
            await self.settle(leader, invocation, party=party)
            await invocations.delete(invocation)
        return played.gained

    async def settle(self, leader, *invocations, party="leader"):
        """Settle invocations as a worker of a leader, in one transaction."""
        outcomes = dict.fromkeys(invocations, self.ANSWER)
        return await self.invocations(party).close(leader, outcomes)

    async def fail(self, leader, *invocations, party="leader"):
        """Fail invocations as a worker of a leader, in one transaction."""
        outcomes = dict.fromkeys(invocations, self.FAILURE)
        return await self.invocations(party).close(leader, outcomes)


@pytest.fixture
async def stranger(chain):
    """Return an unrelated account with 1 000 SUI."""
    key = KeyPair.from_bytes(b"\0" + bytes([77] * 32))
    chain.net.fund(key.address, 1_000 * 10**9)
    async with SuiClient(chain.net.network, key, retry_policy=QUICK) as client:
        yield client


@pytest.fixture
def parties(chain, admin, owner, leader, user, stranger):
    people = {"admin": admin, "owner": owner, "leader": leader, "user": user}
    return Parties(chain, people | {"stranger": stranger})


@pytest.fixture
async def tool(parties, define, active_leader):
    """Register a tool of the owner that costs 0.1 SUI and accepts only `active_leader`."""
    return await parties.register_tool(define(), active_leader)


@pytest.fixture
def refused():
    """Return a context manager that expects a refusal with a code, by the client or the chain."""

    @contextmanager
    def refused(code):
        with pytest.raises(NexusError) as caught:
            yield
        assert caught.value.code == code

    return refused


@pytest.fixture
def told(record_property, request):
    """Return a function that records an attacker's gain and damage for the final table."""

    def tell(profit_mist, damage_mist=0, whose="nobody"):
        record_property("economics", (request.node.name, profit_mist, damage_mist, whose))

    return tell


@pytest.fixture
def attack(parties, told):
    """Return a context manager that records the profit of a party and the largest loss of another.

    `honest` is the gain of each party without the attack.
    """

    @asynccontextmanager
    async def attack(party, honest=None):
        async with parties.round() as played:
            yield played
        more = {party: mist - (honest or {}).get(party, 0) for party, mist in played.gained.items()}
        profit_mist = more.pop(party)
        whose = min(more, key=more.get)
        lost_mist = max(0, -more[whose])
        told(profit_mist, lost_mist, f"the {whose}" if lost_mist else "nobody")

    return attack


def pytest_terminal_summary(terminalreporter):
    """Print the table of all attacks with profit and damage in MIST."""
    rows = [
        value
        for report in terminalreporter.stats.get("passed", [])
        for name, value in report.user_properties
        if name == "economics"
    ]
    if not rows:
        return
    terminalreporter.section("who gained, and what it cost whom (MIST)")
    for name, profit, damage, whose in sorted(map(tuple, rows)):
        terminalreporter.line(f"{name:92}{profit:>16,}{damage:>16,}  {whose}")
