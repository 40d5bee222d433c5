"""A server that asks who calls: each way to get around that, and what is left to the author."""

import asyncio
from datetime import UTC, datetime, timedelta
from time import time
from types import SimpleNamespace

import httpx
import pytest
from http_message_signatures import HTTPMessageSigner, HTTPSignatureKeyResolver, algorithms

from nexus_tools.errors import UsageError
from nexus_tools.tool import (
    Answer,
    Identity,
    KnownKeys,
    SignatureRejectedError,
    SigningKey,
    check_answer,
    check_response,
    key_id,
    sign_request,
)
from nexus_tools.tool.signing.signing import COVERED
from nexus_tools.tool_server import (
    Call,
    Limits,
    MemoryNonceStore,
    NotAuthorizedError,
    SignaturePolicy,
    SqliteNonceStore,
    ToolServer,
    Variant,
    serving,
    tool,
)
from nexus_tools.tool_server.testing import BASE_URL, client

pytestmark = pytest.mark.anyio

PUBLIC_URL = "https://tools.example.com/mine"
ADD = "xyz.example.math.add@1"
INVOKE = f"/{ADD}/invoke"
LEADER, OTHER, STRANGER = (f"0x{digit * 64}" for digit in "abc")
KEY, OTHER_KEY, TOOL_KEY = (SigningKey.new() for _ in range(3))
LEADERS = KnownKeys({LEADER: [KEY.public_key], OTHER: [OTHER_KEY.public_key]})
BODY = b'{"a":1,"b":2}'
EARLIER = 0.0


class Done(Variant, name="ok"):
    leader: str


def nonces():
    return MemoryNonceStore(now=lambda: EARLIER)


class _Resolver(HTTPSignatureKeyResolver):
    def resolve_private_key(self, _):
        return KEY.private


def independently_signed(*more, **fields):
    """A call that another implementation signs, with more components than have to be."""
    headers = signed_headers() | {name.replace("_", "-"): value for name, value in fields.items()}
    del headers["signature"], headers["signature-input"]
    created = datetime.fromtimestamp(int(time()), UTC)
    request = SimpleNamespace(headers=headers, method="POST", url=PUBLIC_URL + INVOKE)
    parties = {"signature_algorithm": algorithms.ED25519, "key_resolver": _Resolver()}
    HTTPMessageSigner(**parties).sign(
        request,
        key_id=key_id(LEADER, KEY.public_key),
        label="nexus",
        created=created,
        expires=created + timedelta(seconds=30),
        nonce="of another implementation",
        covered_component_ids=[*more, *COVERED],
        use_existing_digest=True,
    )
    return request.headers


def server(tools, mode="required", **options):
    options = {"leaders": LEADERS, "nonces": nonces()} | options
    return ToolServer(tools, public_url=PUBLIC_URL, signatures=SignaturePolicy(mode, **options))


def signed_headers(
    key=KEY,
    signer=LEADER,
    *,
    path=INVOKE,
    fqn=ADD,
    body=BODY,
    url=PUBLIC_URL,
    now_s=None,
    invocation="0x1",
):
    headers = {
        "content-type": "application/json",
        "nexus-invocation": invocation,
        "nexus-tool": fqn,
        "nexus-deadline": "2127-01-15T08:00:30.000Z",
        "nexus-max-outcome-bytes": "4096",
    }
    now_s = time() if now_s is None else now_s
    return headers | sign_request(Identity(signer, key), url + path, headers, body, now_s)


async def post(http, headers, path=INVOKE, body=BODY):
    return await http.post(path, content=body, headers=headers)


def assert_refused(response, status, code):
    assert response.headers["content-type"] == "application/problem+json"
    assert (response.status_code, response.json()["code"]) == (status, code)


async def test_signed_call_of_a_listed_leader_runs(add):
    async with client(server([add])) as http:
        response = await post(http, signed_headers())
    assert (response.status_code, response.json()) == (200, {"ok": {"result": 3}})


