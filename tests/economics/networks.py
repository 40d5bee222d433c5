"""Networks for stories, each with a protocol version and a gas price."""

from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

from nexus_tools.contracts import Publisher, make_ports, tool_id
from nexus_tools.registry import LeaderRegistry, close_call, open_call
from nexus_tools.sui import bcs
from nexus_tools.sui.client import SuiClient, request_sui
from nexus_tools.sui.keystore import KeyPair
from nexus_tools.sui.localnet import Localnet, Origin
from nexus_tools.sui.localnet.genesis import system_state
from nexus_tools.sui.network import Network
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.tool import ToolDefinition, ToolFqn
from tests.economics.carried import MIST, Stage
from tests.economics.execution_stories import CALL_MIST, CALLED, PLAIN, SIGNED
from tests.economics.test_executions import definition
from tests.executions.carrying import Dispatcher
from tests.retry_policies import QUICK

SCRIPTED = Path(__file__).parent / "scripted"


@dataclass
class PlayNetwork:
    """A localnet with the tools of the stories. Its time stands still unless `clock` moves it."""

    protocol: int
    price: int
    stage: Stage
    carrier: Dispatcher
    script: "Script"
    clock: object
    backup: object
    backup_leader: object
    keeper: object


class Script:
    """The on-chain tool, which responds with a prepared answer."""

    def __init__(self, owner, deployment, published):
        self.owner, self.deployment = owner, deployment
        self.package = published.published()
        [self.script] = published.created_of("scripted", "Script")

    def definition(self):
        """Return the definition of the tool."""
        base = definition(CALLED, ["e"])
        return ToolDefinition.parse(
            {
                "fqn": CALLED,
                "type": "onchain",
                "url": f"{self.package}::scripted::answer",
                "description": "Responds with what was set.",
                "timeout": 5_000,
                "input_schema": base.input_schema,
                "output_schema": base.output_schema,
                "function": {
                    "witness": f"{self.package}::scripted::Answer",
                    "objects": [str(self.script)],
                    "gas": CALL_MIST,
                },
            }
        )

    async def set(self, variant, ports):
        """Set the next answer."""
        builder = TransactionBuilder()
        made = make_ports(builder, self.deployment.package, ports)
        script, name = builder.object(self.script), builder.pure(bcs.byte_vector, variant.encode())
        builder.move_call(self.package, "scripted", "set", [script, name, made])
        await self.owner.execute(builder)

    def add_call(self, builder, invocation, leader, attempt):
        """Add the commands that settle an attempt with the answer of the function."""
        tool = tool_id(self.deployment.tool_registry, ToolFqn.parse(CALLED))
        call = open_call(builder, self.deployment, invocation, tool, attempt)
        script = builder.object(self.script, mutable=False)
        builder.move_call(self.package, "scripted", "answer", [call, script])
        close_call(builder, self.deployment, call, invocation, leader)


@asynccontextmanager
async def network_of(protocol, price, linked):
    """Yield a `PlayNetwork`; `linked` is the fixture of that name."""
    async with _localnet(protocol, price) as net:
        network = Network("localnet", net.url, net.url)
        keys = [KeyPair.from_bytes(b"\0" + bytes([number] * 32)) for number in (7, 8, 9, 10)]
        for key in keys:
            await request_sui(network, key.address, 90_000 * MIST)
        owner, worker, backup, keeper = (
            SuiClient(network, key, retry_policy=QUICK) for key in keys
        )
        async with owner, worker, backup, keeper:
            deployment = (await Publisher(owner).publish()).deployment
            leaders = LeaderRegistry(worker, deployment)
            _, leader = await leaders.register("first", activate=True)
            leaders_of_backup = LeaderRegistry(backup, deployment)
            _, second = await leaders_of_backup.register("second", activate=True)
            stage = Stage(deployment, owner, worker, leader)
            modules, dependencies = linked(SCRIPTED, deployment)
            builder = TransactionBuilder()
            builder.transfer_objects([builder.publish(modules, dependencies)], owner.address)
            script = Script(owner, deployment, await owner.execute(builder))
            await stage.register_tool(definition(PLAIN, ["e"]))
            await stage.register_tool(definition(SIGNED, ["e"]), signs=True)
            await stage.register_tool(script.definition())
            chain = SimpleNamespace(net=net, deployment=deployment)
            carrier = Dispatcher(chain, owner, worker, leader, await leaders.settings())
            parts = stage, carrier, script, net.advance_clock, backup, second, keeper
            yield PlayNetwork(protocol, price, *parts)


@asynccontextmanager
async def _localnet(protocol, price):
    """Run a localnet with this gas price and a clock that stands still."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(system_state, "GAS_PRICE", price)
        async with Localnet(origin=Origin(protocol_version=protocol)) as net:
            now_ms = net.node.now_ms()
            patch.setattr(net.node._clock, "_wall_clock", lambda: now_ms)
            yield net
