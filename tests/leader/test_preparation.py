import asyncio
import json
from dataclasses import replace

import pytest

from nexus_tools.leader.address_guard import AddressGuard
from nexus_tools.leader.assignment import Assignment
from nexus_tools.leader.chain import FoundTool
from nexus_tools.leader.preparation import Preparation
from nexus_tools.registry import Invocation, Ports, Registration, Tool
from nexus_tools.registry.objects import Bond, Inline, Remote, Requested
from nexus_tools.sui.address import Address
from nexus_tools.tool import Failure, FailureReason

pytestmark = pytest.mark.anyio

TOOL, INVOCATION, LEADER = Address.of(0x7001), Address.of(0xA1), Address.of(0x11)
ASSIGNMENT = Assignment(
    *(INVOCATION, TOOL, "xyz.example.math.add@1", 0),
    *(1_000, 26_000, 26_000, 10_000, 1_000),
)
BOND = {"balance_mist": 10**9, "required_mist": 10**9, "delay_ms": 1, "released_at_ms": None}


@pytest.fixture
def make_tool(add_definition):
    """A tool as it was read, with a definition that may be broken."""

    def make(*, bond=None, version=3, **definition):
        on_chain = replace(Registration(add_definition()).on_chain(), **definition)
        values = (0, Address.of(1), Address.of(2), (), bond, False, 0, 0)
        return FoundTool(Tool(TOOL, on_chain, *values), version)

    return lambda **changes: make(**{"bond": Bond(**BOND), **changes})


def invocation_with(ports):
    terms = (1_000, 10_000, 25_000, 0, Address.of(6), 0, 0, 0, 1_000, 0, Requested())
    return Invocation(INVOCATION, TOOL, ASSIGNMENT.fqn, Address.of(5), ports, (LEADER,), *terms)


INPUTS = Ports.of({"a": 1, "b": 2})


async def prepare(found, ports=INPUTS, *, max_request_bytes=1_000, meta=None):
    preparation = Preparation(AddressGuard(), max_request_bytes, meta)
    return await preparation.prepare(ASSIGNMENT, invocation_with(ports), found, 20.0)


async def test_a_call_has_the_inputs_and_the_terms_of_the_invocation(make_tool):
    now = asyncio.get_running_loop().time()
    call = await prepare(make_tool())
    assert json.loads(call.body) == {"a": 1, "b": 2}
    assert (call.invocation, call.tool, call.fqn) == (INVOCATION, TOOL, ASSIGNMENT.fqn)
    assert (call.url, call.timeout_ms) == ("https://tools.example/add", 10_000)
    assert call.max_outcome_bytes == 1_000
    assert now + 20.0 <= call.answer_by < now + 30.0


async def reason_of(*arguments, **options):
    result = await prepare(*arguments, **options)
    assert isinstance(result, Failure)
    assert 0 < len(result.detail.encode()) <= 200
    return result.reason


@pytest.mark.parametrize(
    "bond",
    [
        None,
        Bond(**{**BOND, "balance_mist": 1}),
        Bond(**{**BOND, "released_at_ms": 1_000}),
    ],
)
async def test_a_tool_that_is_not_active_is_not_called(make_tool, bond):
    assert await reason_of(make_tool(bond=bond)) is FailureReason.TOOL_NOT_REGISTERED


async def test_a_tool_that_does_not_exist_is_not_called():
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
async def test_a_definition_that_breaks_the_rules_is_a_mismatch(make_tool, definition):
    assert await reason_of(make_tool(**definition)) is FailureReason.DEFINITION_MISMATCH


@pytest.mark.parametrize(
    "url", ["http://tools.example/add", "https://127.0.0.1/add", "https://[::1]/add"]
)
async def test_a_url_that_the_guard_refuses_is_unreachable(make_tool, url):
    assert await reason_of(make_tool(url=url)) is FailureReason.UNREACHABLE


@pytest.mark.parametrize(
    "ports",
    [
        Ports.of({}),
        Ports.of({"a": 1}),
        Ports.of({"a": 1, "b": "2"}),
        Ports((("a", Inline(b"1")), ("b", Inline(b"no json")))),
        Ports((("a", Inline(b"1")), ("b", Remote("walrus", b"key")))),
    ],
)
async def test_inputs_that_do_not_fit_are_not_sent(make_tool, ports):
    assert await reason_of(make_tool(), ports) is FailureReason.INPUT_INVALID


async def test_inputs_beyond_the_limit_are_not_sent(make_tool):
    assert await reason_of(make_tool(), max_request_bytes=10) is FailureReason.INPUT_INVALID


async def test_a_changed_tool_is_compiled_anew(make_tool):
    preparation = Preparation(AddressGuard(), 1_000, None)
    strict = json.dumps({"type": "object", "required": ["c"]}).encode()
    invocation = invocation_with(INPUTS)
    first = await preparation.prepare(ASSIGNMENT, invocation, make_tool(version=3), 1.0)
    same = await preparation.prepare(ASSIGNMENT, invocation, make_tool(version=3), 1.0)
    other = make_tool(version=4, input_schema=strict)
    changed = await preparation.prepare(ASSIGNMENT, invocation, other, 1.0)
    assert first.validator is same.validator
    assert changed.reason is FailureReason.INPUT_INVALID