@pytest.mark.parametrize(
    "components",
    [
        ("content-type",),
        ("@authority", "@scheme", "@path", "@query", "@request-target"),
        ("@authority", "content-type", "user-agent"),
    ],
)
async def test_call_runs_when_its_signature_covers_more(add, components):
    headers = independently_signed(*components, user_agent="of a test")
    async with client(server([add])) as http:
        response = await post(http, headers)
        assert (response.status_code, response.json()) == (200, {"ok": {"result": 3}})
        if "user-agent" in components:
            changed = independently_signed(*components, user_agent="of a test")
            response = await post(http, changed | {"user-agent": "of another"})
            assert_refused(response, 401, "signature_invalid")


async def test_lines_of_a_covered_field_are_one_value(add):
    headers = independently_signed("x-note", x_note="one, two")
    lines = [*((n, v) for n, v in headers.items() if n != "x-note"), ("x-note", "one")]
    async with client(server([add])) as http:
        response = await http.post(INVOKE, content=BODY, headers=[*lines, ("x-note", "two")])
    assert response.status_code == 200


@pytest.mark.parametrize(("mode", "status"), [("off", 200), ("optional", 200), ("required", 401)])
async def test_unsigned_call_runs_unless_signatures_are_required(add, mode, status):
    async with client(server([add], mode)) as http:
        response = await post(http, {"content-type": "application/json"})
    assert response.status_code == status
    if status == 401:
        assert_refused(response, 401, "signature_missing")
        assert response.headers["www-authenticate"]


@pytest.mark.parametrize("gone", ["signature", "signature-input"])
async def test_half_stripped_signature_is_not_an_unsigned_call(add, gone):
    headers = signed_headers()
    del headers[gone]
    async with client(server([add], "optional")) as http:
        assert_refused(await post(http, headers), 401, "signature_missing")


@pytest.mark.parametrize(
    ("changes", "status", "code"),
    [
        ({"signer": STRANGER}, 403, "leader_not_accepted"),
        ({"key": OTHER_KEY}, 401, "key_unknown"),
        ({"key": OTHER_KEY, "signer": STRANGER}, 403, "leader_not_accepted"),
        ({"now_s": 1_700_000_000}, 401, "signature_expired"),
        ({"now_s": 4_000_000_000}, 401, "signature_from_future"),
        ({"body": b"{}"}, 401, "digest_mismatch"),
        ({"fqn": "xyz.example.math.mul@1"}, 404, "tool_unknown"),
        ({"path": "/xyz.example.math.mul@1/invoke"}, 401, "signature_invalid"),
        ({"url": "https://other.example.com/mine"}, 401, "signature_invalid"),
        ({"url": "https://tools.example.com"}, 401, "signature_invalid"),
        ({"url": BASE_URL}, 401, "signature_invalid"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else str(value),
)
async def test_signature_for_another_request_is_rejected(add, changes, status, code):
    async with client(server([add], "optional")) as http:
        assert_refused(await post(http, signed_headers(**changes)), status, code)


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("nexus-invocation", "0x2"),
        ("nexus-deadline", "2128-01-15T08:00:30.000Z"),
        ("nexus-max-outcome-bytes", "9"),
    ],
)
async def test_changed_header_is_rejected(add, header, value):
    async with client(server([add])) as http:
        response = await post(http, signed_headers() | {header: value})
    assert_refused(response, 401, "signature_invalid")


async def test_changed_query_is_rejected(add):
    async with client(server([add])) as http:
        response = await post(http, signed_headers(), path=f"{INVOKE}?x=1")
    assert_refused(response, 401, "signature_invalid")


@pytest.mark.parametrize("name", ["host", "x-forwarded-host", "forwarded"])
async def test_headers_do_not_change_the_server_url(add, name):
    headers = signed_headers(url="https://evil.example.com/mine") | {name: "evil.example.com"}
    async with client(server([add])) as http:
        assert_refused(await post(http, headers), 401, "signature_invalid")


async def test_rejection_names_the_server_url(add):
    async with client(server([add])) as http:
        response = await post(http, signed_headers(url="https://tools.example.com"))
    assert PUBLIC_URL + INVOKE in response.json()["detail"]


@pytest.mark.parametrize("name", ["nexus-tool", "nexus-invocation", "nexus-max-outcome-bytes"])
async def test_repeated_covered_header_is_rejected(add, name):
    headers = signed_headers()
    twice = [*headers.items(), (name, headers[name])]
    async with client(server([add])) as http:
        assert_refused(await post(http, twice), 401, "signature_malformed")


