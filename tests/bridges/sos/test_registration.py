NAMED = '''
@sos_tool
def {name}({parameters}):
    """A tool."""
    return 1
'''

NUMBER = 'a: Annotated[int, Field(description="A")]'

REFUSED = {
    "bare annotation": ("a: int", "'a' must be annotated with Annotated and Field"),
    "no annotation": ("a", "'a' must be annotated with Annotated and Field"),
    "no field": ("a: Annotated[int, 5]", "'a' has no description"),
    "no description": ("a: Annotated[int, Field(ge=0)]", "'a' has no description"),
    "positional only": (
        'a: Annotated[int, Field(description="A")], /',
        "'a' must accept a keyword argument",
    ),
    "any number": (
        '*a: Annotated[int, Field(description="A")]',
        "'a' must accept a keyword argument",
    ),
    "any keyword": (
        '**a: Annotated[int, Field(description="A")]',
        "'a' must accept a keyword argument",
    ),
    "a function": (
        'a: Annotated[__import__("typing").Callable, Field(description="A")]',
        "JSON cannot represent the parameter 'a'",
    ),
    "an object": (
        'a: Annotated[SOS, Field(description="A")]',
        "JSON cannot represent the parameter 'a'",
    ),
    "context that is needed": (
        'a: Annotated[SOSContext, Field(description="A")]',
        "JSON cannot represent the SOSContext that 'a' requires",
    ),
    "context in the wrong place": (
        f'{NUMBER}, __CTX__: Annotated[SOSContext, Field(description="C")]',
        "__CTX__ must be its first parameter",
    ),
    "result in the wrong place": (
        f'{NUMBER}, __RESULT__: Annotated[ResultObject, Field(description="R")]',
        "__RESULT__ must be its first parameter",
    ),
}


async def only_reason(discover):
    found = await discover()
    assert not found.tools
    [refusal] = found.rejected
    return refusal.reason


async def test_forbidden_parameters_are_refused(write, discover):
    functions = [
        NAMED.format(name=f"wrong{number}", parameters=parameters)
        for number, (parameters, _) in enumerate(REFUSED.values())
    ]
    file = write("ns/t.py", "class SOS: pass\n" + "".join(functions))
    found = await discover()
    assert not found.tools
    reasons = {refusal.source: refusal.reason for refusal in found.rejected}
    expected = {f"{file}:wrong{n}": reason for n, (_, reason) in enumerate(REFUSED.values())}
    assert reasons.keys() == expected.keys()
    assert [words for place, words in expected.items() if words not in reasons[place]] == []


async def test_function_without_docstring_is_refused(write, discover):
    write("ns/t.py", "@sos_tool\ndef silent():\n    return 1")
    assert await only_reason(discover) == "the function has no docstring"


async def test_async_function_is_refused(write, discover):
    write("ns/t.py", '@sos_tool\nasync def later():\n    """Later."""')
    assert "async" in await only_reason(discover)


async def test_refusal_names_the_file_and_the_function(write, discover):
    file = write("ns/t.py", "@sos_tool\ndef silent():\n    return 1")
    [refusal] = (await discover()).rejected
    assert (refusal.system, refusal.source) == ("sos", f"{file}:silent")


async def test_folder_with_an_invalid_identifier_is_not_a_namespace(write, discover):
    write("my-tools/t.py", '@sos_tool\ndef one():\n    """One."""')
    assert "'my-tools' is not a Python identifier" in await only_reason(discover)


async def test_second_tool_with_a_name_is_refused_and_the_first_stays(write, discover):
    write("ns/a.py", '@sos_tool\ndef one():\n    """The first."""')
    second = write("ns/b.py", '@sos_tool\ndef one():\n    """The second."""')
    found = await discover()
    assert [tool.description for tool in found.tools] == ["The first."]
    assert [(each.source, each.reason) for each in found.rejected] == [
        (f"{second}:one", "ns.one is already registered")
    ]


async def test_tool_may_be_overwritten_on_purpose(write, discover):
    write("ns/a.py", '@sos_tool\ndef one():\n    """The first."""')
    write(
        "ns/b.py",
        'def one():\n    """The second."""\n\nSOS_TOOL.register(one, overwrite=True)  # sos_tool',
    )
    found = await discover()
    assert [tool.description for tool in found.tools] == ["The second."]


async def test_builtin_generics_and_unions_are_accepted(write, only_tool):
    write(
        "ns/t.py",
        """
        @sos_tool
        def modern(
            names: Annotated[list[str], Field(description="Names")],
            limit: Annotated[int | None, Field(description="How many")] = None,
        ):
            '''New annotations.'''
            return names[:limit]
        """,
    )
    outcome = await (await only_tool()).invoke({"names": ["a", "b"], "limit": 1})
    assert outcome.ports["result"] == {"result": ["a"]}


async def test_string_annotations_are_read(place, discover):
    file = place / "ns" / "t.py"
    file.parent.mkdir()
    file.write_text(
        "from __future__ import annotations\n"
        "from typing import Annotated\nfrom pydantic import Field\n"
        "from sos_toolkit.meta import sos_tool\n"
        "@sos_tool\n"
        'def twice(n: Annotated[int, Field(description="A number")]):\n'
        '    """Twice."""\n'
        "    return 2 * n\n"
    )
    [tool] = (await discover()).tools
    outcome = await tool.invoke({"n": 21})
    assert outcome.ports["result"] == {"result": 42}


async def test_unimportable_file_is_refused_alone(write, discover):
    write("ns/bad.py", "import no_such_package")
    write("ns/good.py", '@sos_tool\ndef one():\n    """One."""')
    found = await discover()
    assert [tool.fqn.name for tool in found.tools] == ["one"]
    [refusal] = found.rejected
    assert "ModuleNotFoundError: No module named 'no_such_package'" in refusal.reason


async def test_file_that_kills_its_process_is_refused_alone(write, discover):
    file = write("ns/bad.py", "import os\nos._exit(3)")
    write("ns/good.py", '@sos_tool\ndef one():\n    """One."""')
    found = await discover()
    assert [tool.fqn.name for tool in found.tools] == ["one"]
    [refusal] = found.rejected
    assert refusal.source == str(file)
    assert "exited with code 3" in refusal.reason


async def test_more_than_32_parameters_go_into_one_port(write, only_tool):
    parameters = ", ".join(f'p{n}: Annotated[int, Field(description="P")] = {n}' for n in range(33))
    write("ns/t.py", f'@sos_tool\ndef many({parameters}):\n    """Many."""\n    return p0 + p32')
    tool = await only_tool()
    assert list(tool.input_schema["properties"]) == ["arguments"]
    outcome = await tool.invoke({"arguments": {"p0": 10}})
    assert outcome.ports["result"] == {"result": 42}


async def test_models_of_several_parameters_share_their_definitions(write, only_tool):
    write(
        "ns/t.py",
        """
        from pydantic import BaseModel

        class Point(BaseModel):
            x: int

        @sos_tool
        def line(
            start: Annotated[Point, Field(description="From")],
            end: Annotated[Point, Field(description="To")],
        ):
            '''A line.'''
            return end["x"] - start["x"]
        """,
    )
    tool = await only_tool()
    assert list(tool.input_schema["$defs"]) == ["Point"]
    outcome = await tool.invoke({"start": {"x": 1}, "end": {"x": 5}})
    assert outcome.ports["result"] == {"result": 4}
