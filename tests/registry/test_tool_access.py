"""A tool server that follows the chain: accepted leaders, open invocations and outcomes."""

import asyncio
from contextlib import asynccontextmanager
from itertools import count
from time import time

import pytest
import structlog

from nexus_tools.contracts import make_ports
from nexus_tools.contracts import move_bindings as calls
from nexus_tools.contracts.move_bindings.value import Ports, Value
from nexus_tools.errors import UsageError
from nexus_tools.registry import (
    Invocations,
    LeaderRegistry,
    Registration,
    ToolRegistry,
    tool_access,
)
from nexus_tools.registry.tool_access import ToolAccess
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import (
    Answer,
    Failure,
    FailureReason,
    Identity,
    SigningKey,
    check_answer,
    sign_request,
)
from nexus_tools.tool_server import (
    MemoryNonceStore,
    SignaturePolicy,
    ToolServer,
    UnsettledAnswers,
    Variant,
    tool,
)
from nexus_tools.tool_server.testing import client

pytestmark = pytest.mark.anyio

ADD = "xyz.example.math.add@1"
URL = "https://tools.example.com"
INPUTS = {"a": 1, "b": 2}
BODY = b'{"a":1,"b":2}'
ANSWER = Answer("ok", {"result": 3})
FAILURE = Failure(FailureReason.UNREACHABLE, "")
KEY, NEXT_KEY, TOOL_KEY = (SigningKey.new() for _ in range(3))


class Sum(Variant, name="ok"):
    result: int


@tool(ADD)
async def add(a: int, b: int) -> Sum:
    """Adds two integers."""
    return Sum(result=a + b)


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(tool_access, "MIN_READ_INTERVAL_S", 0.0)


@pytest.fixture
def leaders(leader, chain):
    return LeaderRegistry(leader, chain.deployment)


@pytest.fixture
def tools(owner, chain):
    return ToolRegistry(owner, chain.deployment)


@pytest.fixture
def invocations(user, chain):
    return Invocations(user, chain.deployment)


@pytest.fixture
def closing(leader, chain):
    return Invocations(leader, chain.deployment)


@pytest.fixture
async def keyed_leader(leaders, active_leader):
    """Return `active_leader` after `KEY` was added to it."""
    await leaders.add_key(active_leader, KEY.public_key)
    return active_leader


@pytest.fixture
def request_add(invocations, priced_tool):
    async def request():
        return (await invocations.request(priced_tool, INPUTS, max_outcome_bytes=100))[1]

    return request


class Server:
    """A leader's view of a server that follows the chain."""

    def __init__(self, http, signatures, served):
        self.http = http
        self.answers = signatures.answers
        self.served = served

    async def post(self, leader, invocation, key=KEY, body=BODY):
        headers = {
            "content-type": "application/json",
            "nexus-invocation": str(invocation),
            "nexus-tool": ADD,
            "nexus-deadline": "2100-01-01T00:00:00Z",
            "nexus-max-outcome-bytes": "100",
        }
        url = f"{URL}/{ADD}/invoke"
        headers |= sign_request(Identity(str(leader), key), url, headers, body, time())
        return headers, await self.http.post(f"/{ADD}/invoke", content=body, headers=headers)

    async def code(self, leader, invocation, key=KEY, body=BODY):
        _, response = await self.post(leader, invocation, key, body)
        return "" if response.status_code == 200 else response.json()["code"]

    async def until(self, code, leader, invocation, key=KEY):
        async with asyncio.timeout(30):
            for _ in count():
                if await self.code(leader, invocation, key) == code:
                    return
                await asyncio.sleep(0)  # without a socket, nothing else yields to the event loop


@pytest.fixture
async def serve(owner, chain):
    @asynccontextmanager
    async def serve(mode="required", client_of_chain=owner, answers=None):
        signatures = SignaturePolicy(
            mode,
            key=TOOL_KEY,
            nonces=MemoryNonceStore(now=lambda: 0.0),
            answers=answers or UnsettledAnswers(),
        )
        served = ToolAccess(client_of_chain, chain.deployment, [ADD], signatures)
        async with served.following():
            app = ToolServer([add], public_url=URL, signatures=served.signatures)
            async with client(app) as http:
                yield Server(http, signatures, served)

    return serve


