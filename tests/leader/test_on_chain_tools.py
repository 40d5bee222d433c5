"""A Leader carries invocations of on-chain tools: it calls their Move functions."""

from dataclasses import replace
from pathlib import Path

import pytest

from nexus_tools.package.move.state import State
from nexus_tools.sui.builder import TransactionBuilder
from nexus_tools.tool import ToolDefinition

HERE = Path(__file__).parent
NUMBER = {"type": "integer", "minimum": 0}
OBJECT = {"type": "object", "additionalProperties": False}


def variant(name, **ports):
    inner = {**OBJECT, "properties": ports, "required": list(ports)}
    return {**OBJECT, "properties": {name: inner}, "required": [name]}


class Counter:
    """The package of tools for tests, published by the world's key."""

    def __init__(self, world, published):
        self.world = world
        self.package = published.published()
        [self.counter] = published.created_of("counter", "Counter")
        [self.owned] = published.created_of("counter", "Owned")

    def definition(self, function="add", objects=None, **terms):
        document = {
            "fqn": f"xyz.example.{function.replace('_', '')}@1",
            "type": "onchain",
            "url": f"{self.package}::counter::{function}",
            "input_schema": {**OBJECT, "properties": {"n": NUMBER}, "required": ["n"]},
            "output_schema": {"oneOf": [variant("ok", total=NUMBER)]},
            "function": {
                "witness": f"{self.package}::counter::Count",
                "objects": objects or [str(self.counter)],
                **terms,
            },
        }
        return ToolDefinition.parse(document)

    async def total(self):
        value = await self.world.client.object(self.counter)
        return int.from_bytes(value.data.contents[32:40], "little")


@pytest.fixture
async def counter(world, linked):
    modules, dependencies = linked(HERE / "move_tools", world.deployment)
    builder = TransactionBuilder()
    builder.transfer_objects([builder.publish(modules, dependencies)], world.client.address)
    return Counter(world, await world.client.execute(builder))


async def test_a_function_is_called_and_its_answer_settles_the_invocation(world, counter):
    leader = await world.new_leader()
    tool = await world.register_tool(counter.definition())
    async with world.running(leader):
        [first, second] = await world.request(tool, {"n": 3}, {"n": 4})
        closed = await world.closed(first, second)
    assert await counter.total() == 7
    assert all(isinstance(each.state, State.Settled) for each in closed)
    assert {each.state.ports.as_json()["total"] for each in closed} in ({3, 7}, {4, 7})
