"""Errors of invalid programs, with their lines."""

import runpy
import textwrap

import pytest

from nexus_tools.errors import NexusError, ValidationError
from tests.workflow.authoring.programs import (
    FOUND,
    JUDGED,
    ROUNDS,
    SUMMARY,
    assert_refused,
    names_in,
    rejection,
)


@pytest.mark.parametrize(
    ("program", "code", "message"),
    [
        (
            "flow.add(search, topc=topic)",
            "port_unknown",
            "the tool xyz.example.search@1 has no input port 'topc'",
        ),
        (
            "flow.add(improve, text=topic)",
            "port_missing",
            "the tool xyz.example.improve@1 needs a value for hints, topic",
        ),
        (
            "flow.add(write, notes=topic)",
            "value_mismatches",
            "the input topic is invalid for the port 'notes' of write: it is string",
        ),
        (
            "flow.add(summarise, paper=topic, words='many')",
            "value_mismatches",
            (
                "'many' is invalid for the port 'words' of summarise: the value is not of type "
                '"integer"'
            ),
        ),
        (
            "flow.add(summarise, paper=topic, words={1, 2})",
            "json_invalid",
            "invalid JSON: the value contains a set, which is not a JSON value",
        ),
        (
            "flow.add(summarise, paper=[topic])",
            "value_in_constant",
            "the input topic is inside a constant (list)",
        ),
        ("flow.add(len)", "tool_expected", "<built-in function len> is not a tool"),
        (
            "flow.add('search')",
            "fqn_invalid",
            "'search' is not a valid FQN: it has no version: '@' is missing",
        ),
        (
            "flow.add(tell_time, name='now?')",
            "name_invalid",
            "'now?' is not a valid name of a step",
        ),
        (
            "flow.add(greet, name=topic)",
            "name_ambiguous",
            "the tool xyz.example.greet@1 also has a port named name",
        ),
        ("flow.inputs(topic=str)", "name_in_use", "'topic' is already the name of an input"),
        ("flow.inputs(more=1)", "input_type_unknown", "1 is not a JSON type"),
        (
            "Workflow('report@1')",
            "fqn_invalid",
            "'report@1' is not a valid FQN: the domain before the name needs at least two labels",
        ),
        (
            "Workflow('xyz.example.report@1', 'x' * 4097)",
            "description_too_long",
            "the description must have at most 4096 bytes",
        ),
        (
            "flow.add(tell_time).retry(100)",
            "retry_invalid",
            "expected 0 to 99 retries, at most 90 days apart, got 100 retries, 0 seconds apart",
        ),
        (
            "flow.add(tell_time).retry('3')",
            "retry_invalid",
            "expected 0 to 99 retries, at most 90 days apart, got '3' retries, 0 seconds apart",
        ),
        (
            "flow.add(tell_time).retry(3, after=float('nan'))",
            "retry_invalid",
            "expected 0 to 99 retries, at most 90 days apart, got 3 retries, nan seconds apart",
        ),
        (
            "flow.add(tell_time).on_failure('stop')",
            "failure_action_unknown",
            "'stop' is not a failure action",
        ),
        (
            "flow.output('topic', topic)",
            "output_expected",
            "the input topic is not a value of a step",
        ),
        (
            "flow.first(topic, topic)",
            "alternatives_invalid",
            "first needs two or more values of steps",
        ),
        (
            "flow.for_each(topic)",
            "list_from_other_block",
            "the input topic is not a value of a step in the same block as the for_each",
        ),
    ],
)
def test_mistake_is_reported_with_its_line(program, code, message):
    assert_refused(program, code, 1, message)


