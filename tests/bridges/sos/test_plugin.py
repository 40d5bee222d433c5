"""`context.tool_module`: tools that a system loads when its context is loaded."""

ONE = '@sos_tool\ndef one():\n    """One."""\n    return 1'


def system(*loads):
    lines = "\n".join(
        f"    load{n}: {{tool: context.tool_module, params: {{{load}}}}}"
        for n, load in enumerate(loads)
    )
    return f"hook:\n  on_context_load:\n{lines}\naction: {{go: {{x: {{tool: mine.one}}}}}}\n"


async def outcome_of(place, write_system, discover, text):
    file = write_system(text)
    [tool] = (await discover(file)).tools
    return await tool.invoke({})


async def test_namespace_is_the_last_part_of_the_target(place, write, write_system, discover):
    write("some/where/mine/t.py", ONE)
    outcome = await outcome_of(
        place, write_system, discover, system(f"target: {place}/some/where/mine")
    )
    assert outcome.ports["results"] == {"x": {"result": 1}}


async def test_relative_target_starts_at_the_systems_folder(place, write, write_system, discover):
    write("mine/t.py", ONE)
    outcome = await outcome_of(place, write_system, discover, system("target: mine"))
    assert outcome.ports["results"] == {"x": {"result": 1}}


async def test_duplicate_name_is_an_err(place, write, write_system, discover):
    write("a/mine/t.py", ONE)
    write("b/mine/t.py", ONE.replace("return 1", "return 2"))
    text = system("target: a/mine", "target: b/mine")
    outcome = await outcome_of(place, write_system, discover, text)
    assert (outcome.variant, outcome.ports["type"]) == ("err", "RegistrationError")
    assert outcome.ports["reason"] == "mine.one is already registered"


async def test_duplicate_name_may_be_overwritten(place, write, write_system, discover):
    write("a/mine/t.py", ONE)
    write("b/mine/t.py", ONE.replace("return 1", "return 2"))
    text = system("target: a/mine", "target: b/mine, overwrite: true")
    outcome = await outcome_of(place, write_system, discover, text)
    assert outcome.ports["results"] == {"x": {"result": 2}}


async def test_call_of_a_refused_tool_reports_the_reason(place, write, write_system, discover):
    write("mine/t.py", "@sos_tool\ndef one():\n    return 1")
    outcome = await outcome_of(place, write_system, discover, system("target: mine"))
    assert outcome.ports["reason"] == "unknown tool 'mine.one': the function has no docstring"


async def test_folder_without_tools_is_an_err(place, write_system, discover):
    outcome = await outcome_of(place, write_system, discover, system("target: nowhere"))
    assert (outcome.variant, outcome.ports["type"]) == ("err", "FileNotFoundError")


async def test_plugins_may_be_loaded_by_an_action(place, write, write_system, discover):
    write("mine/t.py", ONE)
    outcome = await outcome_of(
        place,
        write_system,
        discover,
        """
        action:
          go:
            load: {tool: context.tool_module, params: {target: mine}}
            x: {tool: mine.one}
        """,
    )
    assert outcome.ports["results"] == {
        "load": {"namespace": "mine", "tools": ["mine.one"]},
        "x": {"result": 1},
    }
