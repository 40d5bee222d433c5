import asyncio
import json
from contextlib import AsyncExitStack

import pytest
from msgspec.structs import replace

from nexus_tools.contracts import ports_of
from nexus_tools.contracts.move_bindings.collateral import Collateral
from nexus_tools.contracts.move_bindings.invocation import Invocation
from nexus_tools.contracts.move_bindings.keys import Keys
from nexus_tools.contracts.move_bindings.roster import Roster
from nexus_tools.contracts.move_bindings.settlement import Settlement
from nexus_tools.contracts.move_bindings.state import State
from nexus_tools.contracts.move_bindings.tool import Tool
from nexus_tools.contracts.move_bindings.value import Ports, Value
from nexus_tools.http.address_guard import AddressGuard
from nexus_tools.leader.chain.assignment import Assignment
from nexus_tools.leader.chain.chain import FoundTool
from nexus_tools.leader.config import LeaderConfig
from nexus_tools.leader.dispatch.remote_values import RemoteValues
from nexus_tools.leader.dispatch.response_classifier import Declined
from nexus_tools.leader.dispatch.tool_call import ToolCall, ToolCalls
from nexus_tools.leader.dispatch.tool_health import ToolHealthRegistry
from nexus_tools.leader.dispatch.validation_turns import ValidationTurns
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.registry import Registration
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Failure, FailureReason

pytestmark = pytest.mark.anyio

TOOL, INVOCATION, LEADER = Address.of(0x7001), Address.of(0xA1), Address.of(0x11)
KEY = bytes(31) + b"\x07"
ASSIGNMENT = Assignment(
    *(INVOCATION, TOOL, "xyz.example.math.add@1", 0),
    *(1_000, 26_000, 26_000, 10_000, 1_000),
)
COLLATERAL = {
    "balance": 10**9,
    "required_mist": 10**9,
    "delay_ms": 1,
    "unregistered_at_ms": None,
    "slashed_mist": 0,
    "slash": None,
}


@pytest.fixture
def make_tool(add_definition):
    """Return a factory of tools as read from the chain, possibly with an invalid definition."""

    def make(*, collateral=None, version=3, keys=(), **definition):
        on_chain = replace(Registration(add_definition()).on_chain_definition(), **definition)
        nobody = Roster(())
        terms = (0, Address.of(1), 0, False, 0, Address.of(2), nobody, True, nobody, Keys(keys))
        return FoundTool(Tool(TOOL, on_chain, *terms, collateral, 0, 0), version)

    return lambda **changes: make(**{"collateral": Collateral(**COLLATERAL), **changes})


def invocation_with(ports, signers=()):
    terms = (1_000, 10_000, 25_000, 0, Address.of(6), 0, 0, 0, 1_000)
    settling = Settlement.Signature(signers) if signers else Settlement.Leader()
    state = (False, settling, 0, 1, 0, State.Requested())
    named = (INVOCATION, TOOL, ASSIGNMENT.fqn, Address.of(5), None, ports, (LEADER,))
    return Invocation(*named, *terms, *state)


INPUTS = ports_of({"a": 1, "b": 2})


def new_calls(max_request_bytes, meta, *, is_signing=True, storages=None):
    config = LeaderConfig(journal="journal.sqlite")
    lanes = ToolHealthRegistry(config, lambda: 0.0)
    values = RemoteValues(storages or {}, config, LeaderMetrics())
    named = {"turns": ValidationTurns(), "is_signing": is_signing}
    return ToolCalls(AddressGuard(), max_request_bytes, meta, lanes, values, **named)


async def made(calls, invocation, results):
    async with calls.open_call(ASSIGNMENT, invocation, results, 20.0) as call:
        return call


async def make_call(
    results, ports=INPUTS, *, max_request_bytes=1_000, meta=None, signers=(), **options
):
    calls = new_calls(max_request_bytes, meta, **options)
    return await made(calls, invocation_with(ports, signers), results)


async def test_call_has_the_inputs_and_terms_of_the_invocation(make_tool):
    now = asyncio.get_running_loop().time()
    call = await make_call(make_tool())
    assert json.loads(call.body) == {"a": 1, "b": 2}
    assert (call.invocation, call.tool, call.fqn) == (INVOCATION, TOOL, ASSIGNMENT.fqn)
    assert (call.url, call.timeout_ms) == ("https://tools.example/add", 10_000)
    assert call.max_outcome_bytes == 1_000
    assert now + 20.0 <= call.deadline < now + 30.0


async def reason_of(*arguments, **options):
    result = await make_call(*arguments, **options)
    if isinstance(result, Declined):
        result = result.failure
    assert isinstance(result, Failure)
    assert 0 < len(result.detail.encode()) <= 200
    return result.reason


@pytest.mark.parametrize(
    "collateral",
    [
        Collateral(**{**COLLATERAL, "balance": 0, "required_mist": 0}),
        Collateral(**{**COLLATERAL, "balance": 1}),
        Collateral(**{**COLLATERAL, "unregistered_at_ms": 1_000}),
    ],
)
async def test_inactive_tool_is_not_called(make_tool, collateral):
    assert await reason_of(make_tool(collateral=collateral)) is FailureReason.TOOL_NOT_REGISTERED


