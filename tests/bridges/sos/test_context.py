"""`__CTX__` and `__RESULT__`: the special parameters of a tool."""

import pytest

from nexus_tools.errors import ValidationError

CTX = '__CTX__: Annotated[SOSContext, Field(description="Context")]'
RESULT = '__RESULT__: Annotated[ResultObject, Field(description="Result")]'


def tool_text(body, *parameters):
    return f'@sos_tool\ndef one({", ".join(parameters)}):\n    """One."""\n    {body}\n'


async def test_values_set_by_a_tool_are_in_the_returned_context(write, only_tool):
    write("ns/t.py", tool_text('__CTX__.set("namespace.a.b", [1, 2])', CTX))
    outcome = await (await only_tool()).invoke({"context": {"namespace": {"c": 3}}})
    assert outcome.ports["context"] == {"namespace": {"a": {"b": [1, 2]}, "c": 3}}


async def test_context_is_optional(write, only_tool):
    write("ns/t.py", tool_text('return __CTX__.get("namespace.a", "none")', CTX))
    outcome = await (await only_tool()).invoke({})
    assert outcome.ports == {"result": {"result": "none"}, "context": {}}


async def test_value_is_overwritten_only_on_request(write, only_tool):
    write("ns/t.py", tool_text('__CTX__.set("namespace.a", 2)', CTX))
    outcome = await (await only_tool()).invoke({"context": {"namespace": {"a": 1}}})
    assert outcome.variant == "err"
    assert "'namespace.a' already has a value" in outcome.ports["reason"]


async def test_sections_are_attributes(write, only_tool):
    write("ns/t.py", tool_text("return __CTX__.namespace.a.b", CTX))
    outcome = await (await only_tool()).invoke({"context": {"namespace": {"a": {"b": 5}}}})
    assert outcome.ports["result"] == {"result": 5}


async def test_tool_runs_an_action_of_its_context(write, discover):
    write("ns/t.py", tool_text('return __CTX__.run("action.both")["x"].data', CTX))
    write("other/t.py", '@sos_tool\ndef two():\n    """Two."""\n    return 2')
    tools = {tool.fqn.name: tool for tool in (await discover()).tools}
    action = {"both": {"x": {"tool": "other.two"}}}
    outcome = await tools["one"].invoke({"context": {"action": action}})
    assert outcome.ports["result"] == {"result": 2}


async def test_action_of_a_tools_context_must_not_be_dangerous(write, discover):
    write("ns/t.py", tool_text('return __CTX__.run("action.bad")', CTX))
    write("cli/c.py", '@sos_tool\ndef cmd_popen():\n    """Anything."""\n    return 1')
    discovery = await discover()
    [tool] = discovery.tools
    action = {"bad": {"x": {"tool": "cli.cmd_popen"}}}
    outcome = await tool.invoke({"context": {"action": action}})
    assert outcome.ports["type"] == "DeniedToolError"


async def test_result_is_required_when_a_tool_takes_one(write, only_tool):
    write("ns/t.py", tool_text("return __RESULT__.data", RESULT))
    tool = await only_tool()
    with pytest.raises(ValidationError, match="result"):
        await tool.invoke({})
    outcome = await tool.invoke({"result": {"data": {"a": 1}}})
    assert outcome.ports == {"result": {"a": 1}}


async def test_context_and_result_precede_the_parameters(write, only_tool):
    n = 'n: Annotated[int, Field(description="N")]'
    write(
        "ns/t.py",
        tool_text("return [__CTX__.has('namespace'), __RESULT__.data, n]", CTX, RESULT, n),
    )
    outcome = await (await only_tool()).invoke({"result": {"data": {}}, "n": 1})
    assert outcome.ports["result"] == {"result": [True, {}, 1]}


async def test_parameters_keep_names_that_equal_the_special_ports(write, only_tool):
    further_parameters = [
        f'{name}: Annotated[int, Field(description="N")]' for name in ("context", "result")
    ]
    write(
        "ns/t.py",
        tool_text("return [context, result, __RESULT__.data]", CTX, RESULT, *further_parameters),
    )
    arguments = {"context": 1, "result": 2, "sos_result": {"data": {"a": 3}}, "sos_context": {}}
    outcome = await (await only_tool()).invoke(arguments)
    assert outcome.ports["result"] == {"result": [1, 2, {"a": 3}]}


async def test_context_parameter_is_not_a_port(write, only_tool):
    other = 'other: Annotated[Optional[SOSContext], Field(description="Other")] = None'
    write("ns/t.py", tool_text("return other", other))
    tool = await only_tool()
    assert tool.input_schema["properties"] == {}
    assert (await tool.invoke({})).ports == {"result": {"result": None}}


async def test_non_json_final_context_is_an_err(write, only_tool):
    write("ns/t.py", tool_text('__CTX__.set("namespace.a", object())', CTX))
    outcome = await (await only_tool()).invoke({})
    assert (outcome.variant, outcome.ports["type"]) == ("err", "NotJsonError")