# --- Accepted leaders


async def test_only_listed_leader_is_accepted(serve, keyed_leader, request_add, user, chain):
    others = LeaderRegistry(user, chain.deployment)
    _, other = await others.register("other", keys=(KEY.public_key,), activate=True)
    invocation = await request_add()
    async with serve() as server:
        assert await server.code(keyed_leader, invocation) == ""
        assert await server.code(other, invocation) == "leader_not_accepted"
        assert await server.code(Address.of(0xDEAD), invocation) == "leader_not_accepted"
        assert await server.code(keyed_leader, invocation, NEXT_KEY) == "key_unknown"


async def test_open_tool_accepts_every_leader_that_can_close(
    serve, tools, leaders, keyed_leader, define, invocations, admin, chain, localnet
):
    await tools.register(Registration(define()))
    open_tool = await tools.get(ADD)
    _, invocation = await invocations.request(open_tool, INPUTS, leaders=[keyed_leader])
    await leaders.deactivate(keyed_leader)
    async with serve() as server:
        assert await server.code(keyed_leader, invocation) == ""
        # A tool is not a leader, even if it has keys.
        assert await server.code(open_tool.id, invocation) == "leader_not_accepted"
        judge = LeaderRegistry(admin, chain.deployment)
        await judge.propose_slash(keyed_leader, 1, "a reason", bytes(32))
        localnet.advance_clock(3 * 86_400_000)
        await judge.execute_slash(keyed_leader)
        await server.until("leader_not_accepted", keyed_leader, invocation)


async def test_changes_of_the_leader_list_are_followed(serve, tools, keyed_leader, request_add):
    invocation = await request_add()
    async with serve() as server:
        assert await server.code(keyed_leader, invocation) == ""
        await tools.remove_leader(ADD, keyed_leader)
        await server.until("leader_not_accepted", keyed_leader, invocation)
        await tools.add_leader(ADD, keyed_leader)
        assert await server.code(keyed_leader, invocation) == ""


async def test_tool_registered_later_is_followed(serve, tools, keyed_leader, define, invocations):
    async with serve() as server:
        assert await server.code(keyed_leader, Address.of(1)) == "leader_not_accepted"
        terms = Registration(define(), price_mist=500, leaders=(keyed_leader,))
        await tools.register(terms)
        _, invocation = await invocations.request(await tools.get(ADD), INPUTS)
        assert await server.code(keyed_leader, invocation) == ""


async def test_new_key_is_found_at_first_call(serve, leaders, active_leader, request_add):
    invocation = await request_add()
    async with serve() as server:
        for key in (KEY, NEXT_KEY):
            await leaders.add_key(active_leader, key.public_key)
            assert await server.code(active_leader, invocation, key) == ""


async def test_key_rotation_under_load_loses_no_request(serve, leaders, keyed_leader, request_add):
    invocation = await request_add()
    signing = [KEY]
    codes = []

    async def load(server, invocation, stop):
        while not stop.is_set():
            codes.append(await server.code(keyed_leader, invocation, signing[0]))
            await asyncio.sleep(0)

    async with serve() as server, asyncio.TaskGroup() as tasks:
        stop = asyncio.Event()
        tasks.create_task(load(server, await request_add(), stop))
        tasks.create_task(load(server, await request_add(), stop))
        await leaders.add_key(keyed_leader, NEXT_KEY.public_key)
        signing[0] = NEXT_KEY
        await leaders.remove_key(keyed_leader, KEY.public_key)
        await server.until("key_unknown", keyed_leader, invocation, KEY)
        stop.set()
    assert len(codes) > 4
    assert set(codes) == {""}


