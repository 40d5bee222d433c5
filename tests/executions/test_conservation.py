"""The total of all balances changes only by Sui's charges, however executions proceed and end.

The test adds up all amounts at the end of each part, and sometimes in between. These are coins and
address balances, collateral, the funds of executions, schedules and invocations, and net gas.
With `NEXUS_TOOLS_DOCUMENTS=1000`, this many stories of each kind are run.
"""

import os
import random
from contextlib import AsyncExitStack, suppress
from dataclasses import replace

import pytest

from nexus_tools.contracts import PackageClient, make_ports, ports_of
from nexus_tools.contracts.move_bindings.invocation import Invocation
from nexus_tools.contracts.move_bindings.leader import Leader
from nexus_tools.contracts.move_bindings.tool import Tool
from nexus_tools.contracts.move_bindings.workflows import execution as executions
from nexus_tools.contracts.move_bindings.workflows import schedule as schedules
from nexus_tools.contracts.move_bindings.workflows import timing
from nexus_tools.contracts.move_bindings.workflows.execution import Execution
from nexus_tools.contracts.move_bindings.workflows.schedule import Schedule, ScheduleCreated
from nexus_tools.errors import NexusError, NotFoundError
from nexus_tools.registry import Executions, Registration, Schedules, ToolRegistry
from nexus_tools.sui.keystore import KeyPair
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.effects import IdOperation
from nexus_tools.workflow import DEFAULT_GROUP, Status, find_structure
from tests.economics.purse import Purse
from tests.executions.carrying import FUNDS_MIST, HOUR_MS, OUTCOME_BYTES, Carried, Dispatcher
from tests.executions.conftest import ANY, DEAR
from tests.retry_policies import QUICK
from tests.workflow.random_documents import grown, outcome_of, strewn

STORIES = int(os.environ.get("NEXUS_TOOLS_DOCUMENTS", "2"))
FIRST = int(os.environ.get("NEXUS_TOOLS_FIRST_DOCUMENT", "0"))
PRICED = "xyz.example.priced@1"
PRICE_MIST = 300
COUNTED = 0.1
"""After which share of all that is done there is a count."""
DAY_MS = 24 * HOUR_MS
SUI = 10**9
MARGIN = 50_000_000
"""A budget for transactions that are sent without being simulated: they abort."""


