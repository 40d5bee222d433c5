"""A Leader and a tool server that sign their messages, over a socket."""

import json
from functools import partial
from hashlib import blake2b
from time import time

import pytest

from nexus_tools.errors import NexusError
from nexus_tools.leader.config import LeaderConfig
from nexus_tools.leader.dispatch.invoker import Invoker
from nexus_tools.leader.dispatch.request_signing import RequestSigning
from nexus_tools.leader.dispatch.response_classifier import Declined
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.registry import LeaderRegistry
from nexus_tools.sui.support.private_file import write_private
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import (
    Answer,
    Failure,
    FailureReason,
    Identity,
    KnownKeys,
    SigningKey,
    sign_response,
)
from nexus_tools.tool.signing.signed_outcome import outcome_header
from nexus_tools.tool_server import (
    MemoryNonceStore,
    NotAuthorizedError,
    SignaturePolicy,
    ToolServer,
    Variant,
    serving,
    tool,
)

pytestmark = pytest.mark.anyio

ADD = "xyz.example.math.add@1"
LEADER = str(Address.of(0x1EAD))
KEY, TOOL_KEY, OTHER_KEY = (SigningKey.new() for _ in range(3))
LEADERS = KnownKeys({LEADER: [KEY.public_key]})
SUM = Answer("ok", {"result": 3})
INVOCATION = Address.of(0xA1)
INPUTS = b'{"a":1,"b":2}'
SIGNED = {"signers": (TOOL_KEY.public_key,)}
"""The signers of an invocation that the tool's signature alone settles."""


class Sum(Variant, name="ok"):
    result: int


def nonces():
    return MemoryNonceStore(now=lambda: 0.0)


@pytest.fixture
def make_call(make_call):
    """Return a factory of calls of a tool with a key on chain, unless stated otherwise."""
    return partial(make_call, keys=(TOOL_KEY.public_key,))


@pytest.fixture
def make_signing_invoker(config, http_client, answer_size):
    def make(identity=None, **options):
        traffic = RequestSigning(identity or Identity(LEADER, KEY), **options)
        return Invoker(config, http_client, answer_size, LeaderMetrics(), request_signing=traffic)

    return make


def signing_server(*tools, **options):
    return ToolServer(
        tools, signatures=SignaturePolicy(**{"leaders": LEADERS, "nonces": nonces()} | options)
    )


async def test_signed_call_gets_a_signed_answer(make_signing_invoker, make_call, add_tool):
    async with serving(signing_server(add_tool, key=TOOL_KEY)) as url:
        assert await make_signing_invoker().invoke(make_call(f"{url}/{ADD}")) == SUM


async def test_answer_has_the_outcome_signature_of_the_tool(
    make_signing_invoker, make_call, add_tool
):
    async with serving(signing_server(add_tool, key=TOOL_KEY)) as url:
        answer = await make_signing_invoker().invoke(make_call(f"{url}/{ADD}", **SIGNED))
    assert answer.signature.key == TOOL_KEY.public_key
    # Ports of one byte each, as in the tests of outcome signatures.
    inputs = blake2b(b"\x02\x01a\x00\x011\x01b\x00\x012", digest_size=32).digest()
    ports = blake2b(b"\x01\x06result\x00\x013", digest_size=32).digest()
    message = b"nexus_tools::outcome" + bytes(INVOCATION) + inputs + b"\x02ok" + ports
    TOOL_KEY.private.public_key().verify(answer.signature.signature, message)


async def test_answer_without_required_signers_has_no_signature(
    make_signing_invoker, make_call, add_tool
):
    async with serving(signing_server(add_tool, key=TOOL_KEY)) as url:
        assert await make_signing_invoker().invoke(make_call(f"{url}/{ADD}")) == SUM


@pytest.mark.parametrize("key", [None, OTHER_KEY], ids=["none", "another key"])
async def test_answer_that_cannot_be_settled_is_rejected(
    make_signing_invoker, make_call, add_tool, key
):
    async with serving(signing_server(add_tool, key=key)) as url:
        call = make_call(f"{url}/{ADD}", keys=(), **SIGNED)
        outcome = await make_signing_invoker().invoke(call)
    assert outcome.reason is FailureReason.OUTPUT_INVALID
    assert "the response does not have a valid signature of the tool" in outcome.detail


async def test_tool_without_on_chain_keys_need_not_sign(make_signing_invoker, make_call, add_tool):
    async with serving(signing_server(add_tool)) as url:
        answer = await make_signing_invoker().invoke(make_call(f"{url}/{ADD}", keys=()))
    assert answer == SUM


