"""A Move package of on-chain tools, honest and dishonest ones."""

from pathlib import Path

import pytest

from nexus_tools.contracts import event_filter, parse_event
from nexus_tools.leader.closing.transaction_sender import TransactionSender
from nexus_tools.registry.tools.registration import Declaration
from nexus_tools.sui import bcs
from nexus_tools.sui.client import past_events
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.type_tag import StructTag, parse_struct_tag
from nexus_tools.tool import ToolDefinition

HERE = Path(__file__).parent
PUBLISHER = parse_struct_tag("0x2::package::Publisher")
NUMBER = {"type": "integer", "minimum": 0}
OBJECT = {"type": "object", "additionalProperties": False}


def variant(name, **ports):
    inner = {**OBJECT, "properties": ports, "required": list(ports)}
    return {**OBJECT, "properties": {name: inner}, "required": [name]}


class Counter:
    """The package of test tools, published with the world's key."""

    def __init__(self, world, published):
        self.world = world
        self.package = published.published()
        [self.counter] = published.created_of("counter", "Counter")
        [self.owned] = published.created_of("counter", "Owned")

    def definition(self, function="add", objects=None, *, fqn=None, total=NUMBER, **terms):
        document = {
            "fqn": fqn or f"xyz.example.{function.replace('_', '')}@1",
            "type": "onchain",
            "url": f"{self.package}::counter::{function}",
            "input_schema": {**OBJECT, "properties": {"n": NUMBER}, "required": ["n"]},
            "output_schema": {"oneOf": [variant("ok", total=total)]},
            "function": {
                "witness": f"{self.package}::counter::Count",
                "objects": objects or [str(self.counter)],
                **terms,
            },
        }
        return ToolDefinition.parse(document)

    async def declaration(self):
        tag = StructTag(self.package, "counter", "Count")
        publishers = await self.world.client.owned_objects(self.world.client.address, PUBLISHER)
        package = str(self.package).removeprefix("0x").encode()
        [own] = [publisher.id for publisher in publishers if package in publisher.data.contents]
        return Declaration(own, tag)

    async def set_closed(self, is_closed):
        builder = TransactionBuilder()
        place = self.package, "counter", "set_closed"
        flag = builder.pure(bcs.boolean, is_closed)
        builder.move_call(*place, [builder.object(self.counter), flag])
        await self.world.client.execute(builder)

    async def total(self):
        value = await self.world.client.object(self.counter)
        return int.from_bytes(value.data.contents[32:40], "little")


@pytest.fixture
async def counter(world, linked):
    modules, dependencies = linked(HERE / "move_tools", world.deployment)
    builder = TransactionBuilder()
    builder.transfer_objects([builder.publish(modules, dependencies)], world.client.address)
    return Counter(world, await world.client.execute(builder))


@pytest.fixture
def sent(monkeypatch):
    """Return the list of transactions that leaders send."""
    send, transactions = TransactionSender.send, []

    async def noted(sender, transaction):
        transactions.append(transaction)
        return await send(sender, transaction)

    monkeypatch.setattr(TransactionSender, "send", noted)
    return transactions


async def told(world, kind):
    """Return the events of one kind."""
    records = past_events(world.client, event_filter(world.deployment, kind))
    return [parse_event(world.deployment, record.event) async for record in records]