@pytest.mark.parametrize(
    ("mistake", "code", "message"),
    [
        (
            "found.okay",
            "variant_unknown",
            "the tool xyz.example.search@1 has no variant 'okay'",
        ),
        (
            "found.ok.paper",
            "port_unknown",
            "search.ok of xyz.example.search@1 has no port 'paper'",
        ),
        (
            "found.failed.cause",
            "port_unknown",
            "search._err_eval of xyz.example.search@1 has no port 'cause'",
        ),
        (
            "assert found.ok.papers",
            "value_unknown_yet",
            "search.ok.papers is known only when the workflow runs",
        ),
        (
            "found.ok.papers == []",
            "value_unknown_yet",
            "search.ok.papers is known only when the workflow runs",
        ),
        (
            "[] != found.ok.papers",
            "value_unknown_yet",
            "search.ok.papers is known only when the workflow runs",
        ),
        (
            "for paper in found.ok.papers: pass",
            "value_unknown_yet",
            "the elements of search.ok.papers are known only when the workflow runs",
        ),
        (
            "f'about {found.ok.papers}'",
            "value_unknown_yet",
            "search.ok.papers is known only when the workflow runs",
        ),
        (
            "f'about {topic:>10}'",
            "value_unknown_yet",
            "the input topic is known only when the workflow runs",
        ),
        (
            "'about %s' % found.ok.papers",
            "value_unknown_yet",
            "search.ok.papers is known only when the workflow runs",
        ),
        (
            "'about ' + topic",
            "value_unknown_yet",
            "the input topic is known only when the workflow runs",
        ),
        *(
            (
                expression,
                "value_unknown_yet",
                "search.ok.papers is known only when the workflow runs",
            )
            for expression in (
                "found.ok.papers < 3",
                "2 >= found.ok.papers",
                "'x' in found.ok.papers",
                "len(found.ok.papers)",
                "int(found.ok.papers)",
                "2 * found.ok.papers - 1",
                "round(found.ok.papers / 2)",
                "-found.ok.papers",
            )
        ),
        (
            "for paper in flow.for_each(found.ok.papers): pass",
            "block_not_entered",
            "the for_each of line 2 is not iterable: write its steps once, in a `with` block",
        ),
        (
            "flow.add(summarise, paper=flow.for_each(found.ok.papers))",
            "port_unnamed",
            "the for_each of line 2 does not name a port",
        ),
        (
            "flow.add(write, found.ok.papers)",
            "port_unnamed",
            "<value search.ok.papers> is passed without the name of a port of xyz.example.write@1",
        ),
        (
            "found.retry(True)",
            "retry_invalid",
            "expected 0 to 99 retries, at most 90 days apart, got True retries, 0 seconds apart",
        ),
        ("flow.inputs(x='str')", "input_type_unknown", "'str' is not a JSON type"),
        ("f'{found.ok}'", "value_unknown_yet", "search.ok is known only when the workflow runs"),
        ("str(found)", "value_unknown_yet", "search is known only when the workflow runs"),
        (
            "topic.name",
            "value_unknown_yet",
            "the input topic cannot be indexed before the workflow runs",
        ),
        ("flow.add(write, notes=found)", "port_unnamed", "search does not name a port"),
        ("flow.add(write, notes=[found.ok])", "port_unnamed", "search.ok does not name a port"),
        ("flow.output('papers', found)", "port_unnamed", "search does not name a port"),
        (
            "flow.for_each(found.ok.papers, parallel='2')",
            "parallel_invalid",
            "parallel must be an integer from 1 to 1024, got '2'",
        ),
        (
            "found.ok.papers.title",
            "value_unknown_yet",
            "search.ok.papers cannot be indexed before the workflow runs",
        ),
        (
            "found.ok.papers[0]",
            "value_unknown_yet",
            "search.ok.papers cannot be indexed before the workflow runs",
        ),
        (
            "flow.add(search, topic=topic, name='search')",
            "name_in_use",
            "'search' is already the name of a step",
        ),
        (
            "flow.add(tell_time).after(topic)",
            "ending_missing",
            "the input topic is not a step or a value of a step",
        ),
        (
            "flow.add(tell_time).after(flow.add(greet, {'name': topic}))",
            "ending_missing",
            "greet.ok has no required port",
        ),
        (
            "flow.add(tell_time).after(flow.add('xyz.example.other@1'))",
            "ending_missing",
            "the variants of other are unknown, or all of them are errors",
        ),
        (
            "flow.for_each(found.ok.papers, parallel=0)",
            "parallel_invalid",
            "parallel must be an integer from 1 to 1024, got 0",
        ),
        (
            "flow.first(found.ok.papers, found.ok.authors)",
            "alternatives_invalid",
            "several of search.ok.papers, search.ok.authors arrive at the same time",
        ),
        (
            "flow.for_each(flow.add(post, text=topic).ok.url)",
            "not_a_list",
            "post.ok.url is string, not an array",
        ),
        (
            "Workflow('xyz.example.other@1').add(write, notes=found.ok.papers)",
            "value_of_another_workflow",
            "search.ok.papers is a value of another workflow",
        ),
        (
            "flow.output('a', found.ok.papers); flow.output('a', found.ok.authors)",
            "name_in_use",
            "'a' is already the name of an output",
        ),
        (
            "flow.output('a', found.ok.papers); flow.output('b', found.ok.papers)",
            "output_named_already",
            "search.ok.papers is already the output 'a', or a part of it",
        ),
    ],
)
def test_mistake_with_a_step_is_reported_with_its_line(mistake, code, message):
    assert_refused(FOUND + mistake, code, 2, message)


