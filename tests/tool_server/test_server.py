import asyncio
import json
from contextlib import asynccontextmanager

import pytest

from nexus_tools.errors import ValidationError
from nexus_tools.tool import ToolDefinition
from nexus_tools.tool_server import Limits, ToolServer, Variant, tool
from nexus_tools.tool_server.testing import client

pytestmark = pytest.mark.anyio

JSON = {"content-type": "application/json"}


class Done(Variant, name="ok"):
    pass


def _tool(fqn, **options):
    @tool(fqn, **options)
    async def function() -> Done:
        """Does nothing."""
        return Done()

    return function


def _assert_problem(response, status, code):
    """A problem document as RFC 9457 has it."""
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    assert (response.status_code, problem["status"], problem["code"]) == (status, status, code)
    assert problem["type"] == "about:blank"
    assert problem["title"]
    assert problem["detail"]
    return problem


async def test_invoke_returns_the_variant(add):
    async with client(ToolServer([add])) as http:
        response = await http.post("/invoke", json={"a": 1, "b": 2})
    assert (response.status_code, response.json()) == (200, {"ok": {"result": 3}})
    assert response.headers["content-type"] == "application/json"


async def test_domain_failure_is_not_an_http_error(add):
    async with client(ToolServer([add])) as http:
        response = await http.post("/invoke", json={"a": 1_000, "b": 2})
    assert response.status_code == 200
    assert response.json() == {"err_overflow": {"reason": "more than a thousand"}}


GO = "xyz.example.test.go@1"
OTHERS = (
    [],
    ["xyz.example.text.trim@1"],
    ["xyz.example.test.go@2"],
    ["org.example.go@1", "xyz.example.text.trim@1"],
)


@pytest.mark.parametrize("others", OTHERS)
async def test_tool_url_does_not_depend_on_other_tools(others):
    server = ToolServer([_tool(fqn) for fqn in (*others, GO)])
    async with client(server) as http:
        assert f"/{GO}" in (await http.get("/tools")).json()
        assert (await http.get(f"/{GO}/meta")).json()["url"] == f"http://tools.test/{GO}"
        assert (await http.get(f"/{GO}/health")).status_code == 200
        assert (await http.post(f"/{GO}/invoke", json={})).json() == {"ok": {}}
    assert f"https://a.example/{GO}" in [
        each.url for each in server.definitions("https://a.example")
    ]


@pytest.mark.parametrize("others", OTHERS)
@pytest.mark.parametrize("path", ["", "/go"])
async def test_leaders_reach_tools_at_paths_of_older_servers(others, path):
    async with client(ToolServer([_tool(fqn) for fqn in (*others, GO)])) as http:
        response = await http.post(f"{path}/invoke", json={}, headers={"nexus-tool": GO})
    assert response.json() == {"ok": {}}


@pytest.mark.parametrize("path", ["", "/go"])
async def test_definition_has_the_permanent_url_at_every_path(path):
    async with client(ToolServer([_tool(GO)])) as http:
        meta = (await http.get(f"{path}/meta")).json()
        assert (await http.post(f"{path}/invoke", json={})).json() == {"ok": {}}
    assert (meta["fqn"], meta["url"]) == (GO, f"http://tools.test/{GO}")


@pytest.mark.parametrize("headers", [{}, {"nexus-tool": "xyz.example.test.no@1"}])
@pytest.mark.parametrize("path", ["", "/go"])
async def test_shared_path_requires_tool_header(path, headers):
    async with client(ToolServer([_tool(GO), _tool("org.example.go@1")])) as http:
        response = await http.post(f"{path}/invoke", json={}, headers=headers)
        assert (await http.get(f"{path}/meta")).status_code == 404
    _assert_problem(response, 404, "tool_unknown")


@pytest.mark.parametrize("count", [0, 2])
def test_server_requires_tools_with_distinct_fqns(count):
    with pytest.raises(ValidationError) as caught:
        ToolServer([_tool("xyz.example.test.go@1")] * count)
    assert caught.value.code == "tool_invalid"


async def test_meta_is_a_valid_definition(add):
    async with client(ToolServer([add], public_url="https://tools.example.com/")) as http:
        document = (await http.get("/meta")).json()
    assert ToolDefinition.parse(document) == add.definition(f"https://tools.example.com/{add.fqn}")


