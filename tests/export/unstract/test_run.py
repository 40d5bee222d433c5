"""RUN with a tool server: the requests to the tool, and the handling of its responses."""

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
def recording_tool(serve):
    """Return a tool that returns 3, and the list of its requests."""
    requests = []

    async def answer(request):
        requests.append((request, await request.json()))
        return JSONResponse({"ok": {"result": 3}})

    return serve(endpoint(answer)), requests


def test_tool_receives_its_ports_and_the_invocation_headers(exported_tool, recording_tool):
    url, requests = recording_tool
    exported_tool("RUN", {"a": 1, "b": 2}, environment={"NEXUS_TOOL_URL": url})
    exported_tool("RUN", {"a": 1, "b": 2}, environment={"NEXUS_TOOL_URL": url})
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
def test_tool_receives_the_authorization(exported_tool, recording_tool, given, sent):
    url, requests = recording_tool
    variables = {"NEXUS_TOOL_URL": url, "NEXUS_TOOL_AUTHORIZATION": given}
    exported_tool("RUN", {"a": 1, "b": 2}, environment=variables)
    assert requests[0][0].headers["authorization"] == sent


def test_invalid_authorization_is_not_repeated(exported_tool):
    variables = {"NEXUS_TOOL_AUTHORIZATION": "secret\nX: y"}
    code, messages, output = exported_tool("RUN", {"a": 1, "b": 2}, environment=variables)
    assert code == 1
    assert "NEXUS_TOOL_AUTHORIZATION" in errors(messages)[0]
    assert "secret" not in json.dumps(messages) + output


def test_variables_are_read_from_a_file_if_unset(exported_tool, recording_tool, tmp_path):
    url, requests = recording_tool
    (tmp_path / "env").write_text(
        f"# where\nNEXUS_TOOL_URL={url}\nNEXUS_TOOL_AUTHORIZATION='of the file'\n"
    )
    exported_tool(
        "RUN",
        {"a": 1, "b": 2},
        environment={"NEXUS_TOOL_AUTHORIZATION": "of the environment"},
        arguments=["--env", str(tmp_path / "env")],
    )
    assert requests[0][0].headers["authorization"] == "of the environment"


def test_error_variant_ends_the_run(exported_tool):
    code, messages, _ = exported_tool("RUN", {"a": 900, "b": 200})
    expected = {"reason": "more than a thousand", "limit": 1_000}
    assert (code, errors(messages)) == (
        1,
        [f"The tool returned err_overflow: {json.dumps(expected)}"],
    )


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"a": 1}, ["Invalid settings: b is missing"]),
        ({"a": "1", "b": 2}, ["Invalid settings: a is not of type integer"]),
        ({"a": True, "b": 2}, ["Invalid settings: a is not of type integer"]),
        ({"a": 1, "b": 2, "c": 3}, ["Invalid settings: c is unknown"]),
        ("[1]", ["The settings are not a JSON object"]),
    ],
)
def test_invalid_settings_are_not_sent(exported_tool, settings, expected):
    nowhere = {"NEXUS_TOOL_URL": "http://127.0.0.1:9"}
    code, messages, _ = exported_tool("RUN", settings, environment=nowhere)
    assert (code, errors(messages)) == (1, expected)


@pytest.mark.parametrize("settings", ["{", '{"a": NaN}'])
def test_non_json_settings_are_refused(exported_tool, settings):
    code, messages, _ = exported_tool("RUN", settings)
    assert code == 1
    assert errors(messages)[0].startswith("The settings are not JSON")


def test_integer_may_be_written_as_a_fraction(exported_tool):
    _, messages, _ = exported_tool("RUN", '{"a": 1.0, "b": 2}')
    assert messages[-1]["result"]["output"] == {"ok": {"result": 3}}


def test_each_invalid_location_from_the_tool_is_reported(export, definition):
    loose = replace(definition, input_schema={"type": "object"})
    code, messages, _ = export(loose)("RUN", {"a": "x"})
    lines = errors(messages)
    assert code == 1
    assert lines[0].startswith("The tool responded HTTP 422: ")
    assert {line.partition(":")[0] for line in lines[1:]} == {"#", "#/a"}


def test_tool_failure_ends_the_run_without_its_secrets(exported_tool):
    code, messages, _ = exported_tool("RUN", {"a": 1, "b": -1})
    [lines] = errors(messages)
    assert code == 1
    assert lines.startswith("The tool responded HTTP 500: ")
    assert "secret" not in lines


def test_another_tool_at_the_url_refuses_the_call(export, definition):
    other = replace(definition, fqn=ToolFqn.parse("xyz.example.math.other@1"))
    code, messages, _ = export(other)("RUN", {"a": 1, "b": 2})
    assert code == 1
    assert "HTTP 404" in errors(messages)[0]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (
            JSONResponse({"ok": {}, "more": {}}),
            "The tool's response is not an object with one variant",
        ),
        (JSONResponse({"ok": 3}), "The tool's response is not an object with one variant"),
        (JSONResponse({"other": {}}), "The tool returned other, which is not one of its variants"),
        (Response("hello"), "The tool's response is not JSON"),
        (RedirectResponse("/elsewhere"), "The tool responded HTTP 307: Temporary Redirect"),
        (Response("<html>", 502), "The tool responded HTTP 502: Bad Gateway"),
    ],
)
def test_invalid_response_ends_the_run(exported_tool, serve, answer, expected):
    async def responding(request):
        return answer

    url = serve(endpoint(responding))
    code, messages, _ = exported_tool("RUN", {"a": 1, "b": 2}, environment={"NEXUS_TOOL_URL": url})
    assert code == 1
    assert errors(messages)[0].startswith(expected)


def test_too_large_answer_ends_the_run(exported_tool, serve):
    async def large(request):
        return Response(b" " * (10 * 2**20 + 1))

    url = serve(endpoint(large))
    code, messages, _ = exported_tool("RUN", {"a": 1, "b": 2}, environment={"NEXUS_TOOL_URL": url})
    assert (code, errors(messages)) == (1, ["The tool responded with more than 10485760 bytes"])


def test_endless_answer_is_stopped(export, definition, serve):
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


def test_missing_tool_ends_the_run(exported_tool):
    environment = {"NEXUS_TOOL_URL": "http://127.0.0.1:9"}
    code, messages, _ = exported_tool("RUN", {"a": 1, "b": 2}, environment=environment)
    assert code == 1
    assert errors(messages)[0].startswith("Cannot reach the tool at http://127.0.0.1:9")


@pytest.mark.parametrize("url", ["file:///etc/passwd", "http://", "tools.example.com"])
def test_invalid_url_ends_the_run(exported_tool, url):
    code, messages, _ = exported_tool("RUN", {"a": 1, "b": 2}, environment={"NEXUS_TOOL_URL": url})
    assert (code, errors(messages)) == (1, [f"The tool's URL is not an http or https URL: {url}"])


def test_program_runs_from_any_directory(exported_tool):
    main = exported_tool.folder / "src" / "main.py"
    finished = subprocess.run(
        [sys.executable, str(main), "--command", "SPEC"],
        cwd=os.sep,
        capture_output=True,
        check=True,
    )
    assert json.loads(finished.stdout)["type"] == "SPEC"