@pytest.mark.parametrize(
    ("mistake", "code", "message"),
    [
        (
            "flow.add(post, text=paper)",
            "value_from_other_block",
            "the element of search.ok.papers exists only inside the for_each of line 2",
        ),
        (
            "flow.add(post, text=summary.ok.text)",
            "value_not_collected",
            "summarise.ok.text exists once for each element of the for_each of line 2",
        ),
        (
            "flow.add(write, notes=summary.ok.text)",
            "value_not_collected",
            "summarise.ok.text exists once for each element of the for_each of line 2",
        ),
        (
            "flow.for_each(flow.collect(summary.ok.text))",
            "list_from_other_block",
            (
                "the collected summarise.ok.text is not a value of a step "
                "in the same block as the for_each"
            ),
        ),
        (
            "    flow.add(write, notes=flow.collect(summary.ok.text))",
            "collect_invalid",
            "summarise.ok.text is not a value of a for_each that ended in this block",
        ),
        (
            "flow.collect(found.ok.papers)",
            "collect_invalid",
            "search.ok.papers is not a value of a for_each that ended in this block",
        ),
        (
            "    flow.for_each(found.ok.authors)",
            "list_from_other_block",
            "search.ok.authors is not a value of a step in the same block as the for_each",
        ),
        ("    flow.document()", "block_open", "the for_each of line 2 has not ended"),
        (
            "flow.output('texts', summary.ok.text)",
            "value_not_collected",
            "summarise.ok.text exists once for each element of the for_each of line 2",
        ),
    ],
)
def test_mistake_with_a_for_each_is_reported_with_its_line(mistake, code, message):
    assert_refused(SUMMARY + mistake, code, 4, message)


@pytest.mark.parametrize(
    ("mistake", "code", "message"),
    [
        ("    loop.txt", "state_unknown", "the loop has no value 'txt'"),
        ("    loop.again(txt=verdict.poor.text)", "again_invalid", "the loop has no value 'txt'"),
        (
            "    loop.again(text=topic)",
            "again_invalid",
            "the input topic is not a value of a step in this loop",
        ),
        (
            "    loop.again(text=verdict.poor.hints)",
            "value_mismatches",
            "judge.poor.hints is invalid for the port 'paper' of summarise: it is array",
        ),
        (
            "    loop.again()",
            "again_invalid",
            "each call of again must use its own variant, and only ports of this variant",
        ),
    ],
)
def test_mistake_in_a_loop_is_reported_with_its_line(mistake, code, message):
    assert_refused(JUDGED + mistake, code, 4, message)