@pytest.mark.parametrize(
    ("headers", "url"),
    [
        ({"host": "a.example:8080"}, "http://a.example:8080"),
        ({"host": "[2001:db8::1]:80"}, "http://[2001:db8::1]:80"),
        (
            {"x-forwarded-host": "b.example, inner", "x-forwarded-proto": "https,http"},
            "https://b.example",
        ),
    ],
)
async def test_meta_repeats_the_address_of_the_request(add, headers, url):
    async with client(ToolServer([add])) as http:
        assert (await http.get("/meta", headers=headers)).json()["url"] == f"{url}/{add.fqn}"


@pytest.mark.parametrize(
    "headers",
    [
        {"host": ""},
        {"host": "a b"},
        {"host": "user@evil.example"},
        {"host": "evil.example/path"},
        {"x-forwarded-host": 'a"b'},
        {"x-forwarded-proto": "javascript"},
    ],
)
async def test_meta_rejects_malformed_host(add, headers):
    async with client(ToolServer([add])) as http:
        _assert_problem(await http.get("/meta", headers=headers), 400, "header_invalid")


async def test_health_is_200_when_all_checks_pass():
    server = ToolServer([_tool("xyz.example.test.go@1", health=lambda: {"database": True})])
    async with client(server) as http:
        response = await http.get("/health")
    assert response.status_code == 200
    assert response.json() == {"status": "ready", "checks": {"server": True, "database": True}}


def _breaks():
    raise RuntimeError("secret detail")


@pytest.mark.parametrize("health", [lambda: False, lambda: {"database": False}, _breaks])
async def test_health_is_503_when_a_check_fails(health):
    async with client(ToolServer([_tool("xyz.example.test.go@1", health=health)])) as http:
        response = await http.get("/health")
    assert (response.status_code, response.json()["status"]) == (503, "not ready")
    assert "secret" not in response.text


async def test_server_is_ready_only_within_its_lifespan(add):
    seen = []

    @asynccontextmanager
    async def lifespan(_):
        seen.append("up")
        yield
        seen.append("down")

    server = ToolServer([add], lifespan=lifespan)
    async with client(server) as http:
        assert (await http.get("/health")).status_code == 200
        server.refuse()
        assert (await http.get("/health")).status_code == 503
        refused = await http.post("/invoke", json={"a": 1, "b": 2})
        _assert_problem(refused, 503, "not_ready")
        assert "retry-after" in refused.headers
    assert seen == ["up", "down"]


@pytest.mark.parametrize(
    ("body", "code", "pointers"),
    [
        (b"{}", "input_invalid", ["#", "#"]),
        (b'{"a": "x", "b": 1}', "input_invalid", ["#/a"]),
        (b'{"a": 1, "b": 1, "c": 1}', "input_invalid", ["#"]),
        (b"[]", "input_invalid", ["#"]),
        (b'{"a": 1', "json_invalid", ["#"]),
        (b"", "json_invalid", ["#"]),
        (b'{"a": 1, "a": 2, "b": 3}', "json_invalid", ["#"]),
        (b'{"a": NaN, "b": 3}', "json_invalid", ["#"]),
        (b'{"a": 1e999, "b": 3}', "json_invalid", ["#"]),
        (b'{"a": "\xff", "b": 3}', "json_invalid", ["#"]),
        (b'{"a": "\\ud800", "b": 3}', "json_invalid", ["#"]),
        (b"[" * 200_000, "json_invalid", ["#"]),
        (b'{"a": ' + b"9" * 10_000 + b"}", "json_invalid", ["#"]),
    ],
)
async def test_invalid_input_is_422_with_pointers(add, body, code, pointers):
    async with client(ToolServer([add])) as http:
        response = await http.post("/invoke", content=body, headers=JSON)
    problem = _assert_problem(response, 422, code)
    assert [error["pointer"] for error in problem["errors"]] == pointers
    assert all(error["detail"] for error in problem["errors"])


@pytest.mark.parametrize(
    "media_type",
    ["text/plain", "application/x-www-form-urlencoded", "", "application/json; charset=latin-1"],
)
async def test_unsupported_media_type_is_415(add, media_type):
    async with client(ToolServer([add])) as http:
        response = await http.post("/invoke", content=b"{}", headers={"content-type": media_type})
    _assert_problem(response, 415, "media_type_unsupported")


