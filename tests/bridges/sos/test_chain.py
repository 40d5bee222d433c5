"""Actions of a `sos-system.yaml`, each served as one tool."""

import pytest

from nexus_tools.errors import ValidationError


async def test_actions_run_in_order_and_return_results_by_name(run):
    outcome = await run("""
        action:
          go:
            first: {tool: math.note, params: {word: one}}
            second: {tool: math.note, params: {word: two}}
            third: {tool: math.add, params: {a: 1, b: 2}}
    """)
    assert outcome.variant == "ok"
    assert outcome.ports["results"] == {
        "first": {"result": None},
        "second": {"result": None},
        "third": {"result": 3},
    }
    assert outcome.ports["context"]["namespace"] == {"words": ["one", "two"]}


async def test_plain_list_of_actions_has_labels_or_indices_as_names(run):
    outcome = await run("""
        action:
          go:
            - {tool: math.add, params: {a: 1}}
            - {tool: math.add, params: {a: 2}, label: named}
    """)
    assert outcome.ports["results"] == {"0": {"result": 1}, "named": {"result": 2}}


async def test_nested_lists_have_nested_results(run):
    outcome = await run("action: {go: {outer: {inner: {tool: math.add, params: {a: 1}}}}}")
    assert outcome.ports["results"] == {"outer": {"inner": {"result": 1}}}


async def test_single_action_returns_its_own_result(run):
    outcome = await run("action: {go: {tool: math.add, params: {a: 1}}}")
    assert outcome.ports["results"] == {"result": 1}


async def test_context_map_overrides_params(run):
    outcome = await run("""
        namespace: {number: 40}
        action:
          go:
            sum:
              tool: math.add
              params: {a: 1, b: 2}
              context_map: [{data: namespace.number, result: a}]
    """)
    assert outcome.ports["results"] == {"sum": {"result": 42}}


async def test_result_map_overwrites_the_context(run):
    outcome = await run("""
        namespace: {sum: 0}
        action:
          go:
            sum:
              tool: math.add
              params: {a: 1, b: 2}
              result_map: [{data: result, result: namespace.sum}]
    """)
    assert outcome.ports["context"]["namespace"] == {"sum": 3}


async def test_caller_values_override_those_of_the_system(run):
    outcome = await run(
        """
        namespace: {host: here, port: 80, url: "http://${namespace.host}:${namespace.port}/"}
        action: {go: {it: {tool: math.give, params: {value: "${namespace.url}"}}}}
        """,
        {"namespace": {"host": "there"}},
    )
    assert outcome.ports["results"] == {"it": {"value": "http://there:80/"}}


async def test_caller_values_are_never_interpolated(run):
    outcome = await run(
        """
        namespace: {word: x, secret: s}
        action: {go: {it: {tool: math.give, params: {value: "<${namespace.word}>"}}}}
        """,
        {"namespace": {"word": "${namespace.secret}"}},
    )
    assert outcome.ports["results"] == {"it": {"value": "<${namespace.secret}>"}}


@pytest.mark.parametrize("section", ["action", "hook", "meta"])
async def test_caller_cannot_define_actions(chain, section):
    tool = await chain("action: {go: {tool: math.add, params: {a: 1}}}")
    with pytest.raises(ValidationError) as raised:
        await tool.invoke({"context": {section: {"go": {"tool": "math.fail"}}}})
    assert raised.value.code == "input_invalid"


async def test_failing_action_makes_the_whole_an_err(run):
    outcome = await run("""
        action:
          go:
            one: {tool: math.add, params: {a: 1}}
            two: {tool: math.fail}
    """)
    assert (outcome.variant, outcome.ports["type"]) == ("err", "ValueError")
    assert outcome.ports["reason"] == "no luck"


async def test_unknown_tool_is_an_err(run):
    outcome = await run("action: {go: {one: {tool: math.nothing}}}")
    assert (outcome.variant, outcome.ports["type"]) == ("err", "UnknownToolError")
    assert "math.nothing" in outcome.ports["reason"]


async def test_break_ends_the_list_without_a_failure(run):
    outcome = await run("""
        action:
          go:
            one: {tool: math.add, params: {a: 1}}
            out: {tool: math.leave, params: {info: enough}}
            two: {tool: math.fail}
    """)
    assert outcome.variant == "ok"
    assert outcome.ports["results"] == {"one": {"result": 1}, "out": {}}
    assert outcome.ports["broke"] == "enough"


