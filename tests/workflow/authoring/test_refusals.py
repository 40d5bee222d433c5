"""What is said of a program that is wrong, and of which line."""

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
    refused,
    written,
)


@pytest.mark.parametrize(
    ("program", "code", "message"),
    [
        (
            "flow.add(search, topc=topic)",
            "port_unknown",
            "the tool xyz.example.search@1 takes no port 'topc'",
        ),
        (
            "flow.add(improve, text=topic)",
            "port_missing",
            "the tool xyz.example.improve@1 needs a value for hints, topic",
        ),
        (
            "flow.add(write, notes=topic)",
            "value_mismatches",
            "the input topic does not go into the port 'notes' of write: it is string",
        ),
        (
            "flow.add(summarise, paper=topic, words='many')",
            "value_mismatches",
            (
                "'many' does not go into the port 'words' of summarise: the value is not of type "
                '"integer"'
            ),
        ),
        (
            "flow.add(summarise, paper=topic, words={1, 2})",
            "json_invalid",
            "invalid JSON: it has a set, which is not a JSON value",
        ),
        (
            "flow.add(summarise, paper=[topic])",
            "value_in_constant",
            "the input topic stands inside of a constant (list)",
        ),
        ("flow.add(len)", "tool_expected", "<built-in function len> is no tool"),
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
            "the tool xyz.example.greet@1 has a port that is called name, too",
        ),
        ("flow.inputs(topic=str)", "name_in_use", "'topic' names an input already"),
        ("flow.inputs(more=1)", "input_type_unknown", "1 is not a JSON type"),
        (
            "Workflow('report@1')",
            "fqn_invalid",
            "'report@1' is not a valid FQN: the domain needs two labels or more before the name",
        ),
        (
            "Workflow('xyz.example.report@1', 'x' * 4097)",
            "description_too_long",
            "a description has 4096 bytes at most",
        ),
        (
            "flow.add(tell_time).retry(100)",
            "retry_invalid",
            "100 retries, 0 seconds apart, are not possible",
        ),
        (
            "flow.add(tell_time).retry('3')",
            "retry_invalid",
            "'3' retries, 0 seconds apart, are not possible",
        ),
        (
            "flow.add(tell_time).retry(3, after=float('nan'))",
            "retry_invalid",
            "3 retries, nan seconds apart, are not possible",
        ),
        (
            "flow.add(tell_time).on_failure('stop')",
            "failure_action_unknown",
            "a failure does not 'stop'",
        ),
        (
            "flow.output('topic', topic)",
            "output_expected",
            "the input topic is not what a step gives",
        ),
        (
            "flow.first(topic, topic)",
            "alternatives_invalid",
            "the first of several values is one of two or more that steps give",
        ),
        (
            "flow.for_each(topic)",
            "list_from_other_block",
            "the input topic is not what a step gave that is in the same block as the for_each",
        ),
    ],
)
def test_a_mistake_is_refused_in_its_line(program, code, message):
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
            "search.ok of xyz.example.search@1 gives no port 'paper'",
        ),
        (
            "found.failed.cause",
            "port_unknown",
            "search._err_eval of xyz.example.search@1 gives no port 'cause'",
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
            "the for_each of line 2 is no list: its steps are written once, in a `with` block",
        ),
        (
            "flow.add(summarise, paper=flow.for_each(found.ok.papers))",
            "port_unnamed",
            "the for_each of line 2 names no port",
        ),
        (
            "flow.add(write, found.ok.papers)",
            "port_unnamed",
            "<value search.ok.papers> is given to no port of xyz.example.write@1",
        ),
        ("found.retry(True)", "retry_invalid", "True retries, 0 seconds apart, are not possible"),
        ("flow.inputs(x='str')", "input_type_unknown", "'str' is not a JSON type"),
        ("f'{found.ok}'", "value_unknown_yet", "search.ok is known only when the workflow runs"),
        ("str(found)", "value_unknown_yet", "search is known only when the workflow runs"),
        (
            "topic.name",
            "value_unknown_yet",
            "the input topic has no parts before the workflow runs",
        ),
        ("flow.add(write, notes=found)", "port_unnamed", "search names no port"),
        ("flow.add(write, notes=[found.ok])", "port_unnamed", "search.ok names no port"),
        ("flow.output('papers', found)", "port_unnamed", "search names no port"),
        (
            "flow.for_each(found.ok.papers, parallel='2')",
            "parallel_invalid",
            "'2' runs at once are not possible",
        ),
        (
            "found.ok.papers.title",
            "value_unknown_yet",
            "search.ok.papers has no parts before the workflow runs",
        ),
        (
            "found.ok.papers[0]",
            "value_unknown_yet",
            "search.ok.papers has no parts before the workflow runs",
        ),
        (
            "flow.add(search, topic=topic, name='search')",
            "name_in_use",
            "'search' names a step already",
        ),
        (
            "flow.add(tell_time).after(topic)",
            "ending_missing",
            "the input topic is nothing that happens",
        ),
        (
            "flow.add(tell_time).after(flow.add(greet, {'name': topic}))",
            "ending_missing",
            "greet.ok has no port that is there for sure",
        ),
        (
            "flow.add(tell_time).after(flow.add('xyz.example.other@1'))",
            "ending_missing",
            "how other has to end is not said",
        ),
        (
            "flow.for_each(found.ok.papers, parallel=0)",
            "parallel_invalid",
            "0 runs at once are not possible",
        ),
        (
            "flow.first(found.ok.papers, found.ok.authors)",
            "alternatives_invalid",
            "of search.ok.papers, search.ok.authors several are there at once",
        ),
        (
            "flow.for_each(flow.add(post, text=topic).ok.url)",
            "not_a_list",
            "post.ok.url is string and no array",
        ),
        (
            "Workflow('xyz.example.other@1').add(write, notes=found.ok.papers)",
            "value_of_another_workflow",
            "search.ok.papers is a value of another workflow",
        ),
        (
            "flow.output('a', found.ok.papers); flow.output('a', found.ok.authors)",
            "name_in_use",
            "'a' names an output already",
        ),
        (
            "flow.output('a', found.ok.papers); flow.output('b', found.ok.papers)",
            "output_named_already",
            "search.ok.papers is the output 'a', or a part of it",
        ),
    ],
)
def test_a_mistake_with_a_step_is_refused_in_its_line(mistake, code, message):
    assert_refused(FOUND + mistake, code, 2, message)