async def test_content_encoding_is_415(add):
    async with client(ToolServer([add])) as http:
        headers = JSON | {"content-encoding": "gzip"}
        response = await http.post("/invoke", content=b"{}", headers=headers)
    _assert_problem(response, 415, "encoding_unsupported")


@pytest.mark.parametrize("media_type", ["application/json; charset=utf-8", "Application/JSON"])
async def test_json_may_be_spelled_in_other_ways(add, media_type):
    async with client(ToolServer([add])) as http:
        body, headers = b'{"a": 1, "b": 2}', {"content-type": media_type}
        assert (await http.post("/invoke", content=body, headers=headers)).status_code == 200


async def test_declared_body_beyond_the_limit_is_413(add):
    async with client(ToolServer([add], limits=Limits(max_body_bytes=100))) as http:
        response = await http.post("/invoke", content=b" " * 101, headers=JSON)
    _assert_problem(response, 413, "body_too_large")


async def test_streamed_body_is_not_read_beyond_the_limit(add):
    sent = []

    async def chunks():
        for number in range(1_000):
            sent.append(number)
            yield b" " * 10

    async with client(ToolServer([add], limits=Limits(max_body_bytes=100))) as http:
        response = await http.post("/invoke", content=chunks(), headers=JSON)
    _assert_problem(response, 413, "body_too_large")
    assert len(sent) == 11


async def test_unfinished_body_is_408(add):
    async def never():
        yield b"{"
        await asyncio.Event().wait()

    async with client(ToolServer([add], limits=Limits(body_timeout_s=0))) as http:
        response = await http.post("/invoke", content=never(), headers=JSON)
    _assert_problem(response, 408, "body_timed_out")


async def _stalled(arrived, *, size):
    yield b" " * size
    arrived.set()
    await asyncio.Event().wait()


async def test_unfinished_bodies_are_bounded_in_memory(add):
    server = ToolServer([add], limits=Limits(max_receiving_bytes=1_000))
    arrived = asyncio.Event()
    async with client(server) as http, asyncio.TaskGroup() as tasks:
        stalled = _stalled(arrived, size=900)
        slow = tasks.create_task(http.post("/invoke", content=stalled, headers=JSON))
        await arrived.wait()
        refused = await http.post("/invoke", content=_parts(b" " * 101, b"{}"), headers=JSON)
        small = await http.post("/invoke", content=_parts(b'{"a": 1,', b'"b": 2}'), headers=JSON)
        at_once = await http.post("/invoke", json={"a": 1, "b": 2})
        slow.cancel()
    _assert_problem(refused, 429, "busy")
    assert refused.headers["retry-after"] == "1"
    assert (small.status_code, at_once.status_code) == (200, 200)


async def test_memory_of_body_is_freed_when_client_disconnects(add):
    server = ToolServer([add], limits=Limits(max_receiving_bytes=1_000))
    arrived = asyncio.Event()
    async with client(server) as http:
        stalled = _stalled(arrived, size=1_000)
        slow = asyncio.create_task(http.post("/invoke", content=stalled, headers=JSON))
        await arrived.wait()
        slow.cancel()
        await asyncio.wait([slow])
        ports = _parts(b'{"a": 1,', b'"b": 2}')
        assert (await http.post("/invoke", content=ports, headers=JSON)).status_code == 200


async def test_busy_server_reads_only_first_part_of_body(gate):
    read = []

    async def parts():
        for number in range(1_000):
            read.append(number)
            yield b" "

    server = ToolServer([gate.tool], limits=Limits(max_running=1))
    async with client(server) as http, asyncio.TaskGroup() as tasks:
        first = tasks.create_task(http.post("/invoke", json={}))
        await gate.entered.wait()
        refused = await http.post("/invoke", content=parts(), headers=JSON)
        gate.opened.set()
        await first
    _assert_problem(refused, 429, "busy")
    assert len(read) == 1


async def _parts(*parts):
    for part in parts:
        yield part


async def test_raising_tool_is_500_without_a_traceback(gate, log_entries):
    gate.opened.set()
    async with client(ToolServer([gate.tool])) as http:
        response = await http.post("/invoke", json={"number": -1})
    _assert_problem(response, 500, "tool_raised")
    assert "secret" not in response.text
    assert "Traceback" not in response.text
    assert any("secret detail" in entry.get("cause", "") for entry in log_entries)