async def test_complete_list_reports_no_break(run):
    outcome = await run("action: {go: {one: {tool: math.add, params: {a: 1}}}}")
    assert "broke" not in outcome.ports


async def test_disabled_action_is_skipped(run):
    outcome = await run("action: {go: {one: {tool: math.fail, disabled: true}}}")
    assert outcome.ports["results"] == {"one": {}}


CONDITIONS = [
    # condition, value of namespace.x, whether SOS-Toolkit runs the action
    ("valid: [a, b]", "b", True),
    ("valid: a, is_inverse: true", "a", False),
    ("valid: a, comparison: equal, raise_exc: true", "b", False),
]


@pytest.mark.parametrize(("condition", "value", "runs"), CONDITIONS)
async def test_action_runs_if_its_condition_holds(run, condition, value, runs):
    outcome = await run(
        f"""
        action:
          go: {{one: {{tool: math.add, params: {{a: 1}},
                condition: [{{ctx_key: namespace.x, {condition}}}]}}}}
        """,
        {"namespace": {"x": value}},
    )
    assert outcome.ports["results"] == {"one": {"result": 1} if runs else {}}


async def test_all_conditions_must_hold(run):
    outcome = await run("""
        namespace: {x: 1}
        action:
          go:
            one:
              tool: math.fail
              condition: [{ctx_key: namespace.x, valid: [1]}, {ctx_key: namespace.y, valid: no}]
    """)
    assert outcome.ports["results"] == {"one": {}}


async def test_unknown_comparison_is_an_err(run):
    outcome = await run("""
        action: {go: {one: {tool: math.add, params: {a: 1},
          condition: [{ctx_key: namespace.x, comparison: range}]}}}
    """)
    assert (outcome.variant, outcome.ports["type"]) == ("err", "RuntimeError")


async def test_unknown_action_field_is_an_err(run):
    outcome = await run("action: {go: {one: {tool: math.add, parms: {a: 1}}}}")
    assert outcome.variant == "err"
    assert "parms" in outcome.ports["reason"]


RESULTS = """
    action:
      go:
        one: {tool: math.give, params: {value: 1}}
        two: {tool: math.note, params: {word: between}, disabled: true}
        three: {tool: math.last}
"""


async def test_result_is_available_to_later_actions(run):
    outcome = await run(RESULTS)
    assert outcome.ports["results"]["three"] == {"last": {"value": 1}}


async def test_result_is_dropped_after_its_action_on_request(run):
    outcome = await run(RESULTS, keep_result=False)
    assert (outcome.variant, outcome.ports["type"]) == ("err", "RuntimeError")
    assert "requires the result" in outcome.ports["reason"]


async def test_result_is_gone_after_its_list_of_actions(run):
    outcome = await run("""
        action:
          go:
            list: {one: {tool: math.give, params: {value: 1}}}
            after: {tool: math.last}
    """)
    assert "requires the result" in outcome.ports["reason"]


async def test_first_action_has_no_previous_result(run):
    outcome = await run("action: {go: {one: {tool: math.last}}}")
    assert "requires the result" in outcome.ports["reason"]


async def test_context_map_reads_the_previous_result(run):
    outcome = await run("""
        action:
          go:
            one: {tool: math.give, params: {value: {deep: [7]}}}
            two: {tool: math.add, context_map: [{data: "__RESULT__.data.value.deep[0]", result: a}]}
    """)
    assert outcome.ports["results"]["two"] == {"result": 7}


async def test_result_callbacks_run_in_reverse_order(run):
    outcome = await run("action: {go: {one: {tool: math.call_back, params: {words: [a, b]}}}}")
    assert outcome.ports["results"] == {"one": {"n": 2}}
    assert outcome.ports["context"]["namespace"] == {"words": ["b", "a"]}


async def test_callback_has_the_result_of_its_tool(run):
    outcome = await run(
        """
        action:
          go:
            one: {tool: math.give, params: {value: 5}, callbacks: [{tool: math.note_result}]}
        """,
        keep_result=False,
    )
    assert outcome.ports["context"]["namespace"] == {"noted": {"value": 5}}