@pytest.mark.parametrize(
    ("mistake", "code", "message"),
    [
        (
            "flow.add(post, text=paper)",
            "value_from_other_block",
            "the element of search.ok.papers is there only within the for_each of line 2",
        ),
        (
            "flow.add(post, text=summary.ok.text)",
            "value_not_collected",
            "summarise.ok.text is there once for each element of the for_each of line 2",
        ),
        (
            "flow.add(write, notes=summary.ok.text)",
            "value_not_collected",
            "summarise.ok.text is there once for each element of the for_each of line 2",
        ),
        (
            "flow.for_each(flow.collect(summary.ok.text))",
            "list_from_other_block",
            (
                "the collected summarise.ok.text is not what a step gave "
                "that is in the same block as the for_each"
            ),
        ),
        (
            "    flow.add(write, notes=flow.collect(summary.ok.text))",
            "collect_invalid",
            "summarise.ok.text is not what a step gave in a for_each that ended in this block",
        ),
        (
            "flow.collect(found.ok.papers)",
            "collect_invalid",
            "search.ok.papers is not what a step gave in a for_each that ended in this block",
        ),
        (
            "    flow.for_each(found.ok.authors)",
            "list_from_other_block",
            "search.ok.authors is not what a step gave that is in the same block as the for_each",
        ),
        ("    flow.document()", "block_open", "the for_each of line 2 has not ended"),
        (
            "flow.output('texts', summary.ok.text)",
            "value_not_collected",
            "summarise.ok.text is there once for each element of the for_each of line 2",
        ),
    ],
)
def test_a_mistake_with_a_for_each_is_refused_in_its_line(mistake, code, message):
    assert_refused(SUMMARY + mistake, code, 4, message)


@pytest.mark.parametrize(
    ("mistake", "code", "message"),
    [
        ("    loop.txt", "state_unknown", "the loop does not begin with 'txt'"),
        ("    loop.again(txt=verdict.poor.text)", "again_invalid", "the loop has no 'txt'"),
        (
            "    loop.again(text=topic)",
            "again_invalid",
            "the input topic is not what a step of the loop gives in each round",
        ),
        (
            "    loop.again(text=verdict.poor.hints)",
            "value_mismatches",
            "judge.poor.hints does not go into the port 'paper' of summarise: it is array",
        ),
        (
            "    loop.again()",
            "again_invalid",
            "again takes ports of one variant of one step, and of another one in each call",
        ),
    ],
)
def test_a_mistake_in_a_loop_is_refused_in_its_line(mistake, code, message):
    assert_refused(JUDGED + mistake, code, 4, message)


@pytest.mark.parametrize(
    ("mistake", "code", "message"),
    [
        (
            "flow.add(post, text=better.ok.text)",
            "value_leaves_loop",
            (
                "summarise.ok.text is there in each round of the loop of line 1, "
                "and nothing says which is the last"
            ),
        ),
        (
            "flow.add(post, text=verdict.poor.text)",
            "value_leaves_loop",
            "the variant judge.poor goes round again in the loop of line 1",
        ),
        (
            "loop.again(text=verdict.good.text)",
            "again_invalid",
            "the loop of line 1 has ended",
        ),
        (
            "flow.add(post, text=loop.text)",
            "value_from_other_block",
            "loop.text is there only within the loop of line 1",
        ),
        (
            "flow.output('text', better.ok.text)",
            "value_leaves_loop",
            (
                "summarise.ok.text is there in each round of the loop of line 1, "
                "and nothing says which is the last"
            ),
        ),
    ],
)
def test_a_mistake_behind_a_loop_is_refused_in_its_line(mistake, code, message):
    assert_refused(ROUNDS + mistake, code, 5, message)