async def test_proxy_signature_may_use_separate_lines(add):
    headers = [("signature-input", 'proxy=("@method")'), ("signature", "proxy=:AAAA:")]
    async with client(server([add])) as http:
        response = await post(http, [*headers, *signed_headers().items()])
    assert response.status_code == 200


async def test_replayed_call_is_rejected_even_if_its_outcome_is_stored(gate):
    gate.opened.set()
    path = "/xyz.example.test.gate@1/invoke"
    headers = signed_headers(path=path, fqn="xyz.example.test.gate@1", body=b"{}")
    async with client(server([gate.tool], key=TOOL_KEY)) as http:
        first = await post(http, headers, path, b"{}")
        second = await post(http, headers, path, b"{}")
    assert first.status_code == 200
    assert_refused(second, 401, "signature_replayed")
    # A second response that is signed would be evidence against the tool.
    assert "signature" in first.headers
    assert "signature" not in second.headers
    assert gate.runs == 1


async def test_replay_to_another_process_is_rejected(add, tmp_path):
    path = tmp_path / "nonces.sqlite"
    first, second = (server([add], nonces=SqliteNonceStore(path)) for _ in range(2))
    headers = signed_headers()
    async with client(first) as one, client(second) as other:
        assert (await post(one, headers)).status_code == 200
        assert_refused(await post(other, headers), 401, "signature_replayed")
        assert (await post(other, signed_headers())).status_code == 200


async def test_replay_after_restart_must_be_signed_again(add):
    headers = signed_headers(now_s=time() - 10)
    async with client(server([add], nonces=MemoryNonceStore())) as http:
        assert_refused(await post(http, headers), 503, "not_ready")
        assert (await post(http, signed_headers())).status_code == 200


async def test_wrong_body_does_not_use_the_nonce(add):
    headers = signed_headers()
    async with client(server([add])) as http:
        assert_refused(await post(http, headers, body=b"{}"), 401, "digest_mismatch")
        assert (await post(http, headers)).status_code == 200


async def test_unlisted_signers_use_no_memory_and_no_body_is_read(add):
    remembered = nonces()
    limits = Limits(max_body_bytes=10)
    options = SignaturePolicy("required", leaders=LEADERS, nonces=remembered)
    app = ToolServer([add], public_url=PUBLIC_URL, signatures=options, limits=limits)
    read = []

    async def body():
        read.append(1)
        yield b"x"

    async with client(app) as http:
        for headers in (signed_headers(signer=STRANGER), signed_headers(OTHER_KEY), {}):
            response = await http.post(INVOKE, content=body(), headers=headers)
            assert response.status_code in (401, 403, 415)
    assert len(remembered) == 0


async def test_flooding_leader_must_wait_and_others_not(add):
    few = MemoryNonceStore(2, now=lambda: EARLIER)
    async with client(server([add], nonces=few)) as http:
        for _ in range(2):
            assert (await post(http, signed_headers())).status_code == 200
        assert_refused(await post(http, signed_headers()), 429, "busy")
        assert (await post(http, signed_headers(OTHER_KEY, OTHER))).status_code == 200


async def test_retry_with_a_new_nonce_gets_the_stored_outcome(gate):
    gate.opened.set()
    fqn = "xyz.example.test.gate@1"
    path = f"/{fqn}/invoke"
    async with client(server([gate.tool])) as http:
        for _ in range(2):
            headers = signed_headers(path=path, fqn=fqn, body=b"{}")
            assert (await post(http, headers, path, b"{}")).status_code == 200
    assert gate.runs == 1


@pytest.mark.parametrize("others", ["another leader", "nobody"])
async def test_idempotency_key_belongs_to_its_signer(gate, others):
    gate.opened.set()
    fqn = "xyz.example.test.gate@1"
    path = f"/{fqn}/invoke"
    first = signed_headers(path=path, fqn=fqn, body=b"{}")
    second = signed_headers(OTHER_KEY, OTHER, path=path, fqn=fqn, body=b"{}")
    if others == "nobody":
        for name in ("signature", "signature-input"):
            del second[name]
    async with client(server([gate.tool], "optional")) as http:
        await post(http, first, path, b"{}")
        await post(http, second, path, b"{}")
    assert gate.runs == 2
    assert [call.leader for call in gate.calls] == [LEADER, None if others == "nobody" else OTHER]


