"""A complete use of our package, compared call by call with Sui's VM."""

from contextlib import AsyncExitStack

import pytest
from msgspec.structs import replace

from nexus_tools.contracts import Publisher, load_package
from nexus_tools.registry import Invocations, LeaderRegistry, Registration, ToolRegistry
from nexus_tools.sui.bytecode import deserialize, relocate
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.keystore import KeyPair
from nexus_tools.tool import Answer, Failure, FailureReason, ToolDefinition
from tests.retry_policies import QUICK

pytestmark = pytest.mark.long

SUI = 1_000_000_000
DAY_MS = 86_400_000
WEEK_MS = 7 * DAY_MS
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
KEY = bytes(range(32))
FAILURE = Failure(FailureReason.TIMED_OUT, "after 5 s")


@pytest.fixture
async def clients(localnet):
    for key in KEYS.values():
        localnet.fund(key.address, 1_000 * SUI)
    async with AsyncExitStack() as stack:
        yield {
            name: await stack.enter_async_context(
                SuiClient(localnet.network, key, retry_policy=QUICK)
            )
            for name, key in KEYS.items()
        }


async def test_register_request_settle_fail_expire_slash_and_leave(
    localnet, clients, exposed_packages
):
    from differential.hashing import with_known_hashes
    from differential.story import record_calls, tell_again

    deployment = (await Publisher(clients["admin"]).publish()).deployment
    package = deployment.package_id
    tools = ToolRegistry(clients["owner"], deployment)
    leaders = LeaderRegistry(clients["leader"], deployment)
    asking = Invocations(clients["user"], deployment)
    closing = Invocations(clients["leader"], deployment)
    with record_calls(package) as calls:
        # The wheel has a fixed gas price, which quotes do not follow here.
        admins = LeaderRegistry(clients["admin"], deployment)
        await admins.configure(replace(await admins.settings(), fee_gas_units=0))
        definition = ToolDefinition.parse(DEFINITION)
        _, first = await leaders.register("first", activate=True)
        _, second = await leaders.register("second", activate=True)
        registration = Registration(definition, 700_000, leaders=(first, second), keys=(KEY,))
        await tools.register(registration)
        tool = await tools.get(definition.fqn)
        asked = [(await asking.request(tool, {"a": one}, leaders=[first]))[1] for one in range(2)]
        asked.append((await asking.request(tool, {"a": 2}, leaders=[first, second]))[1])
        await closing.close(first, {asked[0]: ANSWER})
        await closing.close(first, {asked[1]: FAILURE})
        localnet.advance_clock(45_000)
        await asking.expire(asked[2])
        await asking.delete(*asked)
        admins = ToolRegistry(clients["admin"], deployment)
        await admins.propose_slash(definition.fqn, 5, "It lied.", bytes(32))
        localnet.advance_clock(3 * DAY_MS)
        await admins.execute_slash(definition.fqn)
        await tools.unregister(definition.fqn)
        await leaders.unregister(first)
        localnet.advance_clock(2 * WEEK_MS)
        await tools.claim(definition.fqn)
        await leaders.claim(first)
        await tools.offer(definition.fqn.unversioned, KEYS["user"].address)
        await ToolRegistry(clients["user"], deployment).accept(definition.fqn.unversioned)
    modules = [deserialize(relocate(code, package)) for code in load_package().modules]
    exposed_packages.publish(package, with_known_hashes(package, modules))
    told, differences = tell_again(exposed_packages, package, calls)
    assert differences == []
    # The wheel aborts where SUI goes into an address balance.
    assert {one.name.partition("::")[2] for one in told if not one.succeeded} == {
        *("invocation::settle", "invocation::fail", "invocation::expire"),
        *("tool::claim", "slashing::execute_for_tool", "leader::claim"),
    }
    assert all(one.compared == one.succeeded for one in told)
    assert {call.function for call in calls} >= {
        *("define", "register", "share", "activate", "request", "settle"),
        *(
            "request_with_backup",
            "fail",
            "expire",
            "delete",
            "propose_for_tool",
            "execute_for_tool",
        ),
        *("unregister", "claim", "offer", "accept", "take_over"),
    }