def test_a_loop_that_never_goes_round_again_is_refused():
    assert_refused(JUDGED, "loop_without_again", 1, "the loop never starts another round")


def test_each_again_has_to_name_the_same_values():
    program = """
        with flow.loop(text=topic, more="") as loop:
            answer = flow.add(ask, who=loop.more, question=loop.text)
            loop.again(text=answer.rejected.note)
            loop.again(text=answer.expired.note, more=answer.expired.note)
    """
    message = "one again names more and another does not"
    assert_refused(program, "again_differs", 4, message)


def test_again_takes_the_ports_of_one_variant_only():
    program = """
        with flow.loop(text=topic, more="") as loop:
            answer = flow.add(ask, who=loop.more, question=loop.text)
            loop.again(text=answer.rejected.note, more=answer.expired.note)
    """
    message = "again takes ports of one variant of one step, and of another one in each call"
    assert_refused(program, "again_invalid", 3, message)


def test_a_value_that_would_leave_a_loop_and_stay_in_another_is_refused():
    program = ROUNDS + (
        "with flow.loop(text='') as second:\n"
        "    flow.add(improve, text=second.text, hints=[], topic=verdict.good.text)\n"
    )
    message = (
        "judge.good.text stays for all rounds of the loop of line 5, "
        "which one edge cannot do besides"
    )
    assert_refused(program, "value_moves_twice", 6, message)


def test_an_element_that_would_go_on_into_another_block_is_refused():
    program = """
        found = flow.add(search, topic=topic)
        with flow.for_each(found.ok.papers) as paper:
            related = flow.add(search, topic=paper)
            with flow.for_each(related.ok.papers) as other:
                flow.add(improve, text=other, hints=[], topic=paper)
    """
    message = (
        "the element of search.ok.papers goes on into the for_each of line 4, "
        "which one edge cannot do besides"
    )
    assert_refused(program, "value_moves_twice", 5, message)


def test_a_state_that_would_go_on_into_another_block_is_refused_once_it_changes():
    program = """
        with flow.loop(text=topic) as loop:
            found = flow.add(search, topic=loop.text)
            with flow.for_each(found.ok.papers) as paper:
                flow.add(improve, text=paper, hints=[], topic=loop.text)
            verdict = flow.add(judge, text=loop.text)
            loop.again(text=verdict.poor.text)
        flow.add(post, text=verdict.good.text)
    """
    message = "loop.text goes on into the for_each of line 3, which one edge cannot do besides"
    assert_refused(program, "value_moves_twice", 4, message)


def test_alternatives_of_which_some_are_there_for_all_iterations_are_refused():
    program = """
        found = flow.add(search, topic=topic)
        verdict = flow.add(judge, text=topic)
        with flow.for_each(found.ok.papers) as paper:
            inner = flow.add(judge, text=paper)
            flow.add(post, text=flow.first(inner.poor.text, verdict.good.text))
    """
    message = (
        "some of first(judge_2.poor.text, judge.good.text) are there for all iterations, "
        "and some for one"
    )
    assert_refused(program, "alternatives_differ", 5, message)


def test_an_inner_loop_that_takes_nothing_of_the_outer_one_is_refused():
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
    message = "the loop of line 2 begins with nothing of the loop of line 1 that it is in"
    assert_refused(program, "loop_begins_with_nothing", 2, message)


def test_a_block_is_entered_once():
    program = """
        found = flow.add(search, topic=topic)
        each = flow.for_each(found.ok.papers)
        with each:
            pass
        with each:
            pass
    """
    message = "the for_each is not entered where it was made, or twice"
    assert_refused(program, "block_not_entered", 2, message)


def test_all_that_is_left_unused_is_told_with_its_line():
    program = """
        more, = flow.inputs(more=int)
        with flow.loop(text="", hints=[]) as loop:
            verdict = flow.add(judge, text=loop.text)
            loop.again(text=verdict.poor.text, hints=verdict.poor.hints)
        flow.add(post, text=verdict.good.text)
    """
    error = refused(program)
    assert error.code == "value_unused"
    assert [(each["rule"], each["file"], each["line"]) for each in error.details["violations"]] == [
        ("value_unused", "begin.py", 2),
        ("value_unused", "report.py", 1),
        ("value_unused", "report.py", 2),
    ]