async def test_health_and_meta_are_for_everyone(add):
    async with client(server([add])) as http:
        for path in ("/health", "/meta", "/tools"):
            assert (await http.get(path)).status_code == 200


# --- Responses


async def test_response_is_signed_by_the_tool(add):
    headers = signed_headers()
    async with client(server([add], key=TOOL_KEY)) as http:
        response = await post(http, headers)
    check_response(200, response.content, response.headers, headers, {TOOL_KEY.public_key})


async def test_error_response_is_signed_by_the_tool(add):
    body = b'{"a":"x"}'
    headers = signed_headers(body=body)
    async with client(server([add], key=TOOL_KEY)) as http:
        response = await post(http, headers, body=body)
    check_response(422, response.content, response.headers, headers, {TOOL_KEY.public_key})


async def test_stored_outcome_is_signed_for_each_request(add):
    first, second = signed_headers(), signed_headers()
    keys = {TOOL_KEY.public_key}
    async with client(server([add], key=TOOL_KEY)) as http:
        responses = [await post(http, headers) for headers in (first, second)]
    check_response(200, responses[1].content, responses[1].headers, second, keys)
    with pytest.raises(SignatureRejectedError):
        check_response(200, responses[1].content, responses[1].headers, first, keys)


async def test_answer_and_stored_answer_have_outcome_signature(add):
    keys = {TOOL_KEY.public_key}
    invocation = "0x" + "c3" * 32
    first, second = signed_headers(invocation=invocation), signed_headers(invocation=invocation)
    async with client(server([add], key=TOOL_KEY)) as http:
        responses = [await post(http, headers) for headers in (first, second)]
    for response, request in zip(responses, (first, second), strict=True):
        check_response(200, response.content, response.headers, request, keys)
        answer = Answer("ok", {"result": 3})
        signature = check_answer(answer, response.headers, request, keys, asked=BODY)
        assert signature.key == TOOL_KEY.public_key


@pytest.mark.parametrize("mode", ["off", "optional"])
async def test_unsigned_request_gets_unsigned_response(add, mode):
    async with client(server([add], mode, key=TOOL_KEY)) as http:
        response = await post(http, {"content-type": "application/json"})
    assert "signature" not in response.headers


# --- Keys that change


@pytest.mark.parametrize(
    ("found", "status"), [({KEY.public_key}, 200), ({OTHER_KEY.public_key}, 401), (None, 403)]
)
async def test_unknown_key_is_refreshed_once_before_rejection(add, found, status):
    known, looked_for = {}, []

    async def look_again(signer):
        looked_for.append(signer)
        known[signer] = found

    async with client(server([add], leaders=known.get, refresh_keys=look_again)) as http:
        assert (await post(http, signed_headers())).status_code == status
    assert looked_for == [LEADER]


async def test_known_key_is_not_refreshed(add):
    async def look_again(signer):
        raise AssertionError(signer)

    async with client(server([add], refresh_keys=look_again)) as http:
        assert (await post(http, signed_headers())).status_code == 200
        assert_refused(await post(http, signed_headers(now_s=1.0)), 401, "signature_expired")


async def test_tools_may_accept_different_leaders(add, gate):
    gate.opened.set()
    fqn = str(gate.tool.fqn)
    path = f"/{fqn}/invoke"
    leaders = {ADD: LEADERS, fqn: KnownKeys({OTHER: [OTHER_KEY.public_key]})}
    async with client(server([add, gate.tool], leaders=leaders)) as http:
        assert (await post(http, signed_headers())).status_code == 200
        refused = await post(http, signed_headers(path=path, fqn=fqn), path)
        assert_refused(refused, 403, "leader_not_accepted")
        other = signed_headers(OTHER_KEY, OTHER, path=path, fqn=fqn, body=b"{}")
        assert (await post(http, other, path, b"{}")).status_code == 200


