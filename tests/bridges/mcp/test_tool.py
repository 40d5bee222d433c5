"""Calls of the tools of a stdio server."""

import asyncio
import json
import os
from contextlib import suppress
from dataclasses import replace

import pytest

from nexus_tools.bridges import Naming
from nexus_tools.bridges.mcp import McpBridge
from nexus_tools.bridges.sandbox import ProcessLimits
from nexus_tools.errors import ValidationError
from nexus_tools.tool import FqnPatterns
from nexus_tools.tool_server import NotReadyError

TEXT = {"content": [{"type": "text", "text": "hello"}]}


async def test_text_result_has_content_and_text(plain, serve_tools):
    plain.tell("greet", TEXT)
    tools = await serve_tools(plain.file)
    outcome = await tools["greet"].invoke({})
    assert outcome.as_json() == {"ok": {"content": TEXT["content"], "text": "hello"}}


async def test_blocks_of_every_kind_are_unchanged(plain, serve_tools):
    blocks = [
        {"type": "text", "text": "a", "annotations": {"audience": ["user"], "priority": 0.5}},
        {"type": "image", "data": "aGk=", "mimeType": "image/png"},
        {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"},
        {"type": "resource", "resource": {"uri": "file:///a", "text": "b", "_meta": {"x": 1}}},
        {"type": "resource_link", "uri": "file:///a", "name": "a", "size": 3},
    ]
    plain.tell("blocks", {"content": blocks})
    tools = await serve_tools(plain.file)
    assert (await tools["blocks"].invoke({})).as_json() == {"ok": {"content": blocks}}


async def test_structured_content_without_a_schema_is_a_port(plain, serve_tools):
    plain.tell("echo", "echo", inputSchema={"type": "object", "properties": {"a": {}}})
    tools = await serve_tools(plain.file)
    outcome = await tools["echo"].invoke({"a": [1, None]})
    assert outcome.ports["structured"] == {"a": [1, None]}


async def test_structured_content_with_a_schema_is_the_ports(plain, serve_tools):
    schema = {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]}
    plain.tell("add", TEXT | {"structuredContent": {"sum": 3}}, outputSchema=schema)
    tools = await serve_tools(plain.file)
    assert (await tools["add"].invoke({})).as_json() == {"ok": {"sum": 3}}


async def test_invalid_port_names_are_exchanged_both_ways(plain, serve_tools):
    schema = {"type": "object", "properties": {"perPage": {"type": "integer"}}}
    plain.tell("echo", "echo", inputSchema=schema, outputSchema=schema)
    tools = await serve_tools(plain.file)
    outcome = await tools["echo"].invoke({"per_page": 5})
    assert outcome.as_json() == {"ok": {"per_page": 5}}