async def test_invalid_output_is_500(log_entries):
    @tool("xyz.example.test.bad@1")
    async def bad() -> Done:
        return None

    async with client(ToolServer([bad])) as http:
        _assert_problem(await http.post("/invoke", json={}), 500, "output_invalid")
    [entry] = [entry for entry in log_entries if entry["event"] == "output_invalid"]
    assert entry["cause"] == "ValidationError: bad must return Done, but returned NoneType"


async def test_values_of_an_input_are_not_logged(add, log_entries):
    async with client(ToolServer([add])) as http:
        await http.post("/invoke", json={"a": 123456, "b": 654321})
        await http.post("/invoke", json={"a": "my password", "b": 1})
    assert log_entries
    assert not {"123456", "654321", "my password"} & set(json.dumps(log_entries).split('"'))
    assert "my password" not in json.dumps(log_entries)


async def test_slow_tool_is_504(gate):
    async with client(ToolServer([gate.tool])) as http:
        _assert_problem(await http.post("/invoke", json={}), 504, "timed_out")


async def test_timeout_error_of_tool_code_is_not_504(log_entries):
    @tool("xyz.example.test.bad@1")
    async def bad() -> Done:
        raise TimeoutError("the database")

    async with client(ToolServer([bad])) as http:
        _assert_problem(await http.post("/invoke", json={}), 500, "tool_raised")
    assert log_entries


async def test_invocations_beyond_the_limit_are_429(gate):
    server = ToolServer([gate.tool], limits=Limits(max_running=1, retry_after_s=3))
    async with client(server) as http, asyncio.TaskGroup() as tasks:
        first = tasks.create_task(http.post("/invoke", json={"number": 1}))
        await gate.entered.wait()
        refused = await http.post("/invoke", json={"number": 2})
        gate.opened.set()
        assert (await first).status_code == 200
        assert (await http.post("/invoke", json={"number": 2})).status_code == 200
    _assert_problem(refused, 429, "busy")
    assert refused.headers["retry-after"] == "3"


async def test_wrong_methods_and_paths_are_problems(add):
    async with client(ToolServer([add])) as http:
        wrong = await http.get("/invoke")
        _assert_problem(wrong, 405, "method_not_allowed")
        assert wrong.headers["allow"] == "POST"
        _assert_problem(await http.post("/nothing", json={}), 404, "not_found")


async def test_call_has_values_of_headers(gate):
    gate.opened.set()
    headers = {
        "nexus-invocation": "0xabc",
        "idempotency-key": "0xabc",
        "nexus-tool": "xyz.example.test.gate@1",
        "nexus-deadline": "2026-11-28T09:14:00Z",
        "nexus-max-outcome-bytes": "512",
    }
    async with client(ToolServer([gate.tool])) as http:
        assert (await http.post("/invoke", json={}, headers=headers)).status_code == 200
    [call] = gate.calls
    assert call.invocation == "0xabc"
    assert call.deadline.isoformat() == "2026-11-28T09:14:00+00:00"
    assert call.max_outcome_bytes == 512


@pytest.mark.parametrize(
    "headers",
    [
        {"nexus-deadline": "soon"},
        {"nexus-deadline": "2026-11-28T09:14:00"},
        {"nexus-max-outcome-bytes": "-1"},
        {"nexus-max-outcome-bytes": "9" * 30},
        {"idempotency-key": ""},
        {"idempotency-key": "a" * 256},
        {"idempotency-key": "a b"},
        {"idempotency-key": "1", "nexus-invocation": "2"},
    ],
)
async def test_malformed_headers_are_400(add, headers):
    async with client(ToolServer([add])) as http:
        response = await http.post("/invoke", json={"a": 1, "b": 2}, headers=headers)
    _assert_problem(response, 400, "header_invalid")


async def test_call_for_another_tool_is_404(add):
    async with client(ToolServer([add])) as http:
        headers = {"nexus-tool": "xyz.example.math.add@2"}
        response = await http.post("/invoke", json={"a": 1, "b": 2}, headers=headers)
    _assert_problem(response, 404, "tool_unknown")