@pytest.mark.parametrize("bound", ["PROOF_GRACE_S", "MAX_WAITING_REQUESTS"])
async def test_key_lookup_timeout_asks_for_retry(
    serve, leaders, active_leader, request_add, owner, monkeypatch, bound
):
    invocation = await request_add()
    may_read = asyncio.Event()
    async with serve() as server:
        objects = owner.objects

        async def slow(ids):
            await may_read.wait()
            return await objects(ids)

        monkeypatch.setattr(owner, "objects", slow)
        await leaders.add_key(active_leader, KEY.public_key)
        with monkeypatch.context() as patched:
            patched.setattr(tool_access, bound, 0)
            assert await server.code(active_leader, invocation) == "not_ready"
        may_read.set()
        assert await server.code(active_leader, invocation) == ""


async def test_unknown_keys_share_one_read(serve, keyed_leader, priced_tool, owner, monkeypatch):
    async with serve() as server:
        readings = []
        objects = owner.objects

        async def counted(ids):
            readings.append(ids)
            return await objects(ids)

        monkeypatch.setattr(owner, "objects", counted)
        strangers = [Address.of(number) for number in range(1, 41)]
        codes = await asyncio.gather(
            *(server.code(stranger, Address.of(1)) for stranger in strangers)
        )
    assert set(codes) == {"leader_not_accepted"}
    # A read takes two requests: the tools, then the leaders. Calls during a read wait for the next.
    assert len(readings) <= 8


async def test_last_state_stays_valid_while_node_is_away(
    serve, keyed_leader, request_add, chain, monkeypatch
):
    invocation = await request_add()
    async with chain.client("owner") as node, serve(client_of_chain=node) as server:
        assert await server.code(keyed_leader, invocation) == ""
        await node.connection.close()
        assert await server.code(keyed_leader, invocation) == ""
        assert await server.code(keyed_leader, invocation, NEXT_KEY) == "not_ready"


# --- Open invocations


async def test_only_open_invocation_of_tool_and_leader_is_served(
    serve, keyed_leader, request_add, closing
):
    closed = await request_add()
    await closing.close(keyed_leader, {closed: FAILURE})
    async with serve() as server:
        assert await server.code(keyed_leader, closed) == "call_not_authorized"
        assert await server.code(keyed_leader, keyed_leader) == "call_not_authorized"
        assert await server.code(keyed_leader, "0x1") == "call_not_authorized"
        # The server's node may not have the invocation yet.
        assert await server.code(keyed_leader, Address.of(0xA1)) == "not_ready"


async def test_invocation_of_another_tool_is_rejected(
    serve, keyed_leader, priced_tool, tools, define, invocations
):
    other = define("xyz.example.math.mul@1")
    await tools.register(Registration(other, leaders=(keyed_leader,)))
    _, invocation = await invocations.request(await tools.get(other.fqn), INPUTS)
    async with serve() as server:
        assert await server.code(keyed_leader, invocation) == "call_not_authorized"


async def test_overdue_invocation_is_rejected(serve, keyed_leader, request_add, localnet):
    invocation = await request_add()
    async with serve() as server:
        assert await server.code(keyed_leader, invocation) == ""
        localnet.advance_clock(20_000)
        assert await server.code(keyed_leader, invocation, body=b'{"a": 1,"b":2}') != ""


# --- Outcomes


async def test_leader_is_rejected_after_failing_three_answers(
    serve, keyed_leader, request_add, closing
):
    async with serve() as server:
        open_ids = [await request_add() for _ in range(3)]
        for invocation in open_ids:
            assert await server.code(keyed_leader, invocation) == ""
        last = await request_add()
        assert await server.code(keyed_leader, last) == ""
        await closing.close(keyed_leader, dict.fromkeys(open_ids, FAILURE))
        await server.until("answers_unpaid", keyed_leader, last)
        _, refused = await server.post(keyed_leader, last)
        detail = refused.json()["detail"]
        assert all(f"{invocation} (unreachable)" in detail for invocation in open_ids)
        server.answers.forgive(str(keyed_leader))
        assert await server.code(keyed_leader, last) == ""


async def test_leader_is_rejected_after_answers_expired(
    serve, keyed_leader, request_add, invocations, localnet
):
    async with serve() as server:
        open_ids = [await request_add() for _ in range(3)]
        for invocation in open_ids:
            assert await server.code(keyed_leader, invocation) == ""
        localnet.advance_clock(20_000)
        await invocations.delete(*open_ids)
        await server.until("answers_unpaid", keyed_leader, await request_add())