def test_what_is_left_unused_hides_nothing_else():
    program = """
        flow.inputs(more=int)
        posted = flow.add(post, text=topic)
        flow.add(post, text=topic).after(posted, posted.err_network)
    """
    error = refused(program)
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
    error = refused(program)
    assert [
        (each["rule"], each["severity"], each["line"]) for each in error.details["violations"]
    ] == [("never_runs", "error", 2), ("starves", "warning", 3), ("starves", "warning", 5)]


def test_what_a_loop_in_a_for_each_gave_is_collected_of_a_step_behind_the_loop():
    program = """
        found = flow.add(search, topic=topic)
        with flow.for_each(found.ok.papers) as paper:
            with flow.loop(text=paper) as loop:
                verdict = flow.add(judge, text=loop.text)
                loop.again(text=verdict.poor.text)
        flow.add(write, notes=flow.collect(verdict.good.text))
    """
    message = (
        "judge.good.text is inside of the loop of line 3 as well, and collect leaves one block"
    )
    assert_refused(program, "collect_invalid", 6, message)
    assert "have a step take the value" in refused(program).hint
    behind = """
            taken = flow.add(summarise, paper=verdict.good.text)
        flow.add(write, notes=flow.collect(taken.ok.text))
    """
    lines = program.rstrip().splitlines()[:-1]
    written("\n".join(lines) + behind.rstrip())["flow"].document()


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("flow.add(summarise, found.ok.papers)", "Name the port: flow.add(summarise, paper=…)."),
        (
            "flow.add(post, text=flow.for_each(found.ok.papers))",
            "Write: with flow.for_each(…) as element.",
        ),
        (
            "flow.add(post, text=flow.loop(text=topic))",
            "Write: with flow.loop(…) as loop, and name a value: loop.text.",
        ),
    ],
)
def test_how_to_write_it_is_said_beside_what_is_wrong(line, hint):
    assert refused(FOUND + line).hint == hint


def test_what_the_linter_finds_is_told_with_the_lines_of_the_program():
    program = """
        posted = flow.add(post, text=topic)
        later = flow.add(post, text=topic).after(posted)
        posted.after(later)
    """
    error = refused(program)
    assert isinstance(error, ValidationError)
    assert error.code == "workflow_invalid"
    told, way = error.details["violations"]
    assert (told["rule"], told["pointer"], told["line"]) == (14, "/edges/0/to/vertex", 3)
    assert (way["message"], way["line"]) == ("It goes round: post → post_2 → post.", 3)


def test_a_warning_names_the_line():
    [warning] = written("""
        one = flow.add(judge, text=topic)
        other = flow.add(judge, text=topic)
        flow.add(post, text=one.good.text)
        flow.add(post, text=other.good.text)
        flow.add(improve, text=one.poor.text, hints=other.poor.hints, topic=topic)
    """)["flow"].check()
    assert (warning.violation.rule, warning.line.number) == ("starves", 5)
    assert (warning.as_json()["file"], warning.as_json()["line"]) == ("report.py", 5)
    assert str(warning).startswith("report.py:5: 'Vertex: improve' starves")


def test_where_a_step_stands_in_place_of_a_value_the_hint_names_a_port_of_it():
    assert refused(FOUND + "flow.add(write, notes=found)").hint == (
        "Name a variant and a port: search.ok.papers."
    )
    assert refused("flow.add(post, text=flow.add(post, text=topic))").hint == (
        "Name a variant and a port: post.ok.url."
    )
    assert refused("flow.add(write, notes=flow.add('xyz.example.other@1'))").hint == (
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
            "short.ok.text is there once for each element of the for_each of line 7",
            "Collect all of them into a list: flow.collect(short.ok.text).",
        ),
        (
            """
            with flow.loop(text=topic) as state:
                verdict = flow.add(judge, text=flow.add(summarise, paper=state.text).ok.text)
                state.again(text=verdict.poor.text)
            flow.add(post, text=state.text)
            """,
            9,
            "state.text is there only within the loop of line 6",
            "Use it inside its `with` block, or pass it through a step.",
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
                "short.ok.text is there in each round of the loop of line 6, "
                "and nothing says which is the last"
            ),
            "Use another variant of verdict, which decides, and have it hand the value on.",
        ),
        (
            """
            flow.add(write, notes=flow.add(search, topic=topic))
            """,
            6,
            "search names no port",
            "Name a variant and a port: search.ok.papers.",
        ),
    ],
)
def test_steps_have_the_names_of_their_variables(tmp_path, program, line, message, hint):
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


def test_what_was_probably_meant_is_in_the_hint():
    assert refused("flow.add(search, topc=topic)").hint == "Did you mean topic?"
    assert refused(FOUND + "found.ok.paper").hint == "Did you mean papers?"
    assert refused(FOUND + "found.what").hint == "It has ok."
