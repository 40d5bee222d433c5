"""No sequence of operations, successful or failed, creates or loses MIST.

After each step everything is counted: coins and address balances of all accounts, collateral,
prepayments, gas after rebates, and burnt amounts.
"""

from collections import Counter
from contextlib import AsyncExitStack, suppress
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from nexus_tools.contracts.move_bindings.invocation import Invocation
from nexus_tools.contracts.move_bindings.leader import Leader
from nexus_tools.errors import NexusError
from nexus_tools.registry import (
    Administration,
    Invocations,
    LeaderRegistry,
    Registration,
    ToolRegistry,
)
from nexus_tools.sui.keystore import KeyPair
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Answer, Failure, FailureReason, OutcomeSignature, SigningKey, ToolFqn
from nexus_tools.tool.signing.signed_outcome import outcome_message
from tests.economics.purse import Purse
from tests.retry_policies import QUICK

PEOPLE = 4
NAMES = ("first", "second")
INPUTS = {"a": 1, "b": 2}
KEY = SigningKey.new()
NOBODY = Address.of(0)
HOUR_MS = 3_600_000
MARGIN = 50_000_000
"""A budget for transactions that are sent without a simulation. Some of them abort."""


VERBS = {}


def verb(function):
    """Mark a method as an operation to try."""
    VERBS[function.__name__] = function
    return function