@pytest.mark.parametrize(
    ("mistake", "code", "message"),
    [
        (
            "flow.add(post, text=better.ok.text)",
            "value_leaves_loop",
            (
                "summarise.ok.text exists in each round of the loop of line 1, "
                "but its step does not decide whether another round starts"
            ),
        ),
        (
            "flow.add(post, text=verdict.poor.text)",
            "value_leaves_loop",
            "the variant judge.poor starts another round of the loop of line 1",
        ),
        (
            "loop.again(text=verdict.good.text)",
            "again_invalid",
            "the loop of line 1 has ended",
        ),
        (
            "flow.add(post, text=loop.text)",
            "value_from_other_block",
            "loop.text exists only inside the loop of line 1",
        ),
        (
            "flow.output('text', better.ok.text)",
            "value_leaves_loop",
            (
                "summarise.ok.text exists in each round of the loop of line 1, "
                "but its step does not decide whether another round starts"
            ),
        ),
    ],
)
def test_mistake_after_a_loop_is_reported_with_its_line(mistake, code, message):
    assert_refused(ROUNDS + mistake, code, 5, message)


def test_loop_without_again_is_rejected():
    assert_refused(JUDGED, "loop_without_again", 1, "the loop never starts another round")


def test_again_calls_must_name_the_same_values():
    program = """
        with flow.loop(text=topic, more="") as loop:
            answer = flow.add(ask, who=loop.more, question=loop.text)
            loop.again(text=answer.rejected.note)
            loop.again(text=answer.expired.note, more=answer.expired.note)
    """
    message = "only some calls of again pass more"
    assert_refused(program, "again_differs", 4, message)


def test_again_takes_ports_of_one_variant_only():
    program = """
        with flow.loop(text=topic, more="") as loop:
            answer = flow.add(ask, who=loop.more, question=loop.text)
            loop.again(text=answer.rejected.note, more=answer.expired.note)
    """
    message = "each call of again must use its own variant, and only ports of this variant"
    assert_refused(program, "again_invalid", 3, message)


def test_value_that_leaves_one_loop_and_enters_another_is_rejected():
    program = ROUNDS + (
        "with flow.loop(text='') as second:\n"
        "    flow.add(improve, text=second.text, hints=[], topic=verdict.good.text)\n"
    )
    message = (
        "judge.good.text is also used in all rounds of the loop of line 5,"
        " which needs a second edge"
    )
    assert_refused(program, "value_moves_twice", 6, message)


def test_element_that_enters_another_block_is_rejected():
    program = """
        found = flow.add(search, topic=topic)
        with flow.for_each(found.ok.papers) as paper:
            related = flow.add(search, topic=paper)
            with flow.for_each(related.ok.papers) as other:
                flow.add(improve, text=other, hints=[], topic=paper)
    """
    message = (
        "the element of search.ok.papers also enters the for_each of line 4, "
        "which needs a second edge"
    )
    assert_refused(program, "value_moves_twice", 5, message)


def test_changing_state_that_enters_another_block_is_rejected():
    program = """
        with flow.loop(text=topic) as loop:
            found = flow.add(search, topic=loop.text)
            with flow.for_each(found.ok.papers) as paper:
                flow.add(improve, text=paper, hints=[], topic=loop.text)
            verdict = flow.add(judge, text=loop.text)
            loop.again(text=verdict.poor.text)
        flow.add(post, text=verdict.good.text)
    """
    message = "loop.text also enters the for_each of line 3, which needs a second edge"
    assert_refused(program, "value_moves_twice", 4, message)


def test_alternatives_inside_and_outside_of_a_block_are_rejected():
    program = """
        found = flow.add(search, topic=topic)
        verdict = flow.add(judge, text=topic)
        with flow.for_each(found.ok.papers) as paper:
            inner = flow.add(judge, text=paper)
            flow.add(post, text=flow.first(inner.poor.text, verdict.good.text))
    """
    message = (
        "the alternatives of first(judge_2.poor.text, judge.good.text) come from different blocks"
    )
    assert_refused(program, "alternatives_differ", 5, message)