async def test_tool_may_sign_with_either_key_during_a_change(
    make_signing_invoker, make_call, add_tool
):
    async with serving(signing_server(add_tool, key=OTHER_KEY)) as url:
        keys = TOOL_KEY.public_key, OTHER_KEY.public_key
        call = make_call(f"{url}/{ADD}", keys=keys, signers=keys)
        answer = await make_signing_invoker().invoke(call)
    assert answer.signature.key == OTHER_KEY.public_key


async def test_signature_of_another_answer_is_rejected(
    make_signing_invoker, make_call, serve_bytes, respond
):
    request = {"nexus-tool": ADD, "nexus-invocation": str(INVOCATION)}
    body = b'{"ok":{"result":4}}'
    other = outcome_header(Identity(ADD, TOOL_KEY), 200, body, request, asked=INPUTS)
    lines = [f"{name}: {value}" for name, value in other.items()]
    server = await serve_bytes(respond(200, b'{"ok":{"result":3}}', lines))
    outcome = await make_signing_invoker().invoke(make_call(server.url, keys=(), **SIGNED))
    assert outcome.reason is FailureReason.OUTPUT_INVALID
    assert "does not match this answer" in outcome.detail


@pytest.mark.parametrize(
    ("key", "why"),
    [(None, "the response is not signed"), (OTHER_KEY, "not a current key")],
    ids=["none", "another key"],
)
async def test_unsigned_answer_is_rejected(make_signing_invoker, make_call, add_tool, *, key, why):
    async with serving(signing_server(add_tool, key=key)) as url:
        outcome = await make_signing_invoker().invoke(make_call(f"{url}/{ADD}"))
    assert outcome.reason is FailureReason.OUTPUT_INVALID
    assert why in outcome.detail


async def test_altered_answer_is_rejected(make_signing_invoker, make_call, serve_bytes, respond):
    request = {"nexus-tool": ADD, "signature": "nexus=:AAAA:"}
    request |= {"nexus-invocation": "0x1", "content-digest": "sha-256=:AAAA:"}
    captured = sign_response(
        Identity(ADD, TOOL_KEY), 200, b'{"ok":{"result":4}}', request, asked=INPUTS, now_s=0
    )
    lines = [f"{name}: {value}" for name, value in captured.items()]
    server = await serve_bytes(respond(200, b'{"ok":{"result":4}}', lines))
    outcome = await make_signing_invoker().invoke(make_call(server.url))
    assert outcome.reason is FailureReason.OUTPUT_INVALID
    assert "does not match this response" in outcome.detail


@pytest.mark.parametrize(
    ("identity", "detail"),
    [
        (Identity(LEADER, OTHER_KEY), "401 key_unknown"),
        (Identity("0x" + "9" * 64, KEY), "403 leader_not_accepted"),
    ],
    ids=["key", "leader"],
)
async def test_refused_leader_declines_with_the_reason(
    make_signing_invoker, make_call, add_tool, identity, detail
):
    async with serving(signing_server(add_tool, key=TOOL_KEY)) as url:
        outcome = await make_signing_invoker(identity).invoke(make_call(f"{url}/{ADD}"))
    detail = f"the tool rejected this leader: {detail}"
    assert outcome == Declined(Failure(FailureReason.UNAUTHORIZED, detail))


async def test_reason_of_an_author_reaches_the_requester(make_signing_invoker, make_call):
    def authorize(_):
        raise NotAuthorizedError("the quota\nof this month is used up")

    @tool(ADD, authorize=authorize)
    async def add(a: int, b: int) -> Sum:
        """Adds two integers."""
        return Sum(result=a + b)

    async with serving(signing_server(add, key=TOOL_KEY)) as url:
        outcome = await make_signing_invoker().invoke(make_call(f"{url}/{ADD}"))
    detail = "the tool rejected this leader: 403: the quota of this month is used up"
    assert outcome == Declined(Failure(FailureReason.UNAUTHORIZED, detail))


async def test_leader_without_signatures_is_refused_with_a_reason(
    make_invoker, make_call, add_tool
):
    async with serving(signing_server(add_tool)) as url:
        outcome = await make_invoker().invoke(make_call(f"{url}/{ADD}"))
    assert outcome.failure.detail == "the tool rejected this leader: 401 signature_missing"


async def test_untrusted_text_is_not_repeated(make_invoker, make_call, serve_bytes, respond):
    body = json.dumps({"code": "buy_now", "detail": "at https://evil.example"}).encode()
    server = await serve_bytes(respond(403, body))
    outcome = await make_invoker().invoke(make_call(server.url))
    assert outcome.failure.detail == "the tool rejected this leader: 403"


