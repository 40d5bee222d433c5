"""What people live through with our package, call by call against the genuine VM."""

from contextlib import AsyncExitStack

import pytest

from nexus_tools.bytecode import deserialize, relocate
from nexus_tools.client import KeyPair, Patience, SuiClient
from nexus_tools.package import Publisher, load_package
from nexus_tools.registry import Invocations, LeaderRegistry, Registration, ToolRegistry
from nexus_tools.tool import Answer, Failure, FailureReason, ToolDefinition

SUI = 1_000_000_000
DAY_MS = 86_400_000
WEEK_MS = 7 * DAY_MS
QUICK = Patience(first_pause_s=0.001, longest_pause_s=0.01)
KEYS = {
    name: KeyPair.from_bytes(b"\0" + bytes([7 + place] * 32))
    for place, name in enumerate(("admin", "owner", "leader", "user"))
}
DEFINITION = {
    "fqn": "xyz.example.add@1",
    "type": "offchain",
    "url": "https://tools.example.com/add",
    "description": "Adds.",
    "timeout": 5_000,
    "input_schema": {"type": "object", "properties": {"a": {"type": "integer"}}},
    "output_schema": {
        "type": "object",
        "oneOf": [{"type": "object", "properties": {"ok": {"type": "object"}}, "required": ["ok"]}],
    },
}
ANSWER = Answer("ok", {"result": 3})
FAILURE = Failure(FailureReason.TIMED_OUT, "after 5 s")


@pytest.fixture
async def clients(localnet):
    for key in KEYS.values():
        localnet.fund(key.address, 1_000 * SUI)
    async with AsyncExitStack() as stack:
        yield {
            name: await stack.enter_async_context(SuiClient(localnet.network, key, patience=QUICK))
            for name, key in KEYS.items()
        }


async def test_register_request_settle_fail_expire_slash_and_leave(
    localnet, clients, exposed_packages
):
    from differential.hashing import with_known_hashes
    from differential.story import noting, tell_again

    deployment = (await Publisher(clients["admin"]).publish(load_package())).deployment
    package = deployment.package_id
    tools = ToolRegistry(clients["owner"], deployment)
    leaders = LeaderRegistry(clients["leader"], deployment)
    asking = Invocations(clients["user"], deployment)
    closing = Invocations(clients["leader"], deployment)
    with noting(package) as calls:
        definition = ToolDefinition.parse(DEFINITION)
        await tools.register(Registration(definition, 700_000))
        tool = await tools.get(definition.fqn)
        _, cap = await leaders.register("first", activate=True)
        asked = [(await asking.request(tool, {"a": one}))[1] for one in range(3)]
        await closing.close(cap, {asked[0]: ANSWER})
        await closing.close(cap, {asked[1]: FAILURE})
        localnet.advance_clock(25_000)
        await asking.expire(asked[2])
        await asking.delete(*asked)
        admins = ToolRegistry(clients["admin"], deployment)
        await admins.propose_slash(definition.fqn, 5, "It lied.", bytes(32))
        localnet.advance_clock(3 * DAY_MS)
        await admins.execute_slash(definition.fqn)
        await tools.unregister(definition.fqn)
        await leaders.unregister(cap)
        localnet.advance_clock(2 * WEEK_MS)
        await tools.claim(definition.fqn)
        await leaders.claim(cap)
    modules = [deserialize(relocate(code, package)) for code in load_package().modules]
    exposed_packages.publish(package, with_known_hashes(package, modules))
    told, differences = tell_again(exposed_packages, package, calls)
    assert differences == []
    assert {one.name for one in told if not one.succeeded} == set()
    assert {call.function for call in calls} >= {
        *("define", "register", "share", "activate", "request", "settle"),
        *("fail", "expire", "delete", "propose_slash", "execute_slash", "unregister", "claim"),
    }