async def test_key_rotation_under_load_loses_no_request(add):
    known = {LEADER: {KEY.public_key}}
    new = SigningKey.new()
    current = [KEY]
    responses = []

    async def load(http, count):
        responses.extend([await post(http, signed_headers(current[0])) for _ in range(count)])

    async with client(server([add], leaders=known.get)) as http, asyncio.TaskGroup() as tasks:
        tasks.create_task(load(http, 60))
        tasks.create_task(load(http, 60))
        await load(http, 10)
        known[LEADER].add(new.public_key)
        await load(http, 10)
        current[0] = new
        await load(http, 10)
        known[LEADER].discard(KEY.public_key)
        await load(http, 10)
        assert_refused(await post(http, signed_headers(KEY)), 401, "key_unknown")
    assert {response.status_code for response in responses} == {200}
    assert len(responses) == 160


# --- Authorization by the author


def authorized_by(authorize):
    @tool(ADD, authorize=authorize)
    async def add(call: Call, a: int, b: int) -> Done:
        """Says who called."""
        return Done(leader=f"{call.leader} {a + b}")

    return add


async def only_other(call):
    return call.leader == OTHER


def with_reason(call):
    if call.leader != OTHER:
        raise NotAuthorizedError("pay your bill first")
    return True


@pytest.mark.parametrize(
    ("authorize", "detail"),
    [
        (only_other, "this call is not authorized"),
        (with_reason, "pay your bill first"),
    ],
)
async def test_authorize_function_decides_on_calls(authorize, detail):
    async with client(server([authorized_by(authorize)])) as http:
        refused = await post(http, signed_headers())
        ran = await post(http, signed_headers(OTHER_KEY, OTHER))
    assert_refused(refused, 403, "call_not_authorized")
    assert refused.json()["detail"] == detail
    assert ran.json() == {"ok": {"leader": f"{OTHER} 3"}}


@pytest.mark.parametrize("given", [None, "yes", 1])
async def test_call_is_authorized_only_by_true(given):
    async with client(server([authorized_by(lambda _: given)])) as http:
        assert_refused(await post(http, signed_headers()), 403, "call_not_authorized")


async def test_raising_authorize_rejects_calls(log_entries):
    async with client(server([authorized_by(lambda call: call.nonsense)])) as http:
        assert_refused(await post(http, signed_headers()), 500, "tool_raised")
    assert log_entries


async def test_rejected_call_may_be_retried_when_authorized():
    paid = []
    app = server([authorized_by(lambda _: bool(paid))])
    async with client(app) as http:
        assert (await post(http, signed_headers())).status_code == 403
        paid.append(1)
        assert (await post(http, signed_headers())).status_code == 200


# --- Where the server is


async def test_loopback_server_needs_no_public_url(add):
    app = ToolServer([add], signatures=SignaturePolicy(leaders=LEADERS, nonces=nonces()))
    async with serving(app) as url, httpx.AsyncClient(base_url=url) as http:
        assert (await post(http, signed_headers(url=url))).status_code == 200
        assert_refused(await post(http, signed_headers()), 401, "signature_invalid")


async def test_public_server_requires_its_url(add):
    app = ToolServer([add], signatures=SignaturePolicy(leaders=LEADERS))
    with pytest.raises(UsageError) as refused:
        async with serving(app, host="0.0.0.0"):
            pass
    assert refused.value.code == "public_url_missing"


async def test_application_without_url_runs_nothing(add):
    app = ToolServer([add], signatures=SignaturePolicy("optional", leaders=LEADERS))
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url=BASE_URL) as http:
        response = await post(http, {"content-type": "application/json"})
    assert_refused(response, 503, "not_ready")


def test_unknown_mode_is_rejected(add):
    with pytest.raises(UsageError) as refused:
        server([add], "sometimes")
    assert refused.value.code == "signatures_invalid"
    assert "required" in refused.value.hint


# --- The log


async def test_rejected_signers_are_logged(add, log_entries):
    async with client(server([add])) as http:
        await post(http, {"content-type": "application/json"})
        await post(http, signed_headers(signer=STRANGER))
    refused = [(entry["code"], entry["log_level"]) for entry in log_entries]
    assert refused == [("signature_missing", "info"), ("leader_not_accepted", "info")]