async def test_missing_tool_is_not_called():
    assert await reason_of(None) is FailureReason.TOOL_NOT_REGISTERED


@pytest.mark.parametrize(
    "definition",
    [
        {"input_schema": b"garbage"},
        {"input_schema": b'{"type": "object", "type": "object"}'},
        {"input_schema": b'{"type": "object", "$ref": "https://evil.example/schema"}'},
        {"output_schema": b'{"type": "object"}'},
        {"url": "javascript:alert(1)"},
        {"url": "https://user:secret@tools.example/"},
        {"url": ""},
    ],
)
async def test_invalid_definition_is_a_mismatch(make_tool, definition):
    assert await reason_of(make_tool(**definition)) is FailureReason.DEFINITION_MISMATCH


@pytest.mark.parametrize(("keys", "signers"), [((KEY,), ()), ((), (KEY,)), ((KEY,), (KEY,))])
async def test_signing_tool_is_called_only_by_signing_leaders(make_tool, keys, signers):
    results = make_tool(keys=keys)
    assert (await make_call(results, signers=signers)).keys == keys
    refused = await make_call(results, signers=signers, is_signing=False)
    detail = "the tool signs its answers, but this leader does not sign its calls"
    assert refused == Declined(Failure(FailureReason.REFUSED, detail))


@pytest.mark.parametrize(
    "url", ["http://tools.example/add", "https://127.0.0.1/add", "https://[::1]/add"]
)
async def test_url_refused_by_the_guard_is_not_called(make_tool, url):
    assert await reason_of(make_tool(url=url)) is FailureReason.REFUSED


@pytest.mark.parametrize(
    "ports",
    [
        ports_of({}),
        ports_of({"a": 1}),
        ports_of({"a": 1, "b": "2"}),
        Ports((("a", Value.Inline(b"1")), ("b", Value.Inline(b"no json")))),
        Ports((("a", Value.Inline(b"1")), ("b", Value.Remote("walrus", b"key")))),
    ],
)
async def test_schema_invalid_inputs_are_not_sent(make_tool, ports):
    assert await reason_of(make_tool(), ports) is FailureReason.INPUT_INVALID


REMOTE = Ports((("a", Value.Inline(b"1")), ("b", Value.Remote("walrus", b"key"))))


async def test_remote_inputs_are_fetched_and_validated(make_tool):
    async def fetch(key, max_bytes):
        return {b"key": b" 2 "}[key]

    async def wrong(key, max_bytes):
        return b'"2"'

    call = await make_call(make_tool(), REMOTE, storages={"walrus": fetch})
    assert call.body == b'{"a":1,"b":2}'
    reason = await reason_of(make_tool(), REMOTE, storages={"walrus": wrong})
    assert reason is FailureReason.INPUT_INVALID


async def test_nothing_is_fetched_for_a_tool_that_is_not_called(make_tool):
    """This includes tools that must sign, because the chain has no text to verify against."""

    async def fetch(key, max_bytes):
        raise AssertionError("it was fetched")

    storages = {"walrus": fetch}
    refused = make_tool(url="https://127.0.0.1/add")
    assert await reason_of(refused, REMOTE, storages=storages) is FailureReason.REFUSED
    unsigned = await reason_of(make_tool(), REMOTE, storages=storages, signers=(bytes(32),))
    assert unsigned is FailureReason.INPUT_INVALID


async def test_leader_without_capacity_to_fetch_is_overloaded(make_tool):
    async def fetch(key, max_bytes):
        return b" " * 70_000 + b"2"

    calls = new_calls(1_000, None, storages={"walrus": fetch})
    invocation = invocation_with(REMOTE)
    async with AsyncExitStack() as stack:
        for _ in range(13):  # a fifth of 64
            making = calls.open_call(ASSIGNMENT, invocation, make_tool(), 20.0)
            assert isinstance(await stack.enter_async_context(making), ToolCall)
        async with calls.open_call(ASSIGNMENT, invocation, make_tool(), 0.05) as late:
            assert late.failure.reason is FailureReason.OVERLOADED
    assert isinstance(await made(calls, invocation, make_tool()), ToolCall)


async def test_inputs_above_the_leader_limit_are_refused(make_tool):
    assert await reason_of(make_tool(), max_request_bytes=10) is FailureReason.REFUSED


async def test_noncanonical_inputs_are_not_sent_when_a_signature_is_needed(make_tool):
    spaced = Ports((("a", Value.Inline(b"1 ")), ("b", Value.Inline(b"2"))))
    reason = await reason_of(make_tool(), spaced, signers=(bytes(32),))
    assert reason is FailureReason.INPUT_INVALID
    assert (await make_call(make_tool(), spaced)).signers == ()
    assert (await make_call(make_tool(), signers=(bytes(32),))).signers == (bytes(32),)


async def test_changed_tool_is_compiled_again(make_tool):
    calls = new_calls(1_000, None)
    strict = json.dumps({"type": "object", "required": ["c"]}).encode()
    invocation = invocation_with(INPUTS)
    first = await made(calls, invocation, make_tool(version=3))
    same = await made(calls, invocation, make_tool(version=3))
    other = make_tool(version=4, input_schema=strict)
    changed = await made(calls, invocation, other)
    assert first.validator is same.validator
    assert changed.reason is FailureReason.INPUT_INVALID