def test_inner_loop_without_values_of_the_outer_loop_is_rejected():
    program = """
        with flow.loop(text=topic) as outer:
            with flow.loop(text="") as inner:
                verdict = flow.add(judge, text=inner.text)
                inner.again(text=verdict.poor.text)
            last = flow.add(improve, text=verdict.good.text, hints=[], topic=outer.text)
            decided = flow.add(judge, text=last.ok.text)
            outer.again(text=decided.poor.text)
        flow.add(post, text=decided.good.text)
    """
    message = "the loop of line 2 does not start with a value from the loop of line 1"
    assert_refused(program, "loop_begins_with_nothing", 2, message)


def test_block_must_be_entered_once():
    program = """
        found = flow.add(search, topic=topic)
        each = flow.for_each(found.ok.papers)
        with each:
            pass
        with each:
            pass
    """
    message = "the for_each was entered twice, or inside another block"
    assert_refused(program, "block_not_entered", 2, message)


def test_unused_values_are_all_reported_with_their_lines():
    program = """
        more, = flow.inputs(more=int)
        with flow.loop(text="", hints=[]) as loop:
            verdict = flow.add(judge, text=loop.text)
            loop.again(text=verdict.poor.text, hints=verdict.poor.hints)
        flow.add(post, text=verdict.good.text)
    """
    error = rejection(program)
    assert error.code == "value_unused"
    assert [(each["rule"], each["file"], each["line"]) for each in error.details["violations"]] == [
        ("value_unused", "begin.py", 2),
        ("value_unused", "report.py", 1),
        ("value_unused", "report.py", 2),
    ]


def test_unused_values_do_not_hide_other_violations():
    program = """
        flow.inputs(more=int)
        posted = flow.add(post, text=topic)
        flow.add(post, text=topic).after(posted, posted.err_network)
    """
    error = rejection(program)
    assert [(each["rule"], each["line"]) for each in error.details["violations"]] == [
        ("value_unused", 1),
        ("never_runs", 3),
    ]


def test_errors_do_not_hide_warnings():
    program = """
        one = flow.add(judge, text=topic)
        flow.add(improve, text=one.poor.text, hints=[], topic=one.good.text)
        flow.add(post, text=flow.first(one.poor.text, one.good.text)).after(one.poor)
        other = flow.add(judge, text=topic)
        flow.add(improve, text=one.poor.text, hints=other.poor.hints, topic=topic)
    """
    error = rejection(program)
    assert [
        (each["rule"], each["severity"], each["line"]) for each in error.details["violations"]
    ] == [("never_runs", "error", 2), ("starves", "warning", 3), ("starves", "warning", 5)]


def test_result_of_a_loop_is_collected_from_a_step_after_the_loop():
    program = """
        found = flow.add(search, topic=topic)
        with flow.for_each(found.ok.papers) as paper:
            with flow.loop(text=paper) as loop:
                verdict = flow.add(judge, text=loop.text)
                loop.again(text=verdict.poor.text)
        flow.add(write, notes=flow.collect(verdict.good.text))
    """
    message = "judge.good.text is also inside the loop of line 3, but collect leaves only one block"
    assert_refused(program, "collect_invalid", 6, message)
    assert "add a step that takes the value" in rejection(program).hint
    behind = """
            taken = flow.add(summarise, paper=verdict.good.text)
        flow.add(write, notes=flow.collect(taken.ok.text))
    """
    lines = program.rstrip().splitlines()[:-1]
    names_in("\n".join(lines) + behind.rstrip())["flow"].document()


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("flow.add(summarise, found.ok.papers)", "Name the port: flow.add(summarise, paper=…)."),
        (
            "flow.add(post, text=flow.for_each(found.ok.papers))",
            "Write `with flow.for_each(…) as element:`.",
        ),
        (
            "flow.add(post, text=flow.loop(text=topic))",
            "Write `with flow.loop(…) as loop:`, and name a value, such as loop.text.",
        ),
    ],
)
def test_hint_shows_the_correct_form(line, hint):
    assert rejection(FOUND + line).hint == hint


