from nexus_tools.bridges.sos.child_client import DANGEROUS_TOOLS


def builtin(name):
    return f'@sos_tool\ndef {name}():\n    """Something."""\n    return 1'


async def test_dangerous_tools_are_refused_with_the_reason(write, discover):
    for full_name in DANGEROUS_TOOLS:
        namespace, name = full_name.split(".")
        write(f"{namespace}/{name}.py", builtin(name))
    discovery = await discover()
    assert not discovery.tools
    assert {refusal.reason for refusal in discovery.rejected} == set(DANGEROUS_TOOLS.values())
    assert all("--allow-dangerous" in refusal.hint for refusal in discovery.rejected)


async def test_dangerous_tools_are_served_when_allowed(write, only_tool):
    write("cli/cmd.py", builtin("cmd_popen"))
    tool = await only_tool(allow_dangerous=True)
    assert (await tool.invoke({})).ports["result"] == {"result": 1}


async def test_terminal_prompt_gets_no_answer(write, only_tool):
    write(
        "terminal/input.py", '@sos_tool\ndef input_prompt():\n    """Asks."""\n    return input()'
    )
    tool = await only_tool(allow_dangerous=True)
    outcome = await tool.invoke({})
    assert (outcome.variant, outcome.ports["type"]) == ("err", "EOFError")


async def test_action_with_a_dangerous_tool_is_refused(write_system, discover):
    write_system("action: {a: {b: {tool: cli.cmd_popen}}}")
    [refusal] = (await discover()).rejected
    assert "it calls cli.cmd_popen" in refusal.reason


async def test_hook_with_a_dangerous_tool_is_refused(write_system, discover):
    write_system("""
        hook: {on_context_load: {a: {tool: filesystem.directory_delete}}}
        action: {a: {b: {tool: ns.one}}}
    """)
    [refusal] = (await discover()).rejected
    assert "it calls filesystem.directory_delete" in refusal.reason


async def test_action_with_an_interpolated_dangerous_tool_is_refused(
    write, write_system, place, discover
):
    write("cli/cmd.py", builtin("cmd_popen"))
    write_system("""
        namespace: {which: ns.one}
        hook: {on_context_load: {load: {tool: context.tool_module, params: {target: cli}}}}
        action: {a: {b: {tool: "${namespace.which}"}}}
    """)
    [chain] = (await discover(place / "sos-system.yaml")).tools
    outcome = await chain.invoke({"context": {"namespace": {"which": "cli.cmd_popen"}}})
    assert outcome.ports["type"] == "DeniedToolError"