async def test_arguments_that_cannot_be_ports_are_one_port(plain, serve_tools):
    schema = {"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
    plain.tell("echo", "echo", inputSchema=schema)
    tools = await serve_tools(plain.file)
    outcome = await tools["echo"].invoke({"arguments": {"b": 1}})
    assert outcome.ports["structured"] == {"b": 1}


async def test_invalid_input_is_refused_before_the_server_is_called(plain, serve_tools):
    plain.tell("end", "end", inputSchema={"type": "object", "required": ["a"]})
    tools = await serve_tools(plain.file)
    with pytest.raises(ValidationError) as raised:
        await tools["end"].invoke({})
    assert raised.value.code == "input_invalid"


async def test_tool_error_is_err_with_its_text(plain, serve_tools):
    content = [{"type": "text", "text": "no such city"}]
    plain.tell("weather", {"content": content, "isError": True})
    tools = await serve_tools(plain.file)
    outcome = await tools["weather"].invoke({})
    assert outcome.as_json() == {"err": {"reason": "no such city", "content": content}}


async def test_error_without_text_is_err(plain, serve_tools):
    plain.tell("weather", {"content": [], "isError": True})
    tools = await serve_tools(plain.file)
    outcome = await tools["weather"].invoke({})
    assert outcome.ports["reason"] == "the tool reported an error without a message"


async def test_structured_content_that_violates_its_schema_is_err(plain, serve_tools):
    schema = {"type": "object", "properties": {"sum": {"type": "integer"}}}
    plain.tell("add", TEXT | {"structuredContent": {"sum": "three"}}, outputSchema=schema)
    tools = await serve_tools(plain.file)
    outcome = await tools["add"].invoke({})
    assert outcome.is_error
    assert "does not match its output schema" in outcome.ports["reason"]
    assert "/ok/sum" in outcome.ports["reason"]


async def test_missing_structured_content_is_err(plain, serve_tools):
    plain.tell("add", TEXT, outputSchema={"type": "object"})
    tools = await serve_tools(plain.file)
    outcome = await tools["add"].invoke({})
    assert "no structured content" in outcome.ports["reason"]
    assert outcome.ports["content"] == TEXT["content"]


async def test_result_that_violates_the_protocol_is_err(plain, serve_tools):
    plain.tell("odd", {"content": [{"type": "smell", "data": "roses"}]})
    tools = await serve_tools(plain.file)
    outcome = await tools["odd"].invoke({})
    assert outcome.is_error
    assert "the server's response violates the protocol" in outcome.ports["reason"]


async def test_too_deep_content_is_err(plain, serve_tools):
    deep = json.loads("[" * 70 + "]" * 70)
    plain.tell("deep", TEXT | {"structuredContent": {"deep": deep}})
    tools = await serve_tools(plain.file)
    outcome = await tools["deep"].invoke({})
    assert outcome.is_error
    assert "nests deeper" in outcome.ports["reason"]


async def test_protocol_error_is_err_with_its_code(plain, serve_tools):
    plain.tell("greet", TEXT)
    tools = await serve_tools(plain.file)
    plain.document["results"].clear()
    plain.save()
    outcome = await tools["greet"].invoke({})
    assert outcome.as_json() == {
        "err": {"reason": "the server rejected the request: Unknown tool: greet", "code": -32602}
    }


async def test_server_requests_to_users_are_declined(plain, serve_tools):
    plain.tell("ask", "ask")
    tools = await serve_tools(plain.file)
    outcome = await tools["ask"].invoke({})
    answer = json.loads(outcome.ports["text"])
    assert answer["error"]["message"] == "Elicitation not supported"


async def test_slow_call_is_err_and_others_continue(plain, serve_tools, host):
    plain.tell("hang", "say_nothing")
    plain.tell("greet", TEXT)
    tools = await serve_tools(plain.file, host=replace(host, timeout_ms=1_000))
    late, soon = await asyncio.gather(tools["hang"].invoke({}), tools["greet"].invoke({}))
    assert late.ports == {"reason": "the server did not respond within 0.5 s", "limit": "time"}
    assert soon.variant == "ok"


async def test_cancelled_call_is_reported_to_the_server(plain, serve_tools, host):
    plain.tell("hang", "say_nothing")
    plain.tell("heard", "tell_notifications")
    tools = await serve_tools(plain.file, host=replace(host, timeout_ms=1_000))
    await tools["hang"].invoke({})
    outcome = await tools["heard"].invoke({})
    assert json.loads(outcome.ports["text"]) == [
        "notifications/initialized",
        "notifications/cancelled",
    ]


async def test_server_that_stops_reading_blocks_no_caller(plain, serve_tools, host):
    plain.tell("freeze", "read_no_more")
    tools = await serve_tools(plain.file, host=replace(host, timeout_ms=1_000))
    large = {"text": "x" * 200_000}  # more than the buffer of a pipe
    async with asyncio.timeout(4):
        outcome = await tools["freeze"].invoke(large)
        with pytest.raises(NotReadyError, match="was not sent"):
            await tools["freeze"].invoke(large)
    assert outcome.ports["limit"] == "time"


async def test_ended_server_is_err(plain, serve_tools):
    plain.tell("end", "end")
    tools = await serve_tools(plain.file)
    outcome = await tools["end"].invoke({})
    assert outcome.ports == {"reason": "the server exited with code 3"}


async def test_server_output_is_in_the_error_only_per_call(plain, serve_tools):
    plain.tell("end", "end")
    tools = await serve_tools(plain.file, per_call=True)
    outcome = await tools["end"].invoke({})
    assert outcome.ports == {
        "reason": "the server exited with code 3",
        "log": "there is no way on",
    }


async def test_caller_does_not_see_server_output_of_another_call(plain, serve_tools):
    plain.tell("whisper", "whisper")
    plain.tell("end", "end")
    tools = await serve_tools(plain.file)
    await tools["whisper"].invoke({"password": "hunter2"})
    outcome = await tools["end"].invoke({})
    assert outcome.is_error
    assert "hunter2" not in str(outcome.as_json())


async def test_per_call_servers_share_no_state(plain, serve_tools):
    plain.tell("look", "surroundings")
    shared, alone = [
        [json.loads((await tools["look"].invoke({})).ports["text"])["pid"] for _ in range(2)]
        for tools in (await serve_tools(plain.file), await serve_tools(plain.file, per_call=True))
    ]
    assert len(set(shared)) == 1
    assert len(set(alone)) == 2


async def test_per_call_server_has_the_time_of_the_call(plain, serve_tools, host):
    plain.tell("hang", "say_nothing")
    for timeout_ms in (1_000, 4_000, 16_000, 64_000):
        limited = replace(host, timeout_ms=timeout_ms)
        tools = await serve_tools(plain.file, host=limited, per_call=True)
        with suppress(NotReadyError):  # a slow machine did not start the server in time
            outcome = await tools["hang"].invoke({})
            break
    assert outcome.ports["limit"] == "time"


async def test_too_long_message_stops_the_server(plain, serve_tools, host):
    plain.tell("flood", "flood")
    limits = ProcessLimits(output_bytes=100_000)
    tools = await serve_tools(plain.file, host=replace(host, limits=limits))
    outcome = await tools["flood"].invoke({})
    assert outcome.ports["limit"] == "output"


async def test_memory_limit_stops_the_server(plain, serve_tools, host):
    plain.tell("big", "take_memory")
    limits = ProcessLimits(memory_bytes=150 * 2**20)
    tools = await serve_tools(plain.file, host=replace(host, limits=limits))
    outcome = await tools["big"].invoke({})
    assert outcome.is_error
    assert outcome.ports.get("limit") == "memory" or "exited with code" in outcome.ports["reason"]


async def test_non_message_output_is_ignored(plain, serve_tools):
    plain.tell("chatter", "chatter")
    tools = await serve_tools(plain.file)
    assert (await tools["chatter"].invoke({})).ports["text"] == '"said"'


async def test_server_has_its_own_home_and_directory_and_no_secrets(plain, serve_tools, host):
    plain.server["env"] = {"LABEL": "${SHARED}", "PLAIN": "${PRIVATE:-yes}"}
    plain.declare(plain=plain.server)
    plain.tell("surroundings", "surroundings")
    names = {"LANG": "C.UTF-8", "SHARED": "short", "PRIVATE": "s3cr3t"}
    environment = {"PATH": host.environment["PATH"], **names}
    mine = replace(host, environment=environment, shared=frozenset({"SHARED"}))
    tools = await serve_tools(plain.file, host=mine)
    surroundings = json.loads((await tools["surroundings"].invoke({})).ports["text"])
    environment = surroundings["environment"]
    assert {"LABEL": "short", "SHARED": "short", "PLAIN": "yes"}.items() <= environment.items()
    assert "PRIVATE" not in environment
    assert environment["HOME"].startswith(str(host.scratch))
    assert surroundings["directory"].startswith(str(host.scratch))
    assert environment.keys() <= {
        *("PATH", "LANG", "LC_CTYPE", "HOME", "TMPDIR", "LABEL", "PLAIN", "SHARED"),
        *("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"),
        "XDG_STATE_HOME",
    }


async def test_server_runs_in_the_declared_directory(plain, serve_tools, tmp_path):
    (tmp_path / "here").mkdir()
    plain.declare(plain=plain.server | {"cwd": "here"})
    plain.tell("surroundings", "surroundings")
    tools = await serve_tools(plain.file)
    surroundings = json.loads((await tools["surroundings"].invoke({})).ports["text"])
    assert surroundings["directory"] == str(tmp_path / "here")


async def test_one_process_answers_all_calls(plain, serve_tools):
    plain.tell("surroundings", "surroundings")
    tools = await serve_tools(plain.file)
    outcomes = [await tools["surroundings"].invoke({}) for _ in range(2)]
    first, second = [json.loads(outcome.ports["text"])["pid"] for outcome in outcomes]
    assert first == second


async def test_processes_of_a_server_end_with_it(plain, host):
    plain.tell("start", "start_another")
    discovery = await McpBridge().discover(plain.file, host, Naming())
    async with discovery.running():
        outcome = await discovery.tools[0].invoke({})
        pid = int(outcome.ports["text"])
        os.kill(pid, 0)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert list(host.scratch.iterdir()) == []


async def test_tool_is_not_called_before_it_is_served(plain, host):
    plain.tell("greet", TEXT)
    discovery = await McpBridge().discover(plain.file, host, Naming())
    with pytest.raises(NotReadyError, match="the server is not running"):
        await discovery.tools[0].invoke({})


async def test_hints_and_title_are_kept_in_the_input_schema(plain, serve_tools):
    hints = {"readOnlyHint": True, "destructiveHint": False}
    plain.tell("greet", TEXT, title="Say hello", annotations=hints)
    tools = await serve_tools(plain.file)
    assert tools["greet"].input_schema["x-mcp-annotations"] == {
        "title": "Say hello",
        "readOnlyHint": True,
        "destructiveHint": False,
    }
    assert (await tools["greet"].invoke({})).variant == "ok"


async def test_server_without_served_tools_is_not_kept_running(plain, host):
    plain.tell("greet", TEXT)
    discovery = await McpBridge().discover(plain.file, host, Naming())
    none, all_ = discovery.select(FqnPatterns(exclude=("greet",))), discovery.select(FqnPatterns())
    [tool] = discovery.tools
    async with none.running():
        assert (await tool.check_health())["running"] is False
    async with all_.running():
        assert (await tool.check_health())["running"] is True
