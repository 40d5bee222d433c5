"""The examples in SOS-Toolkit's document on tools, verbatim."""


async def test_function_is_registered_by_its_folder_and_name(write, only_tool):
    write(
        "test_namespace/test.py",
        '@sos_tool\ndef test_tool():\n    """A Test Tool"""\n    return True',
    )
    tool = await only_tool()
    assert str(tool.fqn) == "xyz.example.test_namespace.test_tool@1"


async def test_docstring_is_the_description(write, only_tool):
    write(
        "test_namespace/test.py",
        '@sos_tool\ndef test_tool():\n    """A Test Tool"""\n    return True',
    )
    assert (await only_tool()).description == "A Test Tool"


async def test_non_dictionary_is_put_in_a_dictionary(write, only_tool):
    write(
        "test_namespace/test.py",
        '@sos_tool\ndef test_tool():\n    """A Test Tool"""\n    return True',
    )
    outcome = await (await only_tool()).invoke({})
    assert (outcome.variant, outcome.ports) == ("ok", {"result": {"result": True}})


async def test_dictionary_is_the_result_itself(write, only_tool):
    write("ns/t.py", '@sos_tool\ndef pair():\n    """Two."""\n    return {"a": 1, "b": (2, 3)}')
    outcome = await (await only_tool()).invoke({})
    assert outcome.ports["result"] == {"a": 1, "b": [2, 3]}


async def test_none_is_put_in_a_dictionary(write, only_tool):
    write("ns/t.py", '@sos_tool\ndef nothing():\n    """Nothing."""')
    outcome = await (await only_tool()).invoke({})
    assert outcome.ports["result"] == {"result": None}


PRINT_CONTEXT = '''
import json

@sos_tool
def print_context(
    __CTX__: Annotated[Optional[SOSContext], Field(description="SOSContext Object")],
    ctx_target: Annotated[Optional[str], Field(description="Target Object to Print")] = None,
    horizontal_rule: Annotated[bool, Field(description="Whether to draw lines")] = False,
):
    """Print the current context to the terminal"""
    if horizontal_rule:
        print("-" * 10)
    if ctx_target is not None:
        print(json.dumps(__CTX__.get(ctx_target, None)))
    else:
        __CTX__.print()
    return True
'''


async def test_types_descriptions_and_defaults_are_in_the_input_schema(write, only_tool):
    write("terminal/print.py", PRINT_CONTEXT)
    schema = (await only_tool()).input_schema
    assert schema["properties"]["horizontal_rule"] == {
        "type": "boolean",
        "description": "Whether to draw lines",
        "default": False,
    }
    target = schema["properties"]["ctx_target"]
    assert target["anyOf"] == [{"type": "string"}, {"type": "null"}]
    assert target["description"] == "Target Object to Print"
    assert target["default"] is None
    assert schema.get("required", []) == []
    assert schema["additionalProperties"] is False


async def test_context_is_a_port_and_not_a_parameter(write, only_tool):
    write("terminal/print.py", PRINT_CONTEXT)
    tool = await only_tool()
    assert set(tool.input_schema["properties"]) == {"ctx_target", "horizontal_rule", "context"}


async def test_print_context_receives_the_context(write, only_tool):
    write("terminal/print.py", PRINT_CONTEXT)
    given = {"namespace": {"greeting": "hello"}}
    outcome = await (await only_tool()).invoke({"ctx_target": "namespace", "context": given})
    assert outcome.ports == {"result": {"result": True}, "context": given}


async def test_print_context_works_in_an_action(write, write_system, place, discover):
    write("terminal/print.py", PRINT_CONTEXT)
    write_system("""
        hook: {on_context_load: {load: {tool: context.tool_module, params: {target: terminal}}}}
        action:
          test_print:
            tool: terminal.print_context
            params:
              horizontal_rule: True
    """)
    found = await discover(place / "sos-system.yaml")
    [chain] = found.tools
    outcome = await chain.invoke({})
    assert outcome.ports["results"] == {"result": True}