class Account(Purse):
    """A purse that also records the objects that its transactions created."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.created = set()

    async def execute(self, builder, **options):
        executed = await super().execute(builder, **options)
        changes = executed.effects.changed_objects
        self.created |= {
            place for place, id_change in changes if id_change.operation is IdOperation.CREATED
        }
        return executed


class World:
    """All accounts, their executions and schedules, and the total of all funds."""

    def __init__(self, chain, accounts, carrier, pledges):
        self.chain, self.accounts, self.carrier = chain, accounts, carrier
        self.stranger = PackageClient(accounts["admin"], chain.deployment)
        self.tools, self.leaders = pledges
        self.executions, self.schedules = [], []

    async def total_mist(self):
        """Return the total of all funds in MIST."""
        package, accounts = self.stranger, self.accounts.values()
        invocations = [invocation for one in self.executions for invocation in one.all_invocations]
        results = await package.find_all([execution.id for execution in self.executions], Execution)
        results += await package.find_all(self.schedules, Schedule)
        opened = await package.find_all(invocations, Invocation)
        pledges = await package.find_all(self.tools, Tool)
        pledges += await package.find_all(self.leaders, Leader)
        return (
            sum([await account.balance(account.address) for account in accounts])
            + sum(account.gas_mist for account in accounts)
            + sum(result.funds for result in results if result)
            + sum(
                opened_invocation.payment_mist for opened_invocation in opened if opened_invocation
            )
            + sum(pledge.collateral.balance_mist for pledge in pledges)
        )

    async def leftovers(self):
        """Return the objects created since the last reset that still exist, except for coins."""
        ids = sorted(set().union(*(account.created for account in self.accounts.values())))
        results = await self.stranger.client.objects(ids)
        return [value for value in results if value and value.type.module != "coin"]

    def forget_what_was_created(self):
        """Reset the created objects after a story has shown that they are gone."""
        self.executions, self.schedules = [], []
        for account in self.accounts.values():
            account.created.clear()


class Story:
    """A workflow, the owner of an execution or a schedule of it, and accounts that interfere."""

    def __init__(self, world, document, seed):
        self.world, self.seed = world, seed
        self.document = document
        self.outcome = outcome_of(document, seed)
        self.chance = random.Random(f"story {seed}")

    async def publish(self):
        self.workflow = await self.world.carrier.publish(self.document)
        self.world.forget_what_was_created()
        self.had_mist = await self.world.total_mist()

    async def count(self):
        assert await self.world.total_mist() == self.had_mist

    # --- An execution

    async def begin(self):
        """Start an execution, sometimes with insufficient funds for any run."""
        execution = self._own()
        funds_mist = self.chance.choice((1_000, SUI // 50, FUNDS_MIST))
        await execution.begin(funds_mist=funds_mist, max_price_mist=PRICE_MIST)
        return execution

    def _own(self):
        execution = Carried(self.world.carrier, self.workflow)
        self.world.executions.append(execution)
        return execution

    async def carry(self, execution):
        """Run an execution to its end; refill it when necessary, and sometimes when not."""
        await self.count()
        while execution.semantics.status is Status.RUNNING:
            went_on = await execution.go_on(self.outcome, self.chance, disturbed=True)
            if self.chance.random() < COUNTED:
                await self.count()
            still = execution.semantics.status is Status.RUNNING
            if still and (not went_on or self.chance.random() < 0.02):
                await self._refill(execution)
            if self.chance.random() < 0.02:
                await self._interfere(execution)
        assert execution.ended is not None
        await self.count()

    async def _refill(self, execution):
        amount_mist = self.chance.choice((SUI // 10, SUI))
        await self.world.stranger.pay(executions.refill, execution.id, amount_mist=amount_mist)
        await self.count()

    async def _interfere(self, execution):
        """Try to cancel an execution from an account that may not; that account pays gas."""
        builder = TransactionBuilder()
        executions.cancel(builder, self.world.carrier.package, execution.id)
        with suppress(NexusError):
            await self.world.stranger.send(builder, budget=MARGIN)
        await self.count()

    async def clean(self, execution):
        """Clean up as the owner, or as anyone after seven days."""
        account = self.world.accounts["user"]
        if self.chance.random() < 0.3:
            self.world.carrier.net.advance_clock(7 * DAY_MS)
            account = self.world.accounts["admin"]
        await Executions(account, self.world.chain.deployment).clean(execution.id)
        await self.count()

    # --- A schedule

    async def schedule(self):
        """Create an hourly schedule of the workflow, with funds for some executions."""
        carrier, builder = self.world.carrier, TransactionBuilder()
        package, plan = carrier.package, self.workflow.plan
        first_at_ms = await carrier.owner.client.now_ms() + HOUR_MS
        schedule = schedules.create(
            builder,
            package,
            carrier.deployment.leader_registry,
            carrier.settings.revision,
            self.workflow.id,
            list(plan.groups).index(DEFAULT_GROUP),
            carrier.leader,
            [PRICE_MIST] * len(self.workflow.tools),
            HOUR_MS,
            OUTCOME_BYTES,
            10_000,
            HOUR_MS,
            timing.every(builder, package, HOUR_MS, first_at_ms, None, None),
            SUI // 2,
            500_000,
            False,
            0,
            None,
            builder.split_coins(builder.gas, [SUI * 6 // 10])[0],
        )
        for number, vertex in enumerate(plan.vertices.values()):
            ports = {port: "given" for port in vertex.entries if port not in vertex.constants}
            if ports:
                port_values = make_ports(builder, carrier.deployment.package, ports_of(ports))
                schedules.set_entry_values(builder, package, schedule, number, port_values)
        schedules.share(builder, package, schedule)
        sent = await carrier.owner.send(builder)
        created = carrier.owner.emitted(sent, ScheduleCreated).schedule
        self.world.schedules.append(created)
        await self.count()
        return created

    async def trigger(self, schedule):
        """Start the next execution of a schedule, and refill the schedule if necessary."""
        keeper = self.schedules_of("leader")
        self.world.carrier.net.advance_clock(HOUR_MS)
        while True:
            sent = await keeper.trigger(schedule, self.world.carrier.leader)
            execution = Carried(self.world.carrier, self.workflow)
            try:
                await execution.has_begun(sent)
            except NotFoundError:
                await self.count()
                await self.schedules_of("admin").refill(schedule, SUI)
                continue
            self.world.executions.append(execution)
            return execution

    async def collect(self, schedule):
        """Collect the leftover funds of an execution, which anyone may do."""
        await self.schedules_of("admin").collect(schedule)
        await self.count()

    async def end(self, schedule):
        """Cancel and delete a schedule whose executions have ended."""
        await self.schedules_of("user").cancel(schedule)
        await self.count()

    def schedules_of(self, party):
        return Schedules(self.world.accounts[party], self.world.chain.deployment)


def mixed(document, seed):
    """Return the document with some priced tools, of which a few are too expensive."""
    chance = random.Random(f"prices {seed}")

    def fqn():
        return chance.choices((ANY, PRICED, DEAR), (55, 40, 5))[0]

    return replace(
        document, vertices=tuple(replace(vertex, fqn=fqn()) for vertex in document.vertices)
    )


def stories(world):
    """Return the first valid workflows, alternating between both kinds."""
    played, seed = 0, FIRST
    while played < STORIES:
        seed += 1
        document = mixed((grown, strewn)[seed % 2](seed), seed)
        if not find_structure(document).problems:
            played += 1
            yield Story(world, document, seed)


@pytest.fixture
async def world(chain, owner, leader, active_leader, settings, define):
    """Return all accounts, whose balances and transactions are counted from now on."""
    tools = ToolRegistry(owner, chain.deployment)
    for fqn, price_mist in ((ANY, 0), (PRICED, PRICE_MIST), (DEAR, PRICE_MIST + 1)):
        leaders = (active_leader,) if price_mist else ()
        await tools.register(Registration(define(fqn), price_mist=price_mist, leaders=leaders))
    pledges = [(await tools.get(fqn)).id for fqn in (ANY, PRICED, DEAR)], [active_leader]
    async with AsyncExitStack() as stack:
        accounts = {
            name: await stack.enter_async_context(
                Account(chain.net.network, key, retry_policy=QUICK)
            )
            for name, key in KEYS.items()
        }
        carrier = Dispatcher(chain, accounts["user"], accounts["leader"], active_leader, settings)
        yield World(chain, accounts, carrier, pledges)


KEYS = {
    name: KeyPair.from_bytes(b"\0" + bytes([11 + number] * 32))
    for number, name in enumerate(("admin", "owner", "leader", "user"))
}


@pytest.mark.long
async def test_execution_conserves_money(world):
    for story in stories(world):
        try:
            await story.publish()
            execution = await story.begin()
            await story.carry(execution)
            await story.clean(execution)
            assert await world.leftovers() == []
        except Exception as error:
            error.add_note(f"seed {story.seed}")
            raise


@pytest.mark.long
async def test_schedule_conserves_money(world):
    for story in stories(world):
        try:
            await story.publish()
            schedule = await story.schedule()
            for _ in range(2):
                execution = await story.trigger(schedule)
                await story.carry(execution)
                await story.collect(schedule)
                await story.clean(execution)
            await story.end(schedule)
            assert await world.leftovers() == []
        except Exception as error:
            error.add_note(f"seed {story.seed}")
            raise