async def test_params_stay_unchanged_when_a_map_changes_them(run):
    outcome = await run("""
        namespace: {n: 5}
        action:
          go:
            one: {tool: math.give, params: &p {value: {a: 1}},
                  context_map: [{data: namespace.n, result: value.b}]}
            two: {tool: math.give, params: *p}
    """)
    assert outcome.ports["results"] == {
        "one": {"value": {"a": 1, "b": 5}},
        "two": {"value": {"a": 1}},
    }


async def test_unresolvable_value_is_an_err(run):
    outcome = await run('action: {go: {one: {tool: math.give, params: {value: "${no.where}"}}}}')
    assert (outcome.variant, outcome.ports["type"]) == ("err", "InterpolationError")


async def test_action_sees_values_of_earlier_actions(run):
    outcome = await run("""
        namespace: {n: 1}
        action:
          go:
            one: {tool: math.add, params: {a: 5}, result_map: [{data: result, result: namespace.n}]}
            two: {tool: math.add, context_map: [{data: namespace.n, result: a}]}
    """)
    assert outcome.ports["results"]["two"] == {"result": 5}


async def test_calls_share_no_state(chain):
    tool = await chain("action: {go: {one: {tool: math.note, params: {word: x}}}}")
    await tool.invoke({})
    outcome = await tool.invoke({})
    assert outcome.ports["context"]["namespace"] == {"words": ["x"]}


async def test_chain_has_the_name_of_its_system_and_action(chain):
    tool = await chain("meta: {system_name: Shop}\naction: {sell: {one: {tool: math.fail}}}")
    assert str(tool.fqn) == "xyz.example.shop.sell@1"


async def test_system_without_a_name_has_that_of_its_folder(chain):
    tool = await chain("action: {sell: {one: {tool: math.fail}}}")
    assert str(tool.fqn) == "xyz.example.place.sell@1"


async def test_action_without_a_tool_is_refused(write_system, discover):
    write_system("action: {empty: {}, text: hello}")
    discovery = await discover()
    assert not discovery.tools
    assert [refusal.reason for refusal in discovery.rejected] == [
        "none of its actions names a tool"
    ] * 2


async def test_action_may_refer_to_another_action(write, write_system, discover):
    write("math/t.py", '@sos_tool\ndef one():\n    """One."""\n    return 1')
    file = write_system("""
        hook: {on_context_load: {load: {tool: context.tool_module, params: {target: math}}}}
        action:
          go: {one: {tool: math.one}}
          again: {first: "${action.go}", second: "${action.go.one}"}
    """)
    tools = {tool.fqn.name: tool for tool in (await discover(file)).tools}
    outcome = await tools["again"].invoke({})
    assert outcome.ports["results"] == {"first": {"one": {"result": 1}}, "second": {"result": 1}}


async def test_actions_may_call_tools_of_operator_folders(write, write_system, discover, place):
    write("math/t.py", '@sos_tool\ndef one():\n    """One."""\n    return 1')
    file = write_system("action: {go: {x: {tool: math.one}}}")
    [tool] = (await discover(file)).tools
    assert (await tool.invoke({})).ports["type"] == "UnknownToolError"
    [tool] = (await discover(file, tools=[place])).tools
    assert (await tool.invoke({})).ports["results"] == {"x": {"result": 1}}


async def test_non_json_object_passes_between_actions(write, write_system, discover):
    write(
        "mine/t.py",
        """
        @sos_tool
        def make():
            '''Makes a function.'''
            return {"twice": lambda n: 2 * n, "name": "twice"}

        @sos_tool
        def use(__RESULT__: Annotated[ResultObject, Field(description="A function")]):
            '''Uses it.'''
            return __RESULT__.data["twice"](21)
        """,
    )
    file = write_system("""
        hook: {on_context_load: {load: {tool: context.tool_module, params: {target: mine}}}}
        action: {go: {one: {tool: mine.make}, two: {tool: mine.use}}}
    """)
    [tool] = (await discover(file)).tools
    outcome = await tool.invoke({})
    assert outcome.ports["results"] == {"one": {"name": "twice"}, "two": {"result": 42}}
    assert outcome.ports["left_out"] == ["results.one.twice"]


async def test_tool_name_is_never_a_path(write_system, discover, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "t.py").write_text("raise SystemExit('it was loaded')  # sos_tool, sos_toolkit")
    file = write_system(f'action: {{go: {{x: {{tool: "{elsewhere}.one"}}}}}}')
    [tool] = (await discover(file, tools=[tmp_path])).tools
    assert (await tool.invoke({})).ports["type"] == "UnknownToolError"