class World:
    """Several accounts, of which the first is the admin; their objects; and all operations.

    An operation is mostly tried by an authorized account, on a random object. It may be refused.
    """

    def __init__(self, chain, define, clients):
        self.chain, self.define, self.clients = chain, define, clients
        self.by_address = {client.address: client for client in clients}
        self.fqns, self.leaders, self.invocations = [], [], []
        self.random = Random(0)

    # --- Random choices

    def anybody(self):
        return self.random.choice(self.clients)

    def who(self, address):
        """Return the client of an address, and sometimes that of another account."""
        return self.anybody() if self.random.random() < 0.1 else self.by_address[address]

    def tools(self, client):
        return ToolRegistry(client, self.chain.deployment)

    def registry(self, client):
        return LeaderRegistry(client, self.chain.deployment)

    def of(self, client):
        return Invocations(client, self.chain.deployment)

    async def tool(self, state=None):
        """Return a tool, in this state if there is one, its owner's client, and its name."""
        tools = self.tools(self.clients[0])
        tool = self.drawn([await tools.get(fqn) for fqn in self.fqns], state)
        name = await tools.name(ToolFqn.parse(tool.definition.fqn).unversioned)
        return tool, self.tools(self.who(name.owner.owner)), name

    async def leader(self, state=None):
        """Return a leader, in this state if there is one, and its owner's client."""
        verbs = self.registry(self.clients[0])
        found = self.drawn([await verbs.get(place) for place in self.leaders], state)
        return found, self.registry(self.who(found.owner.owner))

    def drawn(self, found, state):
        return self.random.choice([item for item in found if item.state == state] or found)

    def admin(self, room):
        return room(self.who(self.clients[0].address))

    # --- Tools

    @verb
    async def register_tool(self):
        client, name = self.anybody(), self.random.choice(NAMES)
        fqn = f"xyz.example.{name}@{len(self.fqns) + 1}"
        leaders = self.random.sample(self.leaders, min(len(self.leaders), 2))
        signed = {"keys": (KEY.public_key,), "requires_signed_outcome": self.random.random() < 0.4}
        wanted = Registration(
            self.define(fqn), 1_000_000 if leaders else 0, leaders=tuple(leaders), **signed
        )
        await self.tools(client).register(wanted)
        self.fqns.append(fqn)

    @verb
    async def unregister_tool(self):
        tool, verbs, _ = await self.tool("active")
        await verbs.unregister(tool.fqn)

    @verb
    async def cancel_unregister_tool(self):
        tool, verbs, _ = await self.tool("unregistered")
        await verbs.cancel_unregister(tool.fqn)

    @verb
    async def claim_tool(self):
        tool, verbs, _ = await self.tool("unregistered")
        self.wait_for_delay()
        await verbs.claim(tool.fqn)

    @verb
    async def re_register_tool(self):
        tool, verbs, _ = await self.tool("claimed")
        await verbs.re_register(tool.fqn)

    @verb
    async def top_up_tool(self):
        tool, verbs, _ = await self.tool("suspended")
        await verbs.top_up(tool.fqn)

    @verb
    async def update_tool(self):
        tool, verbs, _ = await self.tool()
        change = self.random.choice(
            [
                {"price_mist": self.random.choice([0, 1, 400_000_000, 600_000_000])},
                {"url": "https://elsewhere.example.com"},
                {"payout": self.anybody().address},
                {"min_outcome_bytes": self.random.choice([0, 50])},
                {"requires_signed_outcome": self.random.random() < 0.5},
            ]
        )
        await verbs.update(tool.fqn, **change)

    @verb
    async def change_lists_of_tool(self):
        tool, verbs, _ = await self.tool()
        address = self.anybody().address
        leader = self.random.choice(self.leaders)
        change = self.random.choice(
            [
                lambda: verbs.add_leader(tool.fqn, leader),
                lambda: verbs.remove_leader(tool.fqn, leader),
                lambda: verbs.accept_any_leader(tool.fqn),
                lambda: verbs.add_operator(tool.fqn, address),
                lambda: verbs.remove_operator(tool.fqn, address),
                lambda: verbs.add_key(tool.fqn, b"\x02" * 32),
                lambda: verbs.remove_key(tool.fqn, b"\x02" * 32),
            ]
        )
        await change()

    @verb
    async def hand_over_name(self):
        _, verbs, name = await self.tool()
        heir = self.anybody()
        await verbs.offer(name.name, heir.address)
        await self.tools(heir).accept(name.name)

    # --- Leaders

    @verb
    async def register_leader(self):
        collateral_mist = self.random.choice([None, 12_000_000_000])
        _, found = await self.registry(self.anybody()).register(
            f"leader {len(self.leaders)}", activate=True, collateral_mist=collateral_mist
        )
        self.leaders.append(found)

    @verb
    async def unregister_leader(self):
        leader, verbs = await self.leader("active")
        await verbs.unregister(leader.id)

    @verb
    async def cancel_unregister_leader(self):
        leader, verbs = await self.leader("unregistered")
        await verbs.cancel_unregister(leader.id)

    @verb
    async def claim_leader(self):
        leader, verbs = await self.leader("unregistered")
        self.wait_for_delay()
        await verbs.claim(leader.id)

    @verb
    async def re_register_leader(self):
        leader, verbs = await self.leader("claimed")
        await verbs.re_register(leader.id)

    @verb
    async def top_up_leader(self):
        leader, verbs = await self.leader("suspended")
        await verbs.top_up(leader.id)

    @verb
    async def switch_leader(self):
        leader, verbs = await self.leader()
        await (verbs.deactivate if leader.accepting else verbs.activate)(leader.id)

    @verb
    async def change_workers_of_leader(self):
        leader, verbs = await self.leader()
        address = self.anybody().address
        listed = address in leader.workers.entries and len(leader.workers.entries) > 1
        await (verbs.remove_worker if listed else verbs.add_worker)(leader.id, address)

    @verb
    async def hand_over_leader(self):
        leader, verbs = await self.leader()
        heir = self.anybody()
        await verbs.offer(leader.id, heir.address)
        await self.registry(heir).accept(leader.id)

    # --- Invocations

    @verb
    async def request(self):
        tool, _, _ = await self.tool()
        _, place = await self.of(self.anybody()).request(
            tool, INPUTS, max_outcome_bytes=self.random.choice([100, 4_096])
        )
        self.invocations.append(place)

    @verb
    async def close(self):
        """Close as one or more of an invocation's leaders, signed or not, sometimes unchecked."""
        invocation = await self._invocation()
        at = self.random.choice(invocation.leaders)
        workers = (await self.registry(self.clients[0]).get(at)).workers.entries
        verbs = self.of(self.who(self.random.choice(workers)))
        outcomes = {invocation.id: self._outcome(invocation)}
        other = await self._invocation()
        if at in other.leaders and self.random.random() < 0.5:
            outcomes[other.id] = self._outcome(other)
        await verbs.close(at, outcomes, budget=self.random.choice([None, MARGIN]))

    def _outcome(self, invocation):
        if self.random.random() < 0.3:
            return Failure(self.random.choice([*FailureReason]), "x" * self.random.choice([0, 200]))
        answer = Answer("ok", {"result": 3})
        if not invocation.signers and self.random.random() < 0.9:
            return answer
        message = outcome_message(bytes(invocation.id), INPUTS, answer)
        signature = OutcomeSignature(KEY.public_key, KEY.private.sign(message))
        return Answer("ok", {"result": 3}, signature)

    @verb
    async def expire(self):
        await self.of(self.anybody()).expire(self.random.choice(self.invocations))

    @verb
    async def delete(self):
        invocation = await self._invocation()
        await self.of(self.who(invocation.requester)).delete(invocation.id)

    async def _invocation(self):
        return await self.of(self.clients[0]).get(self.random.choice(self.invocations))

    # --- The admin, and time

    async def judged(self, *, pending):
        """Return a tool or leader and the admin's client, with or without a pending slash."""
        tools, leaders = self.admin(self.tools), self.admin(self.registry)
        found = [(fqn, tools, await tools.get(fqn)) for fqn in self.fqns]
        found += [(place, leaders, await leaders.get(place)) for place in self.leaders]
        fit = [item for item in found if (item[2].collateral.slash is not None) == pending]
        return self.random.choice(fit or found)[:2]

    @verb
    async def propose_slash(self):
        place, verbs = await self.judged(pending=False)
        mist = self.random.choice([1, 500_000_000, 5_000_000_000])
        await verbs.propose_slash(place, mist, "because", bytes(32))

    @verb
    async def cancel_slash(self):
        place, verbs = await self.judged(pending=True)
        await verbs.cancel_slash(place)

    @verb
    async def execute_slash(self):
        place, verbs = await self.judged(pending=True)
        self.chain.net.advance_clock(72 * HOUR_MS)
        await verbs.execute_slash(place)

    @verb
    async def configure(self):
        verbs = self.admin(self.registry)
        found = await verbs.settings()
        margin_mist = self.random.choice([0, 2_000_000, 10_000_000])
        await verbs.configure(replace(found, settle_margin_mist=margin_mist))

    @verb
    async def offer_administration(self):
        client = self.who(self.clients[0].address)
        verbs = Administration(client, self.chain.deployment)
        await verbs.offer(self.anybody().address)

    @verb
    async def wait_a_window(self):
        self.chain.net.advance_clock(20_000)

    def wait_for_delay(self):
        """Wait, sometimes long enough for a claim."""
        self.chain.net.advance_clock(self.random.choice([HOUR_MS, 7 * 24 * HOUR_MS]))

    # --- Totals

    async def total_mist(self):
        """Return the total of all amounts, and check the laws that hold at every step."""
        first, verbs = self.clients[0], self.tools(self.clients[0])
        tools = [await verbs.get(fqn) for fqn in self.fqns]
        leaders = await verbs.find_all(self.leaders, Leader)
        open_ones = [one for one in await verbs.find_all(self.invocations, Invocation) if one]
        for tool in tools:
            assert (
                tool.collateral.is_claimed or 2 * tool.price_mist <= tool.collateral.required_mist
            )
            assert not (tool.accepts_any_leader and tool.price_mist)
        pledges = [item.collateral for item in (*tools, *leaders)]
        for pledge in pledges:
            assert 2 * pledge.slashed_mist <= pledge.required_mist
            assert pledge.balance_mist <= pledge.required_mist
        for one in open_ones:
            assert one.is_closed == (one.payment_mist == 0)
        return (
            sum([await client.balance(client.address) for client in self.clients])
            + sum(client.gas_mist for client in self.clients)
            + sum(pledge.balance_mist for pledge in pledges)
            + sum(one.payment_mist for one in open_ones)
            + await first.balance(NOBODY)
        )


