import pytest

from nexus_tools.errors import ValidationError


def tool_text(body, parameters=""):
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return f'@sos_tool\ndef one({parameters}):\n    """One."""\n{lines}\n'


async def test_argument_of_the_wrong_type_never_reaches_the_tool(write, only_tool):
    write("ns/t.py", tool_text("return a", 'a: Annotated[int, Field(description="A")]'))
    with pytest.raises(ValidationError) as raised:
        await (await only_tool()).invoke({"a": "4"})
    assert raised.value.code == "input_invalid"
    assert [each["pointer"] for each in raised.value.details["failures"]] == ["/a"]


async def test_tool_exception_is_an_err_with_its_class(write, only_tool):
    write("ns/t.py", tool_text("print('working')\nraise LookupError('no such thing')"))
    outcome = await (await only_tool()).invoke({})
    assert outcome.variant == "err"
    assert (outcome.ports["type"], outcome.ports["reason"]) == ("LookupError", "no such thing")
    assert "working" in outcome.ports["log"]


async def test_exiting_tool_is_an_err(write, only_tool):
    write("ns/t.py", tool_text("import os; os._exit(7)"))
    outcome = await (await only_tool()).invoke({})
    assert (outcome.variant, outcome.ports["exit_code"]) == ("err", 7)


async def test_non_json_result_is_an_err(write, only_tool):
    write("ns/t.py", tool_text("import sys; return {'module': sys}"))
    outcome = await (await only_tool()).invoke({})
    assert (outcome.variant, outcome.ports["type"]) == ("err", "NotJsonError")
    assert "the result cannot be converted to JSON" in outcome.ports["reason"]


async def test_non_json_number_is_an_err(write, only_tool):
    write("ns/t.py", tool_text("return float('inf')"))
    assert (await (await only_tool()).invoke({})).variant == "err"


async def test_paths_sets_and_models_become_json(write, only_tool):
    body = "from pathlib import Path\nreturn {'path': Path('/a/b'), 'set': {1}, 'tuple': (1, None)}"
    write("ns/t.py", tool_text(body))
    outcome = await (await only_tool()).invoke({})
    assert outcome.ports["result"] == {"path": "/a/b", "set": [1], "tuple": [1, None]}


async def test_changed_default_is_fresh_in_the_next_call(write, only_tool):
    parameter = 'seen: Annotated[List[int], Field(description="Seen")] = []'
    write("ns/t.py", tool_text("seen.append(1)\nreturn seen", parameter))
    tool = await only_tool()
    await tool.invoke({})
    assert (await tool.invoke({})).ports["result"] == {"result": [1]}


async def test_tool_output_does_not_disturb_the_result(write, only_tool):
    write("ns/t.py", tool_text("print('{\"ok\": false}')\nreturn 1"))
    assert (await (await only_tool()).invoke({})).ports == {"result": {"result": 1}}


async def test_tool_does_not_see_the_operators_environment(write, only_tool):
    write("ns/t.py", tool_text("import os; return dict(os.environ)"))
    ports = (await (await only_tool()).invoke({})).ports
    assert "OPERATORS_SECRET" not in ports["result"]
    assert ports["result"]["HOME"].startswith(str((await only_tool())._host.scratch))


async def test_nothing_is_written_beside_the_tools(write, place, only_tool):
    write("ns/t.py", tool_text("open('left.txt', 'w').write('x')\nreturn 1"))
    tool = await only_tool()
    await tool.invoke({})
    assert [file.name for file in place.rglob("*") if file.is_file()] == ["t.py"]


async def test_tool_calls_a_tool_of_a_neighbouring_namespace(write, discover):
    write("ns/t.py", tool_text("return SOS_TOOL.get('other.two')(n=1)"))
    write(
        "other/t.py",
        '@sos_tool\ndef two(n: Annotated[int, Field(description="N")]):\n    """Two."""\n'
        "    return n + 1",
    )
    tools = {tool.fqn.name: tool for tool in (await discover()).tools}
    assert (await tools["one"].invoke({})).ports["result"] == {"result": 2}


async def test_module_imports_its_neighbours_relatively(write, only_tool):
    write("ns/_shared.py", "WORD = 'shared'")
    write("ns/t.py", "from ._shared import WORD\n" + tool_text("return WORD"))
    assert (await (await only_tool()).invoke({})).ports["result"] == {"result": "shared"}


async def test_namespace_does_not_shadow_a_package_of_its_name(write, only_tool):
    write("json/t.py", "import json\n" + tool_text("return json.loads('[1]')"))
    assert (await (await only_tool()).invoke({})).ports["result"] == {"result": [1]}


async def test_result_callbacks_are_returned_but_not_run(write, only_tool):
    write("ns/t.py", tool_text("return ResultObject(callbacks=[{'tool': 'no.such'}])"))
    outcome = await (await only_tool()).invoke({})
    assert outcome.ports == {"result": {}, "callbacks": [{"tool": "no.such"}]}


async def test_callbacks_in_a_dictionary_are_not_part_of_the_result(write, only_tool):
    write("ns/t.py", tool_text("return {'a': 1, 'callbacks': [{'tool': 'no.such'}]}"))
    outcome = await (await only_tool()).invoke({})
    assert outcome.ports == {"result": {"a": 1}, "callbacks": [{"tool": "no.such"}]}
