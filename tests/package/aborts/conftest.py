"""A world in which the Move package can be made to abort."""

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature

import pytest
from msgspec.structs import replace

from nexus_tools.client import SuiClient
from nexus_tools.errors import NexusError
from nexus_tools.package import (
    CompiledPackage,
    Deployment,
    PackageClient,
    Publisher,
    code_of,
    kind_of,
    make_ports,
    ports_of,
)
from nexus_tools.package import move as calls
from nexus_tools.registry import Invocations, LeaderRegistry, Registration, ToolRegistry
from nexus_tools.sui.address import Address
from nexus_tools.sui.builder import TransactionBuilder
from nexus_tools.tool import Answer, ToolFqn

SUI = 1_000_000_000
BUDGET = 5 * SUI
NOTICE_MS = 3 * 86_400_000
EVIDENCE = bytes(range(32))
ADD = ToolFqn.parse("xyz.example.math.add@1")
ANSWER = Answer("ok", {"result": 3})


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
    next_package: Callable[[], CompiledPackage]

    def __post_init__(self):
        self.builder = TransactionBuilder()
        self.tools = ToolRegistry(self.owner, self.deployment)
        self.leaders = LeaderRegistry(self.leader, self.deployment)
        self.invocations = Invocations(self.user, self.deployment)
        self.closing = Invocations(self.leader, self.deployment)

    @property
    def by_owner(self):
        """The type of the owner's caps, for functions that take those of operators, too."""
        return self.deployment.type_of(calls.tool.OwnerCap)

    def do(self, function, *arguments):
        """Add a command; registries and the admin cap are the deployment's, where they belong."""
        own = {
            "registry": self.deployment.tool_registry,
            "tool_registry": self.deployment.tool_registry,
            "leader_registry": self.deployment.leader_registry,
            "leaders": self.deployment.leader_registry,
            "admin_cap": self.deployment.admin_cap,
        }
        given = iter(arguments)
        names = list(signature(function).parameters)[2:]
        filled = [own[name] if name in own else next(given) for name in names]
        assert not list(given)
        return function(self.builder, self.deployment.package, *filled)

    def ports(self, document):
        return make_ports(self.builder, self.deployment.package, ports_of(document))

    def coin(self, mist):
        return self.builder.split_coins(self.builder.gas, [mist])[0]

    def definition(self, **fields):
        return replace(Registration(self.define()).on_chain(), **fields)

    async def slash_tool(self, mist):
        admins = ToolRegistry(self.admin, self.deployment)
        await admins.propose_slash(ADD, mist, "it lies", EVIDENCE)
        self.net.advance_clock(NOTICE_MS)
        await admins.execute_slash(ADD)

    async def propose_to_slash_leader(self):
        admins = LeaderRegistry(self.admin, self.deployment)
        await admins.propose_slash(self.cap, 1, "it lies", EVIDENCE)
        self.net.advance_clock(NOTICE_MS)
        return admins

    async def slash_leader(self):
        await (await self.propose_to_slash_leader()).execute_slash(self.cap)

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
        ports = self.ports(ANSWER.ports)
        fee = self.do(calls.invocation.settle, invocation, cap or self.cap, "ok", ports)
        self.builder.merge_coins(self.builder.gas, [fee])
        return self.leader

    def request(self, inputs=None, max_outcome_bytes=10, payment=1):
        ports = self.ports(inputs or {"a": 1})
        coin = self.coin(payment)
        self.do(calls.invocation.request, self.tool, ports, max_outcome_bytes, coin)
        return self.user

    async def assert_aborts(self, sender, module, name):
        """The transaction is executed, with a budget and so unsimulated, and aborts."""
        reason = next(each for each in getattr(calls, module).ERRORS if each.name == name)
        with pytest.raises(NexusError) as caught:
            await PackageClient(sender, self.deployment).send(self.builder, budget=BUDGET)
        error = caught.value
        assert (error.details["module"], error.details["reason"]) == (module, name)
        assert (type(error), error.code) == (kind_of(reason), code_of(reason))
        assert reason.sentence.startswith(error.message)
        assert "digest" in error.details  # it was executed, not only simulated

    async def upgrade(self):
        """The deployment after an upgrade that older versions do not survive."""
        publisher = Publisher(self.admin)
        upgraded = (await publisher.upgrade(self.next_package(), self.deployment)).deployment
        await publisher.migrate(upgraded)
        return upgraded


@pytest.fixture
async def world(admin, owner, leader, user, chain, define, request):
    deployment = chain.deployment
    result = await ToolRegistry(owner, deployment).register(Registration(define(), 100))
    _, cap = await LeaderRegistry(leader, deployment).register("first", activate=True)
    tool = result.tools[0]
    return World(
        *(admin, owner, leader, user),
        *(deployment, chain.net, define),
        *(tool.tool, tool.owner_cap, cap),
        lambda: request.getfixturevalue("next_package"),  # needs the compiler, as one case does
    )