# More frequent operations, which create the objects for the others.
OFTEN = ("request", "close", "delete", "propose_slash", "execute_slash", "wait_a_window")
OFTEN += (
    "unregister_tool",
    "claim_tool",
    "re_register_tool",
    "top_up_tool",
    "top_up_leader",
    "unregister_leader",
    "claim_leader",
    "re_register_leader",
)
STEPS = st.lists(
    st.tuples(st.sampled_from([*VERBS, *OFTEN, *OFTEN]), st.integers(0, 2**32)),
    min_size=80,
    max_size=90,
)


async def play(chain, define, steps, done):
    """Play the steps, and count after each of them."""
    keys = [KeyPair.from_bytes(b"\0" + bytes([11 + n] * 32)) for n in range(PEOPLE)]
    async with AsyncExitStack() as stack:
        clients = [
            await stack.enter_async_context(Purse(chain.net.network, key, retry_policy=QUICK))
            for key in keys
        ]
        world = World(chain, define, clients)
        for _ in range(2):
            await world.register_leader()
            await world.register_tool()
            await world.request()
        total_mist = await world.total_mist()
        for name, drawn in steps:
            world.random = Random(drawn)
            with suppress(NexusError):
                await VERBS[name](world)
                done[name] += 1
            assert await world.total_mist() == total_mist, name
        done["a transaction that failed"] += sum(client.failures for client in clients)


@pytest.mark.long
def test_all_operations_conserve_funds_and_objects(chain, define):
    done = Counter()
    snapshot = chain.net.snapshot()

    @settings(
        max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None
    )
    @given(STEPS)
    def check(steps):
        chain.net.revert(snapshot)
        chain.net.run(play(chain, define, steps, done))

    check()
    assert done.pop("a transaction that failed") > 0
    assert VERBS.keys() == done.keys()  # each of them succeeded at least once
