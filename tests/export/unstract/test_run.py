"""RUN against a tool server: what the tool is sent, and what becomes of its responses."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from datetime import datetime

import anyio
import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from nexus_tools.tool import ToolFqn


def errors(messages):
    assert {(message["type"], message["level"]) for message in messages} == {("LOG", "ERROR")}
    return [message["log"] for message in messages]


def endpoint(answer):
    return Starlette(routes=[Route("/invoke", answer, methods=["POST"])])


@pytest.fixture
def recorded(serve):
    """A tool that gives 3, and the requests that it had."""
    requests = []

    async def answer(request):
        requests.append((request, await request.json()))
        return JSONResponse({"ok": {"result": 3}})

    return serve(endpoint(answer)), requests


def test_the_tool_is_sent_its_ports_and_the_headers_of_an_invocation(exported, recorded):
    url, requests = recorded
    exported("RUN", {"a": 1, "b": 2}, environment={"NEXUS_TOOL_URL": url})
    exported("RUN", {"a": 1, "b": 2}, environment={"NEXUS_TOOL_URL": url})
    [(request, body), (again, _)] = requests
    assert body == {"a": 1, "b": 2}
    assert request.headers["content-type"] == "application/json"
    assert request.headers["nexus-tool"] == "xyz.example.math.add@2"
    assert request.headers["nexus-max-outcome-bytes"] == "10485760"
    assert datetime.fromisoformat(request.headers["nexus-deadline"]).tzinfo is not None
    assert request.headers["idempotency-key"] != again.headers["idempotency-key"]
    assert "authorization" not in request.headers


@pytest.mark.parametrize(
    ("given", "sent"), [("a-token", "Bearer a-token"), ("Basic dTpw", "Basic dTpw")]
)
def test_the_tool_is_sent_the_authorization(exported, recorded, given, sent):
    url, requests = recorded
    variables = {"NEXUS_TOOL_URL": url, "NEXUS_TOOL_AUTHORIZATION": given}
    exported("RUN", {"a": 1, "b": 2}, environment=variables)
    assert requests[0][0].headers["authorization"] == sent


def test_an_authorization_that_is_no_header_is_not_repeated(exported):
    variables = {"NEXUS_TOOL_AUTHORIZATION": "secret\nX: y"}
    code, messages, printed = exported("RUN", {"a": 1, "b": 2}, environment=variables)
    assert code == 1
    assert "NEXUS_TOOL_AUTHORIZATION" in errors(messages)[0]
    assert "secret" not in json.dumps(messages) + printed


def test_variables_come_from_a_file_where_they_are_not_set(exported, recorded, tmp_path):
    url, requests = recorded
    (tmp_path / "env").write_text(
        f"# where\nNEXUS_TOOL_URL={url}\nNEXUS_TOOL_AUTHORIZATION='of the file'\n"
    )
    exported(
        "RUN",
        {"a": 1, "b": 2},
        environment={"NEXUS_TOOL_AUTHORIZATION": "of the environment"},
        arguments=["--env", str(tmp_path / "env")],
    )
    assert requests[0][0].headers["authorization"] == "of the environment"


def test_an_error_variant_ends_the_run(exported):
    code, messages, _ = exported("RUN", {"a": 900, "b": 200})
    expected = {"reason": "more than a thousand", "limit": 1_000}
    assert (code, errors(messages)) == (
        1,
        [f"The tool gave err_overflow: {json.dumps(expected)}"],
    )


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"a": 1}, ["Invalid settings: b is missing"]),
        ({"a": "1", "b": 2}, ["Invalid settings: a is not of type integer"]),
        ({"a": True, "b": 2}, ["Invalid settings: a is not of type integer"]),
        ({"a": 1, "b": 2, "c": 3}, ["Invalid settings: c is unknown"]),
        ("[1]", ["The settings are no JSON object"]),
    ],
)
def test_settings_that_are_seen_to_be_wrong_are_not_sent(exported, settings, expected):
    nowhere = {"NEXUS_TOOL_URL": "http://127.0.0.1:9"}
    code, messages, _ = exported("RUN", settings, environment=nowhere)
    assert (code, errors(messages)) == (1, expected)


@pytest.mark.parametrize("settings", ["{", '{"a": NaN}'])
def test_settings_that_are_no_json_are_refused(exported, settings):
    code, messages, _ = exported("RUN", settings)
    assert code == 1
    assert errors(messages)[0].startswith("The settings are not JSON")


def test_a_whole_number_may_be_written_as_a_fraction(exported):
    _, messages, _ = exported("RUN", '{"a": 1.0, "b": 2}')
    assert messages[-1]["result"]["output"] == {"ok": {"result": 3}}


def test_each_place_that_the_tool_finds_wrong_is_told(export, definition):
    loose = replace(definition, input_schema={"type": "object"})
    code, messages, _ = export(loose)("RUN", {"a": "x"})
    said = errors(messages)
    assert code == 1
    assert said[0].startswith("The tool responded HTTP 422: ")
    assert {line.partition(":")[0] for line in said[1:]} == {"#", "#/a"}


def test_a_tool_that_broke_ends_the_run_without_its_secrets(exported):
    code, messages, _ = exported("RUN", {"a": 1, "b": -1})
    [said] = errors(messages)
    assert code == 1
    assert said.startswith("The tool responded HTTP 500: ")
    assert "secret" not in said


def test_another_tool_at_the_address_refuses_the_call(export, definition):
    other = replace(definition, fqn=ToolFqn.parse("xyz.example.math.other@1"))
    code, messages, _ = export(other)("RUN", {"a": 1, "b": 2})
    assert code == 1
    assert "HTTP 404" in errors(messages)[0]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (JSONResponse({"ok": {}, "more": {}}), "The tool's response is no object with one variant"),
        (JSONResponse({"ok": 3}), "The tool's response is no object with one variant"),
        (JSONResponse({"other": {}}), "The tool gave other, which is none of its variants"),
        (Response("hello"), "The tool's response is not JSON"),
        (RedirectResponse("/elsewhere"), "The tool responded HTTP 307: Temporary Redirect"),
        (Response("<html>", 502), "The tool responded HTTP 502: Bad Gateway"),
    ],
)
def test_a_response_that_is_no_answer_ends_the_run(exported, serve, answer, expected):
    async def responding(request):
        return answer

    url = serve(endpoint(responding))
    code, messages, _ = exported("RUN", {"a": 1, "b": 2}, environment={"NEXUS_TOOL_URL": url})
    assert code == 1
    assert errors(messages)[0].startswith(expected)


def test_an_answer_that_is_too_large_ends_the_run(exported, serve):
    async def large(request):
        return Response(b" " * (10 * 2**20 + 1))

    url = serve(endpoint(large))
    code, messages, _ = exported("RUN", {"a": 1, "b": 2}, environment={"NEXUS_TOOL_URL": url})
    assert (code, errors(messages)) == (1, ["The tool responded with more than 10485760 bytes"])


def test_an_answer_that_never_ends_is_ended(export, definition, serve):
    async def endless(request):
        async def parts():
            while not await request.is_disconnected():
                yield b" "
                await anyio.sleep(0.05)

        return StreamingResponse(parts())

    tool = export(definition, timeout_ms=500)
    url = serve(endpoint(endless))
    code, messages, _ = tool("RUN", {"a": 1, "b": 2}, environment={"NEXUS_TOOL_URL": url})
    assert (code, errors(messages)) == (1, ["The tool did not respond within 0.5 s"])


def test_a_tool_that_is_not_there_ends_the_run(exported):
    environment = {"NEXUS_TOOL_URL": "http://127.0.0.1:9"}
    code, messages, _ = exported("RUN", {"a": 1, "b": 2}, environment=environment)
    assert code == 1
    assert errors(messages)[0].startswith("The tool at http://127.0.0.1:9 cannot be reached")


@pytest.mark.parametrize("url", ["file:///etc/passwd", "http://", "tools.example.com"])
def test_an_address_that_is_none_ends_the_run(exported, url):
    code, messages, _ = exported("RUN", {"a": 1, "b": 2}, environment={"NEXUS_TOOL_URL": url})
    assert (code, errors(messages)) == (1, [f"The tool's URL is no http or https address: {url}"])


def test_it_runs_from_any_directory(exported):
    main = exported.folder / "src" / "main.py"
    finished = subprocess.run(
        [sys.executable, str(main), "--command", "SPEC"],
        cwd=os.sep,
        capture_output=True,
        check=True,
    )
    assert json.loads(finished.stdout)["type"] == "SPEC"
