import asyncio
import gzip
import socket

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route

from nexus_tools.tool_server import ToolServer
from nexus_tools.tool_server.conformance import Status, check_tool
from nexus_tools.tool_server.testing import client

pytestmark = pytest.mark.anyio

URL = "https://tools.example.com"


@pytest.fixture
def meta(add):
    return add.definition(URL).as_json()


def _app(document, **answers):
    """A tool of foreign make; `answers` replace its response at an endpoint."""

    async def invoke(request):
        ports = await request.json()
        if set(ports) != {"a", "b"}:
            return JSONResponse({}, 422)
        return JSONResponse({"ok": {"result": ports["a"] + ports["b"]}})

    async def answer(request):
        response = answers.get(request.url.path.strip("/"))
        if response is not None:
            return response
        if request.url.path == "/meta":
            return JSONResponse(document)
        return PlainTextResponse("") if request.url.path == "/health" else await invoke(request)

    return Starlette(
        routes=[
            Route("/health", answer),
            Route("/meta", answer),
            Route("/invoke", answer, methods=["POST"]),
        ]
    )


async def _rows(app, url=URL):
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app)) as http:
        return {row.name: row async for row in check_tool(url, http)}


def _failed_checks(rows):
    return [name for name, row in rows.items() if row.status is Status.FAILED]


async def test_conforming_tool_passes_every_check(meta):
    rows = await _rows(_app(meta))
    assert {name: row.status for name, row in rows.items()} == dict.fromkeys(
        [
            "reachable",
            "tls",
            "health",
            "definition",
            "fqn",
            "url",
            "schemas",
            "ports and variants",
            "bounds",
            "invoke with a valid input",
            "invoke with a bad input",
        ],
        Status.PASSED,
    )


@pytest.mark.parametrize("path", ["", "/add", "/xyz.example.math.add@1"])
async def test_our_own_server_passes_every_check(add, path):
    async with client(ToolServer([add], public_url=URL)) as http:
        rows = [row async for row in check_tool(URL + path, http)]
    assert {row.status for row in rows} == {Status.PASSED}


@pytest.mark.parametrize(
    ("changes", "failed"),
    [
        ({"fqn": "add@1"}, ["fqn"]),
        ({"url": "https://elsewhere.example"}, ["url"]),
        ({"timeout": 1}, ["bounds"]),
        ({"description": "x" * 5_000}, ["bounds"]),
        ({"extra": 1}, ["definition"]),
        (
            {"input_schema": {"type": "nothing"}},
            ["schemas"],
        ),
        (
            {"output_schema": {"type": "object"}},
            ["ports and variants"],
        ),
        (
            {"input_schema": {"type": "object", "properties": {"a": {"$ref": "http://x.example"}}}},
            ["schemas"],
        ),
    ],
)
async def test_check_reports_invalid_definition(meta, changes, failed):
    assert _failed_checks(await _rows(_app(meta | changes))) == failed


@pytest.mark.parametrize(
    ("endpoint", "response", "failed"),
    [
        ("health", PlainTextResponse("", 204), ["health"]),
        ("health", PlainTextResponse("", 503), ["health"]),
        ("health", PlainTextResponse("", 302, {"location": "/meta"}), ["health"]),
        ("meta", PlainTextResponse("", 500), ["definition"]),
        ("meta", PlainTextResponse("no json"), ["definition"]),
        ("meta", JSONResponse([]), ["definition"]),
        (
            "invoke",
            JSONResponse({"ok": {"result": "3"}}),
            ["invoke with a valid input", "invoke with a bad input"],
        ),
        ("invoke", JSONResponse({}, 422), ["invoke with a valid input"]),
        ("invoke", JSONResponse({}, 500), ["invoke with a valid input", "invoke with a bad input"]),
        ("invoke", JSONResponse({}, 401), []),
    ],
)
async def test_check_reports_invalid_endpoint(meta, endpoint, response, failed):
    assert _failed_checks(await _rows(_app(meta, **{endpoint: response}))) == failed


async def test_signed_requests_are_not_probed(meta):
    rows = await _rows(_app(meta, invoke=JSONResponse({}, 401)))
    assert rows["invoke with a valid input"].status is Status.SKIPPED


async def test_failed_check_has_a_hint(meta):
    row = (await _rows(_app(meta | {"url": "https://elsewhere.example"})))["url"]
    assert "https://elsewhere.example" in row.message
    assert row.hint


async def test_unreachable_tool_fails_one_check_and_skips_others():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    async with httpx.AsyncClient() as http:
        rows = [row async for row in check_tool(f"http://127.0.0.1:{port}", http)]
    assert rows[0].status is Status.FAILED
    assert {row.status for row in rows[1:]} == {Status.SKIPPED}


@pytest.mark.parametrize(
    ("url", "status"),
    [
        ("http://tools.example.com", Status.FAILED),
        ("http://127.0.0.1:8080", Status.SKIPPED),
        ("http://localhost", Status.SKIPPED),
        ("https://tools.example.com", Status.PASSED),
    ],
)
async def test_tls_is_required_except_on_loopback(meta, url, status):
    assert (await _rows(_app(meta), url))["tls"].status is status


async def test_compressed_response_is_not_decompressed():
    asked = []

    async def compressing(scope, _receive, send):
        asked.append(dict(scope["headers"])[b"accept-encoding"])
        headers = [(b"content-encoding", b"gzip, gzip")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": gzip.compress(gzip.compress(b"{}"))})

    rows = await _rows(compressing)
    assert rows["reachable"].status is Status.FAILED
    assert "compressed" in rows["reachable"].message
    assert asked[0] == b"identity"


async def test_endless_response_is_cut_off():
    async def endless(_scope, _receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(12):
            await send({"type": "http.response.body", "body": b"x" * 2**20, "more_body": True})
            await asyncio.sleep(0)
        await send({"type": "http.response.body", "body": b""})

    rows = await _rows(endless)
    assert rows["reachable"].status is Status.FAILED
    assert "longer than" in rows["reachable"].message