async def test_failures_during_downtime_are_found(
    serve, keyed_leader, request_add, closing, tmp_path
):
    open_ids = [await request_add() for _ in range(4)]
    async with serve(answers=UnsettledAnswers(tmp_path / "state")) as server:
        for invocation in open_ids:
            assert await server.code(keyed_leader, invocation) == ""
    outcomes = dict.fromkeys(open_ids[:3], FAILURE) | {open_ids[3]: ANSWER}
    await closing.close(keyed_leader, outcomes)
    answers = UnsettledAnswers(tmp_path / "state")
    # This is the state that a server without a chain leaves.
    for other in ("of nothing", str(keyed_leader)):
        answers.record_call("a caller", other, "digest", time())
        answers.record_answer("a caller", other, has_answer=True)
    async with serve(answers=answers) as server:
        assert await server.code(keyed_leader, await request_add()) == "answers_unpaid"
    assert answers.pending(10) == ["of nothing", str(keyed_leader)]
    assert str(open_ids[3]) not in answers.refusal(str(keyed_leader))


async def test_settling_leader_is_always_served(serve, keyed_leader, request_add, closing):
    async with serve() as server:
        for _ in range(4):
            invocation = await request_add()
            assert await server.code(keyed_leader, invocation) == ""
            await closing.close(keyed_leader, {invocation: ANSWER})
        assert await server.code(keyed_leader, await request_add()) == ""


# --- The signature of the answer


async def test_chain_settles_only_answers_that_the_server_signed(
    serve, tools, keyed_leader, define, invocations, closing
):
    terms = {"keys": (TOOL_KEY.public_key,), "requires_signed_outcome": True}
    await tools.register(Registration(define(), 500, leaders=(keyed_leader,), **terms))
    _, invocation = await invocations.request(await tools.get(ADD), INPUTS)
    async with serve() as server:
        request, response = await server.post(keyed_leader, invocation)
    signature = check_answer(ANSWER, response.headers, request, {TOOL_KEY.public_key}, asked=BODY)
    for wrong in (
        Answer("ok", {"result": 4}, signature),
        Answer("okay", {"result": 3}, signature),
        ANSWER,
    ):
        with pytest.raises(Exception, match=r"sign"):
            await closing.close(keyed_leader, {invocation: wrong})
    await closing.close(keyed_leader, {invocation: Answer("ok", {"result": 3}, signature)})
    assert await invocations.outcome(invocation) == ANSWER


async def test_signed_ports_equal_those_of_the_chain_at_all_sizes(chain, user):
    """Ports are read back from Move: `value::size` of those in a transaction is the signed size."""
    from nexus_tools.tool import encode_ports

    document = {"long": "ä" * 20_000, "short": [1, 2.5, None], "empty": ""}
    builder = TransactionBuilder()
    texts = Ports.bcs.decode(encode_ports(document))
    assert isinstance(dict(texts.values)["long"], Value.InlineChunks)
    ports = make_ports(builder, chain.deployment.package, texts)
    calls.value.size(builder, chain.deployment.package, ports)
    results = (await user.inspect(builder)).results
    assert int.from_bytes(results[-1][0], "little") == len(encode_ports(document))


# --- Start


@pytest.mark.parametrize("mode", ["off", "optional"])
async def test_priced_tool_requires_signatures(serve, priced_tool, mode):
    with pytest.raises(UsageError) as refused:
        async with serve(mode):
            pass
    assert refused.value.code == "signatures_needed"
    assert ADD in refused.value.message


async def test_free_tool_may_be_served_to_anyone(serve, tools, define):
    await tools.register(Registration(define()))
    async with serve("optional") as server:
        response = await server.http.post(f"/{ADD}/invoke", json=INPUTS)
    assert response.status_code == 200


