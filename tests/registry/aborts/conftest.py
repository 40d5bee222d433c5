"""A world in which the Move package can be made to abort."""

from dataclasses import dataclass, replace

import pytest

from nexus_tools.client import SuiClient
from nexus_tools.errors import NexusError
from nexus_tools.registry import (
    ABORTS,
    CompiledPackage,
    Deployment,
    Invocations,
    LeaderRegistry,
    PackageClient,
    Ports,
    Publisher,
    Registration,
    ToolRegistry,
    calls,
)
from nexus_tools.sui.address import Address
from nexus_tools.sui.builder import TransactionBuilder
from nexus_tools.tool import Outcome, ToolFqn

SUI = 1_000_000_000
BUDGET = 5 * SUI
ADD = ToolFqn.parse("xyz.example.math.add@1")
OUTCOME = Outcome("ok", {"result": 3})


@dataclass
class World:
    """People, what they have, and a transaction in the making."""

    admin: SuiClient
    owner: SuiClient
    leader: SuiClient
    user: SuiClient
    deployment: Deployment
    net: object
    define: object
    tool: Address
    owner_cap: Address
    cap: Address
    next_package: CompiledPackage

    def __post_init__(self):
        self.builder = TransactionBuilder()
        self.tools = ToolRegistry(self.owner, self.deployment)
        self.leaders = LeaderRegistry(self.leader, self.deployment)
        self.invocations = Invocations(self.user, self.deployment)
        self.closing = Invocations(self.leader, self.deployment)

    @property
    def called(self):
        """What every call begins with."""
        return self.builder, self.deployment

    @property
    def verb(self):
        """What every verb of the owner begins with."""
        return *self.called, self.tool, self.owner_cap

    def coin(self, mist):
        return self.builder.split_coins(self.builder.gas, [mist])[0]

    def definition(self, **fields):
        return replace(Registration(self.define()).on_chain(), **fields)

    async def slash_tool(self, mist):
        await ToolRegistry(self.admin, self.deployment).slash(ADD, mist, "it lies")

    async def slash_leader(self):
        await LeaderRegistry(self.admin, self.deployment).slash(self.cap, 1, "it lies")

    async def stranger_cap(self):
        """The owner cap of another name, which the user has."""
        name = "org.example.maths.add@1"
        registry = ToolRegistry(self.user, self.deployment)
        result = await registry.register(Registration(self.define(name)))
        return result.tools[0].owner_cap

    async def requested(self, **options):
        tool = await self.tools.get(ADD)
        return (await self.invocations.request(tool, {"a": 1, "b": 2}, **options))[1]

    def settle(self, invocation, cap=None):
        ports = calls.value.make_ports(*self.called, Ports.of(OUTCOME.ports))
        fee = calls.invocation.settle(
            *self.called, invocation, cap or self.cap, variant="ok", ports=ports
        )
        self.builder.merge_coins(self.builder.gas, [fee])
        return self.leader

    def request(self, inputs=None, max_outcome_bytes=10, funds=1):
        ports = calls.value.make_ports(*self.called, Ports.of(inputs or {"a": 1}))
        calls.invocation.request(
            *self.called,
            self.tool,
            inputs=ports,
            max_outcome_bytes=max_outcome_bytes,
            funds=self.coin(funds),
        )
        return self.user

    async def assert_aborts(self, sender, module, name):
        """The transaction is executed, with a budget and so unsimulated, and aborts."""
        reason = next(each for each in ABORTS[module] if each.name == name)
        with pytest.raises(NexusError) as caught:
            await PackageClient(sender, self.deployment).send(self.builder, budget=BUDGET)
        error = caught.value
        assert (error.details["module"], error.details["reason"]) == (module, name)
        assert (type(error), error.code) == (reason.kind, reason.code)
        assert reason.sentence.startswith(error.message)
        assert "digest" in error.details  # it was executed, not only simulated

    async def upgrade(self):
        """The deployment after an upgrade that older versions do not survive."""
        publisher = Publisher(self.admin)
        upgraded = (await publisher.upgrade(self.next_package, self.deployment)).deployment
        await publisher.migrate(upgraded)
        return upgraded


@pytest.fixture
async def world(admin, owner, leader, user, chain, define, next_package):
    deployment = chain.deployment
    result = await ToolRegistry(owner, deployment).register(Registration(define(), 100))
    _, cap = await LeaderRegistry(leader, deployment).register_leader("first", activate=True)
    tool = result.tools[0]
    return World(
        *(admin, owner, leader, user),
        *(deployment, chain.net, define),
        *(tool.tool, tool.owner_cap, cap),
        next_package,
    )