def test_linter_violations_have_the_lines_of_the_program():
    program = """
        posted = flow.add(post, text=topic)
        later = flow.add(post, text=topic).after(posted)
        posted.after(later)
    """
    error = rejection(program)
    assert isinstance(error, ValidationError)
    assert error.code == "workflow_invalid"
    told, way = error.details["violations"]
    assert (told["rule"], told["pointer"], told["line"]) == (14, "/edges/0/to/vertex", 3)
    assert (way["message"], way["line"]) == ("The cycle is post → post_2 → post.", 3)


def test_warning_has_its_line():
    [warning] = names_in("""
        one = flow.add(judge, text=topic)
        other = flow.add(judge, text=topic)
        flow.add(post, text=one.good.text)
        flow.add(post, text=other.good.text)
        flow.add(improve, text=one.poor.text, hints=other.poor.hints, topic=topic)
    """)["flow"].check()
    assert (warning.violation.rule, warning.line.number) == ("starves", 5)
    assert (warning.as_json()["file"], warning.as_json()["line"]) == ("report.py", 5)
    assert str(warning).startswith("report.py:5: 'Vertex: improve' does not receive all its values")


def test_hint_names_a_port_when_a_step_is_used_as_a_value():
    assert rejection(FOUND + "flow.add(write, notes=found)").hint == (
        "Name a variant and a port: search.ok.papers."
    )
    assert rejection("flow.add(post, text=flow.add(post, text=topic))").hint == (
        "Name a variant and a port: post.ok.url."
    )
    assert rejection("flow.add(write, notes=flow.add('xyz.example.other@1'))").hint == (
        "Name a variant and a port: other.variant.port."
    )


@pytest.mark.parametrize(
    ("program", "line", "message", "hint"),
    [
        (
            """
            found = flow.add(search, topic=topic)
            with flow.for_each(found.ok.papers) as paper:
                short: object = flow.add(summarise, paper=paper, words=5).retry(
                    3, after=10
                )
            flow.add(post, text=short.ok.text)
            """,
            11,
            "short.ok.text exists once for each element of the for_each of line 7",
            "Collect the values into a list: flow.collect(short.ok.text).",
        ),
        (
            """
            with flow.loop(text=topic) as state:
                verdict = flow.add(judge, text=flow.add(summarise, paper=state.text).ok.text)
                state.again(text=verdict.poor.text)
            flow.add(post, text=state.text)
            """,
            9,
            "state.text exists only inside the loop of line 6",
            "Use the value inside the `with` block, or pass it through a step.",
        ),
        (
            """
            with flow.loop(text=topic) as state:
                text = (short := flow.add(summarise, paper=state.text)).ok.text
                verdict = flow.add(judge, text=text)
                state.again(text=verdict.poor.text)
            flow.add(post, text=short.ok.text)
            """,
            10,
            (
                "short.ok.text exists in each round of the loop of line 6, "
                "but its step does not decide whether another round starts"
            ),
            "Return the value in a variant of verdict that ends the loop.",
        ),
        (
            """
            flow.add(write, notes=flow.add(search, topic=topic))
            """,
            6,
            "search does not name a port",
            "Name a variant and a port: search.ok.papers.",
        ),
    ],
)
def test_errors_name_steps_by_their_variables(tmp_path, program, line, message, hint):
    report = tmp_path / "report.py"
    report.write_text(
        "from tests.workflow.authoring.programs import *\n"
        "from nexus_tools.workflow import Workflow\n\n"
        'flow = Workflow("xyz.example.report@1")\n'
        f"[topic] = flow.inputs(topic=str){textwrap.dedent(program)}"
    )
    with pytest.raises(NexusError) as caught:
        runpy.run_path(str(report))
    assert (caught.value.message, caught.value.hint) == (f"report.py:{line}: {message}", hint)


def test_hint_suggests_the_intended_name():
    assert rejection("flow.add(search, topc=topic)").hint == "Did you mean topic?"
    assert rejection(FOUND + "found.ok.paper").hint == "Did you mean papers?"
    assert rejection(FOUND + "found.what").hint == "It has ok."