async def test_missing_key_on_chain_is_logged(serve, tools, define):
    await tools.register(Registration(define(), keys=(KEY.public_key,)))
    with structlog.testing.capture_logs() as logged:
        async with serve():
            pass
    assert {"event": "key_not_on_chain", "tool": ADD}.items() <= logged[0].items()


# --- Server key that is not a key of the tool


@pytest.fixture
def keyed_tool(tools, keyed_leader, define):
    """Return a function that registers the tool with a key that must sign its answers."""

    async def register(key):
        terms = {"keys": (key.public_key,), "requires_signed_outcome": True}
        await tools.register(Registration(define(), 500, leaders=(keyed_leader,), **terms))
        return await tools.get(ADD)

    return register


async def test_server_without_key_on_chain_asks_for_retry(
    serve, tools, keyed_leader, keyed_tool, invocations, closing
):
    signing_tool = await keyed_tool(KEY)
    async with serve() as server:
        open_ids = [(await invocations.request(signing_tool, INPUTS))[1] for _ in range(4)]
        for invocation in open_ids:
            _, response = await server.post(keyed_leader, invocation)
            assert (response.status_code, response.headers["retry-after"]) == (503, "1")
            assert response.json()["code"] == "key_not_on_chain"
        health = (await server.http.get(f"/{ADD}/health")).json()
        assert health["checks"] == {"server": True, "signing_key": False}
        await closing.close(keyed_leader, dict.fromkeys(open_ids, FAILURE))
        await tools.add_key(ADD, TOOL_KEY.public_key)
        _, invocation = await invocations.request(await tools.get(ADD), INPUTS)
        await server.until("", keyed_leader, invocation)
        assert (await server.http.get(f"/{ADD}/health")).status_code == 200


async def test_invocation_from_before_the_key_asks_for_retry(
    serve, tools, keyed_leader, keyed_tool, invocations
):
    signing_tool = await keyed_tool(KEY)
    _, before = await invocations.request(signing_tool, INPUTS)
    await tools.add_key(ADD, TOOL_KEY.public_key)
    async with serve() as server:
        _, later = await invocations.request(await tools.get(ADD), INPUTS)
        _, response = await server.post(keyed_leader, before)
        assert (response.status_code, response.json()["code"]) == (503, "not_ready")
        assert "when the tool had other keys" in response.json()["detail"]
        assert await server.code(keyed_leader, later) == ""
    assert server.answers.pending(10) == [str(later)]


async def test_leader_is_excused_for_answers_of_removed_key(
    serve, tools, keyed_leader, keyed_tool, invocations, closing
):
    signing_tool = await keyed_tool(TOOL_KEY)
    async with serve() as server:
        open_ids = [(await invocations.request(signing_tool, INPUTS))[1] for _ in range(3)]
        for invocation in open_ids:
            assert await server.code(keyed_leader, invocation) == ""
        await tools.add_key(ADD, NEXT_KEY.public_key)
        await tools.remove_key(ADD, TOOL_KEY.public_key)
        await closing.close(keyed_leader, dict.fromkeys(open_ids, FAILURE))
        await server.until("key_not_on_chain", keyed_leader, open_ids[0])
        await tools.add_key(ADD, TOOL_KEY.public_key)
        _, invocation = await invocations.request(await tools.get(ADD), INPUTS)
        await server.until("", keyed_leader, invocation)


async def test_answer_closed_before_key_removal_counts(
    serve, tools, keyed_leader, keyed_tool, invocations, closing
):
    signing_tool = await keyed_tool(TOOL_KEY)
    async with serve() as server:
        open_ids = [(await invocations.request(signing_tool, INPUTS))[1] for _ in range(3)]
        for invocation in open_ids:
            assert await server.code(keyed_leader, invocation) == ""
        await closing.close(keyed_leader, dict.fromkeys(open_ids, FAILURE))
        await tools.add_key(ADD, NEXT_KEY.public_key)
        await tools.remove_key(ADD, TOOL_KEY.public_key)
        await server.until("key_not_on_chain", keyed_leader, open_ids[0])
        await tools.add_key(ADD, TOOL_KEY.public_key)
        await server.until("answers_unpaid", keyed_leader, open_ids[0])
