"""JSON-RPC as in the specifications, without the SDK's client."""

import asyncio
import json

import httpx
import pytest

from nexus_tools.mcp_server import http_app, mcp_server

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
LATEST = "2026-07-28"

CLIENT = {"name": "raw", "version": "0"}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": LATEST,
    "io.modelcontextprotocol/clientInfo": CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
}
CALL = {"name": "xyz_math_divide_v1", "arguments": {"a": 1, "b": 2}}


def request(number, method, params):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def initialize(version):
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": CLIENT}
    return request(0, "initialize", params)


INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


@pytest.fixture
async def exchange(stdio_program):
    """Return a function that sends messages over stdio and returns the responses by ID."""
    process = await asyncio.create_subprocess_exec(
        *stdio_program, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )

    async def exchange(*messages):
        for message in messages:
            process.stdin.write(json.dumps(message).encode() + b"\n")
        answers = {}
        for _ in [message for message in messages if "id" in message]:
            answer = json.loads(await process.stdout.readline())
            answers[answer["id"]] = answer
        return answers

    yield exchange
    process.stdin.close()
    await process.wait()


@pytest.mark.parametrize("version", HANDSHAKE_VERSIONS)
async def test_versions_with_a_handshake_are_supported(exchange, version):
    answers = await exchange(
        initialize(version),
        INITIALIZED,
        request(1, "tools/list", {}),
        request(2, "tools/call", CALL),
    )
    assert answers[0]["result"]["protocolVersion"] == version
    assert answers[0]["result"]["capabilities"]["tools"] == {"listChanged": False}
    assert len(answers[1]["result"]["tools"]) == 3
    assert answers[2]["result"]["structuredContent"] == {"ok": {"quotient": 0.5}}


async def test_unknown_version_gets_the_newest_with_a_handshake(exchange):
    answers = await exchange(initialize("1999-01-01"))
    assert answers[0]["result"]["protocolVersion"] == "2025-11-25"


async def test_version_without_a_handshake_is_supported(exchange):
    answers = await exchange(
        request(1, "server/discover", {"_meta": ENVELOPE}),
        request(2, "tools/list", {"_meta": ENVELOPE}),
        request(3, "tools/call", CALL | {"_meta": ENVELOPE}),
    )
    assert LATEST in answers[1]["result"]["supportedVersions"]
    assert len(answers[2]["result"]["tools"]) == 3
    assert answers[3]["result"]["resultType"] == "complete"
    assert answers[3]["result"]["structuredContent"] == {"ok": {"quotient": 0.5}}


async def test_unknown_method_is_a_protocol_error(exchange):
    answers = await exchange(initialize("2025-06-18"), INITIALIZED, request(1, "tools/forget", {}))
    assert answers[1]["error"]["code"] == -32601


@pytest.fixture
async def post(catalogue, serve_app):
    """Return a function that posts one message over HTTP."""
    server = mcp_server(catalogue, name="memory", version="1")
    url = await serve_app(http_app(server, allowed_hosts=("tools.example",)))
    async with httpx.AsyncClient(base_url=url, trust_env=False) as http:

        async def post(message, **headers):
            accept = {"accept": "application/json, text/event-stream"}
            header_fields = {name.replace("_", "-"): value for name, value in headers.items()}
            return await http.post("/mcp", json=message, headers=accept | header_fields)

        yield post


def answer_of(response):
    """Return the message in a response, which is JSON or one server-sent event."""
    if response.headers["content-type"].startswith("application/json"):
        return response.json()
    [data] = [line for line in response.text.splitlines() if line.startswith("data: {")]
    return json.loads(data.removeprefix("data: "))


@pytest.mark.parametrize("version", HANDSHAKE_VERSIONS)
async def test_versions_with_a_handshake_are_supported_over_http(post, version):
    answer = answer_of(await post(initialize(version)))
    assert answer["result"]["protocolVersion"] == version
    response = await post(request(2, "tools/call", CALL), mcp_protocol_version=version)
    assert answer_of(response)["result"]["structuredContent"] == {"ok": {"quotient": 0.5}}


async def test_http_has_no_sessions(post):
    response = await post(initialize("2025-06-18"))
    assert "mcp-session-id" not in response.headers


async def test_version_without_a_handshake_is_supported_over_http(post):
    response = await post(
        request(1, "tools/call", CALL | {"_meta": ENVELOPE}),
        mcp_protocol_version=LATEST,
        mcp_method="tools/call",
        mcp_name=CALL["name"],
    )
    assert answer_of(response)["result"]["structuredContent"] == {"ok": {"quotient": 0.5}}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 403),
        ({"host": "tools.example"}, 200),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "http://localhost:3000"}, 200),
    ],
)
async def test_dns_rebinding_page_is_refused(post, headers, status):
    assert (await post(initialize("2025-06-18"), **headers)).status_code == status
