"""Tools whose schemas are expensive to validate, beside an honest tool."""

from dataclasses import replace

import pytest

from nexus_tools.contracts.move_bindings.state import State
from nexus_tools.tool import FailureReason, ToolFqn

pytestmark = pytest.mark.anyio

# The engine cannot match this text from its cache: each pattern follows 1 900 positions.
PATTERNS = [{"pattern": f"(a|b)*a(a|b){{1900}}c{i}"} for i in range(5)]
INVOCATIONS = 12


async def test_leader_closes_an_honest_invocation_beside_costly_ones(world, serve_tools, add_tool):
    url = await serve_tools(add_tool)
    honest = await world.register_tool(add_tool.definition(url))
    schema = {"type": "object", "properties": {"p": {"anyOf": [*PATTERNS, {"type": "string"}]}}}
    fqn = ToolFqn.parse("xyz.evil.tool@1")
    costly = replace(add_tool.definition(url), fqn=fqn, input_schema=schema)
    costly = await world.register_tool(costly)
    texts = [format(7 ** (2_000 + i), "b")[:2_500] for i in range(INVOCATIONS)]
    inputs = [{"p": text.replace("0", "a").replace("1", "b")} for text in texts]
    identity = await world.new_leader()
    async with world.running(identity):
        refused = await world.request(costly, *inputs)
        [requests] = await world.request(honest, {"a": 1, "b": 2})
        [closed] = await world.closed(requests)
        assert isinstance(closed.state, State.Settled)
        failed = [invocation.state for invocation in await world.closed(*refused)]
    assert [state.reason for state in failed] == [FailureReason.INPUT_INVALID] * INVOCATIONS