async def test_each_attempt_has_its_own_nonce(
    make_signing_invoker, make_call, serve_bytes, respond
):
    async def reply(writer, number):
        await respond(429 if number < 3 else 404)(writer, number)

    server = await serve_bytes(reply)
    await make_signing_invoker().invoke(make_call(server.url))
    heads = [
        dict(line.split(": ", 1) for line in head.strip().split("\r\n")[1:])
        for head, _ in server.requests
    ]
    assert len({head["signature-input"] for head in heads}) == 3
    assert len({head["idempotency-key"] for head in heads}) == 1


async def test_leader_retries_a_server_whose_key_is_not_on_chain_yet(
    make_signing_invoker, make_call, add_tool
):
    asked = iter([False])
    server = signing_server(add_tool, key=TOOL_KEY, is_key_trusted=lambda _: next(asked, True))
    async with serving(server) as url:
        assert await make_signing_invoker().invoke(make_call(f"{url}/{ADD}")) == SUM


async def test_busy_server_accepts_the_second_attempt(make_signing_invoker, make_call, add_tool):
    server = signing_server(add_tool, key=TOOL_KEY, nonces=MemoryNonceStore())
    behind = [-2.0, 0.0, 0.0]

    def clock():
        # Signed before the server started, so a new signature is requested.
        return time() + (behind.pop(0) if behind else 0.0)

    async with serving(server) as url:
        invoker = make_signing_invoker(clock=clock)
        assert await invoker.invoke(make_call(f"{url}/{ADD}")) == SUM


async def test_no_leader_accepts_an_unsigned_answer_of_a_tool_with_keys(
    make_invoker, make_call, serve_bytes, respond
):
    server = await serve_bytes(respond(200, b'{"ok":{"result":3}}'))
    assert await make_invoker().invoke(make_call(server.url, keys=())) == SUM
    outcome = await make_invoker().invoke(make_call(server.url))
    assert outcome.reason is FailureReason.OUTPUT_INVALID


# --- The configuration


@pytest.mark.parametrize(
    ("key", "on_chain", "events"),
    [
        (None, (), []),
        (None, (KEY.public_key,), ["requests_not_signed"]),
        (KEY, (OTHER_KEY.public_key, KEY.public_key), []),
        (KEY, (OTHER_KEY.public_key,), ["key_not_on_chain"]),
        (KEY, (), ["key_not_on_chain"]),
    ],
)
async def test_leader_warns_at_its_start_about_a_key_that_is_not_on_chain(
    world, tmp_path, logged, key, on_chain, events
):
    identity = await world.new_leader()
    async with world.client_of(identity.key) as client:
        for chain_key in on_chain:
            await LeaderRegistry(client, world.deployment).add_key(identity.id, chain_key)
    signing = {} if key is None else {"signing_key": write_key(tmp_path / "key.pem")}
    async with world.running(identity, **signing):
        pass
    warnings = [
        e["event"] for e in logged if e["event"] in ("requests_not_signed", "key_not_on_chain")
    ]
    assert warnings == events


def write_key(path):
    write_private(path, KEY.to_pem())
    return path


def test_configuration_names_the_key_file(tmp_path):
    config = LeaderConfig(journal=tmp_path / "j", signing_key=write_key(tmp_path / "key.pem"))
    traffic = RequestSigning.load(config, Address.of(0x1EAD))
    assert traffic.identity.signer == LEADER
    assert traffic.identity.key.public_key == KEY.public_key


@pytest.mark.parametrize(
    ("mode", "text", "code"),
    [
        (None, "", "signing_key_missing"),
        (0o644, KEY.to_pem(), "signing_key_exposed"),
        (0o600, "-----BEGIN PRIVATE KEY-----\nAAAA\n", "signing_key_invalid"),
        (0o600, "secret words", "signing_key_invalid"),
    ],
)
def test_unusable_key_prevents_the_start(tmp_path, mode, text, code):
    path = tmp_path / "key.pem"
    if mode is not None:
        path.write_text(text)
        path.chmod(mode)
    config = LeaderConfig(journal=tmp_path / "j", signing_key=path)
    with pytest.raises(NexusError) as refused:
        RequestSigning.load(config, Address.of(1))
    assert refused.value.code == code
    assert "secret words" not in str(refused.value)
    assert refused.value.__cause__ is None


def test_repr_contains_no_secret():
    secret = KEY.private.private_bytes_raw()
    identity = Identity(LEADER, KEY)
    shown = f"{identity!r}{RequestSigning(identity)!r}{SignaturePolicy(key=KEY)!r}"
    assert secret.hex() not in shown
    assert repr(secret) not in shown
    assert str(secret[:8])[2:-1] not in shown
