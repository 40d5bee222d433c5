"""A world in which each abort of the Move packages can be caused."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from inspect import signature

import pytest
from msgspec.structs import replace

from nexus_tools.contracts import (
    CompiledPackage,
    Deployment,
    PackageClient,
    Publisher,
    code_of,
    kind_of,
    make_ports,
    name_id,
    ports_of,
)
from nexus_tools.contracts import move_bindings as calls
from nexus_tools.contracts.move_bindings.workflows import dag
from nexus_tools.errors import NexusError
from nexus_tools.registry import Invocations, LeaderRegistry, Registration, ToolRegistry
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Answer, ToolFqn

SUI = 1_000_000_000
BUDGET = 5 * SUI
NOTICE_MS = 3 * 86_400_000
EVIDENCE = bytes(range(32))
ADD = ToolFqn.parse("xyz.example.math.add@1")
ANSWER = Answer("ok", {"result": 3})


def errors_of(module):
    """Return the error constants of a module of our packages."""
    place = calls.workflows if module in calls.workflows.TYPES.modules else calls
    return import_module(f"{place.__name__}.{module}").ERRORS


@dataclass
class World:
    """Wallets, their objects, and a transaction under construction."""

    admin: SuiClient
    owner: SuiClient
    leader: SuiClient
    user: SuiClient
    deployment: Deployment
    net: object
    define: object
    tool: Address
    name: Address
    leader_id: Address
    next_package: Callable[[], CompiledPackage]

    def __post_init__(self):
        self.builder = TransactionBuilder()
        self.tools = ToolRegistry(self.owner, self.deployment)
        self.leaders = LeaderRegistry(self.leader, self.deployment)
        self.invocations = Invocations(self.user, self.deployment)
        self.closing = Invocations(self.leader, self.deployment)

    def do(self, function, *arguments):
        """Add a command; registries and the admin object are those of the deployment."""
        deployment, tools = self.deployment, self.deployment.tool_registry
        registries = {calls.tool: tools, calls.name: tools, dag: deployment.dag_registry}
        if function.__name__.endswith("for_tool"):
            registries[calls.slashing] = tools
        by_module = {module.__name__: registry for module, registry in registries.items()}
        own = {
            "registry": by_module.get(function.__module__, deployment.leader_registry),
            "tool_registry": tools,
            "leader_registry": deployment.leader_registry,
            "admin": self.deployment.admin,
        }
        remaining = iter(arguments)
        names = list(signature(function).parameters)[2:]
        filled = [own[name] if name in own else next(remaining) for name in names]
        assert not list(remaining)
        return function(self.builder, self.deployment.package_of(function), *filled)

    def do_to_tool(self, function, *arguments):
        """Add a command of the tool's owner or operators."""
        return self.do(function, self.tool, self.name, *arguments)

    def ports(self, document):
        return make_ports(self.builder, self.deployment.package, ports_of(document))

    def coin(self, mist):
        return self.builder.split_coins(self.builder.gas, [mist])[0]

    def definition(self, **fields):
        return replace(Registration(self.define()).on_chain_definition(), **fields)

    async def slash_tool(self, mist):
        admins = ToolRegistry(self.admin, self.deployment)
        await admins.propose_slash(ADD, mist, "it lies", EVIDENCE)
        self.net.advance_clock(NOTICE_MS)
        await admins.execute_slash(ADD)

    async def propose_to_slash_leader(self):
        admins = LeaderRegistry(self.admin, self.deployment)
        await admins.propose_slash(self.leader_id, 1, "it lies", EVIDENCE)
        self.net.advance_clock(NOTICE_MS)
        return admins

    async def slash_leader(self):
        await (await self.propose_to_slash_leader()).execute_slash(self.leader_id)

    async def strangers_name(self):
        """Return another name, which the user owns."""
        fqn = ToolFqn.parse("org.example.maths.add@1")
        await ToolRegistry(self.user, self.deployment).register(self.define(str(fqn)))
        return name_id(self.deployment.tool_registry, fqn.unversioned)

    async def requested(self, **options):
        tool = await self.tools.get(ADD)
        return (await self.invocations.request(tool, {"a": 1, "b": 2}, **options))[1]

    def settle(self, invocation, leader=None, sender=None):
        ports = self.ports(ANSWER.ports)
        self.do(calls.invocation.settle, invocation, leader or self.leader_id, "ok", ports)
        return sender or self.leader

    def request(
        self,
        *,
        settings_revision=0,
        leader=None,
        revision=0,
        inputs=None,
        max_outcome_bytes=10,
    ):
        """Add a request by one leader that pays one MIST."""
        ports = self.ports(inputs or {"a": 1})
        terms = (ports, max_outcome_bytes, self.coin(1))
        target = (settings_revision, self.tool, revision, leader or self.leader_id)
        self.do(calls.invocation.request, *target, *terms)
        return self.user

    async def assert_aborts(self, sender, module, name):
        """Execute the transaction with a budget, so without a simulation, and check its abort."""
        reason = next(error for error in errors_of(module) if error.name == name)
        with pytest.raises(NexusError) as caught:
            await PackageClient(sender, self.deployment).send(self.builder, budget=BUDGET)
        error = caught.value
        assert (error.details["module"], error.details["reason"]) == (module, name)
        assert (type(error), error.code) == (kind_of(reason), code_of(reason))
        assert reason.sentence.startswith(error.message)
        assert "digest" in error.details  # it was executed, not only simulated

    async def upgrade(self):
        """Return the deployment after an upgrade that disables older versions."""
        publisher = Publisher(self.admin)
        upgraded = (await publisher.upgrade(self.next_package(), self.deployment)).deployment
        await publisher.migrate(upgraded)
        return upgraded


@pytest.fixture
async def world(admin, owner, leader, user, chain, define, priced_tool, active_leader, request):
    return World(
        *(admin, owner, leader, user),
        *(chain.deployment, chain.net, define),
        *(priced_tool.id, priced_tool.name, active_leader),
        lambda: request.getfixturevalue("next_package"),  # needs the compiler, as one case does
    )
