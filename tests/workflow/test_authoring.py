"""Workflows written in Python: what comes of a program, and what is said of one that is wrong."""

import textwrap

import pytest

from nexus_tools.errors import NexusError, UsageError, ValidationError
from nexus_tools.package.move.definition import Definition
from nexus_tools.sui.address import Address
from nexus_tools.tool import ToolDefinition, canonical_json
from nexus_tools.toolkit import Variant, tool
from nexus_tools.workflow import (
    DIALECT,
    Default,
    Document,
    Edge,
    EdgeKind,
    EntryGroup,
    Input,
    InputPort,
    Output,
    OutputPort,
    PostFailureAction,
    Verifier,
    Vertex,
    VertexKind,
    Workflow,
)


class Found(Variant, name="ok"):
    papers: list[str]
    authors: list[str]


class Text(Variant, name="ok"):
    text: str


class Done(Variant, name="ok"):
    pass


class Poor(Variant, name="poor"):
    text: str
    hints: list[str]


class Good(Variant, name="good"):
    text: str


class Approved(Variant, name="approved"):
    text: str


class Rejected(Variant, name="rejected"):
    note: str


class Expired(Variant, name="expired"):
    note: str


class Posted(Variant, name="ok"):
    url: str


class Broken(Variant, name="err_network"):
    reason: str


@tool("xyz.example.search@1")
def search(topic: str) -> Found:
    """Finds papers and their authors."""


@tool("xyz.example.summarise@1")
def summarise(paper: str, words: int = 100) -> Text:
    """Makes a paper short."""


@tool("xyz.example.write@1")
def write(notes: list[str]) -> Text:
    """Makes a report of notes."""


@tool("xyz.example.improve@1")
def improve(text: str, hints: list[str], topic: str) -> Text:
    """Makes a text better."""


@tool("xyz.example.judge@1")
def judge(text: str) -> Poor | Good:
    """Says whether a text is good, and what is wrong with it."""


@tool("xyz.example.ask@1")
def ask(who: str, question: str) -> Approved | Rejected | Expired:
    """Asks a person."""


@tool("xyz.example.post@1")
def post(text: str) -> Posted | Broken:
    """Puts a text where all can read it."""


@tool("xyz.example.greet@1")
def greet(name: str) -> Done:
    """Greets somebody."""


@tool("xyz.example.tell-time@1")
def tell_time() -> Text:
    """Says what time it is."""


TOOLS = {
    "Address": Address,
    "Workflow": Workflow,
    "ask": ask,
    "greet": greet,
    "improve": improve,
    "judge": judge,
    "post": post,
    "search": search,
    "summarise": summarise,
    "tell_time": tell_time,
    "write": write,
}
BEGINNING = compile(
    'flow = Workflow("xyz.example.report@1")\n[topic] = flow.inputs(topic=str)\n',
    "begin.py",
    "exec",
)


def written(program):
    """What is named in a program that begins with a workflow and an input, as `report.py`."""
    names = dict(TOOLS)
    exec(BEGINNING, names)
    exec(compile(textwrap.dedent(program).strip(), "report.py", "exec"), names)
    return names


def document_of(program):
    return written(program)["flow"].document()


def edges_of(program):
    return [f"{edge.kind} {edge.source} {edge.target}" for edge in document_of(program).edges]


def refused(program):
    with pytest.raises(NexusError) as caught:
        document_of(program)
    return caught.value


def output(text):
    return OutputPort(*text.split("."))


def target(text):
    return InputPort(*text.split("."))


# --- What comes of a program


REPORT = """
flow = Workflow("xyz.example.report@1", "Summarises papers, improves the text, asks a person.")
topic, editor = flow.inputs(topic=str, editor=Address)

found = flow.add(search, topic=topic)
with flow.for_each(found.ok.papers, parallel=8) as paper:
    summary = flow.add(summarise, paper=paper).retry(3, after=10).on_failure("continue")
report = flow.add(write, notes=flow.collect(summary.ok.text))

with flow.loop(text=report.ok.text, hints=[]) as loop:
    better = flow.add(improve, text=loop.text, hints=loop.hints, topic=topic)
    verdict = flow.add(judge, text=better.ok.text)
    loop.again(text=verdict.poor.text, hints=verdict.poor.hints)

answer = flow.add(ask, who=editor, question=verdict.good.text)
flow.output("url", flow.add(post, text=answer.approved.text).ok.url)
flow.output("refused", flow.first(answer.rejected.note, answer.expired.note))
"""


def test_a_program_becomes_the_document_that_one_writes_by_hand():
    flow = written(REPORT)["flow"]
    assert str(flow.fqn) == "xyz.example.report@1"
    assert flow.description == "Summarises papers, improves the text, asks a person."
    assert flow.document() == Document(
        vertices=(
            Vertex("search", "xyz.example.search@1", entry_ports=("topic",)),
            Vertex(
                "summarise",
                "xyz.example.summarise@1",
                post_failure_action=PostFailureAction.CONTINUE,
                attempts=4,
                retry_after_ms=10_000,
                parallel=8,
            ),
            Vertex("write", "xyz.example.write@1"),
            Vertex("improve", "xyz.example.improve@1", entry_ports=("topic",)),
            Vertex("judge", "xyz.example.judge@1"),
            Vertex("ask", "xyz.example.ask@1", entry_ports=("who",)),
            Vertex("post", "xyz.example.post@1"),
        ),
        edges=(
            Edge(output("search.ok.papers"), target("summarise.paper"), EdgeKind.FOR_EACH),
            Edge(output("summarise.ok.text"), target("write.notes"), EdgeKind.COLLECT),
            Edge(output("write.ok.text"), target("improve.text")),
            Edge(output("judge.poor.text"), target("improve.text"), EdgeKind.DO_WHILE),
            Edge(output("judge.poor.hints"), target("improve.hints"), EdgeKind.DO_WHILE),
            Edge(output("improve.ok.text"), target("judge.text")),
            Edge(output("judge.good.text"), target("ask.question"), EdgeKind.BREAK),
            Edge(output("ask.approved.text"), target("post.text")),
        ),
        defaults=(Default(target("improve.hints"), []),),
        inputs=(
            Input("topic", (target("search.topic"), target("improve.topic"))),
            Input("editor", (target("ask.who"),)),
        ),
        outputs=(
            Output(output("post.ok.url"), "url"),
            Output(output("ask.rejected.note"), "refused"),
            Output(output("ask.expired.note"), "refused"),
        ),
        dialect=DIALECT,
    )


def test_what_leaves_a_loop_is_a_result():
    document = document_of(ROUNDS + "flow.output('text', verdict.good.text)")
    assert document.outputs == (Output(output("judge.good.text"), "text"),)


def test_what_is_collected_is_a_result_for_each_iteration():
    document = document_of(SUMMARY + "flow.output('texts', flow.collect(summary.ok.text))")
    assert document.outputs == (Output(output("summarise.ok.text"), "texts"),)


def test_the_same_program_gives_the_same_document():
    assert document_of(REPORT).digest() == document_of(REPORT).digest()


def test_steps_are_named_after_their_tools_and_numbered():
    program = """
        first = flow.add(search, topic=topic)
        second = flow.add(post, text="x", name="search_2").after(first)
        third = flow.add(search, topic=second.ok.url)
        fourth = flow.add(search, topic=second.ok.url, name="again")
    """
    names = [vertex.name for vertex in document_of(program).vertices]
    assert names == ["search", "search_2", "search_3", "again"]


def test_a_value_may_go_to_several_steps():
    assert edges_of("""
        found = flow.add(search, topic=topic)
        a = flow.add(write, notes=found.ok.papers)
        b = flow.add(write, notes=found.ok.papers)
    """) == ["normal search.ok.papers write.notes", "normal search.ok.papers write_2.notes"]


def test_a_constant_becomes_a_default_value():
    document = document_of("flow.add(summarise, paper=topic, words=20)")
    assert document.defaults == (Default(target("summarise.words"), 20),)


def test_a_step_without_inputs_is_in_the_group_that_begins():
    document = document_of("""
        now = flow.add(tell_time)
        flow.add(improve, text=now.ok.text, hints=[], topic=topic)
    """)
    assert document.entry_groups == (EntryGroup("_default_group", ("tell-time", "improve")),)


def test_inputs_stand_in_the_order_in_which_they_are_declared():
    document = document_of("""
        [first, second] = flow.inputs(first=str, second=str)
        flow.add(improve, text=second, hints=[], topic=first)
        flow.add(post, text=topic)
    """)
    assert [given.name for given in document.inputs] == ["topic", "first", "second"]


def test_ports_with_any_name_are_given_as_a_mapping():
    document = document_of('flow.add(greet, {"name": topic}, name="hello")')
    assert document.inputs == (Input("topic", (target("hello.name"),)),)


def test_a_failure_that_is_taken_up_has_a_reason_and_a_detail():
    assert edges_of("""
        posted = flow.add(post, text=topic)
        flow.add(summarise, paper=posted.failed.detail)
        flow.add(greet, {"name": posted.failed.reason})
    """) == [
        "normal post._err_eval.detail summarise.paper",
        "normal post._err_eval.reason greet.name",
    ]


def test_the_workflow_says_what_a_failure_does_where_its_step_does_not():
    document = document_of("""
        flow.on_failure("continue")
        flow.add(post, text=topic).on_failure("terminate")
    """)
    assert document.post_failure_action is PostFailureAction.CONTINUE
    assert document.vertices[0].post_failure_action is PostFailureAction.TERMINATE


def test_a_step_waits_for_others_without_taking_anything_of_them():
    assert edges_of("""
        posted = flow.add(post, text=topic)
        asked = flow.add(ask, who="0x1", question=topic)
        judged = flow.add(judge, text=topic)
        flow.add(greet, {"name": "Ada"}).after(posted, asked.approved, judged.poor.text)
    """) == [
        "normal post.ok.url greet._after",
        "normal ask.approved.text greet._after_2",
        "normal judge.poor.text greet._after_3",
    ]


def test_who_waits_for_a_step_waits_for_whichever_of_its_variants_is_no_error():
    assert edges_of("""
        verdict = flow.add(judge, text=topic)
        flow.add(greet, {"name": "Ada"}).after(verdict)
    """) == ["normal judge.poor.text greet._after", "normal judge.good.text greet._after"]


def test_who_waits_for_what_is_collected_waits_for_all_iterations():
    assert edges_of("""
        found = flow.add(search, topic=topic)
        with flow.for_each(found.ok.papers) as paper:
            summary = flow.add(summarise, paper=paper)
        flow.add(greet, {"name": "Ada"}).after(flow.collect(summary.ok.text))
    """)[1:] == ["collect summarise.ok.text greet._after"]


@pytest.fixture
def on_chain():
    """A step of a tool on chain, and its workflow."""
    definition = post.definition("http://localhost").as_json()
    definition |= {"type": "onchain", "url": "0x2::board::post"}
    flow = Workflow("xyz.example.report@1")
    [text] = flow.inputs(text=str)
    return flow.add(ToolDefinition.parse(definition), text=text), flow


def test_a_tool_on_chain_makes_a_vertex_on_chain(on_chain):
    _, flow = on_chain
    assert flow.document().vertices[0].kind is VertexKind.ON_CHAIN


def test_a_step_may_ask_for_answers_that_are_signed():
    document = document_of("flow.add(post, text=topic).signed()")
    assert document.vertices[0].verifier is Verifier.REGISTERED_KEY


def test_a_tool_on_chain_signs_nothing(on_chain):
    step, _ = on_chain
    with pytest.raises(UsageError) as caught:
        step.signed()
    assert caught.value.code == "signature_impossible"


def test_a_tool_may_be_given_as_the_registry_has_it():
    given = post.definition("https://tools.example.com/post")
    definition = Definition(
        fqn=str(given.fqn),
        tool_type="offchain",
        url=given.url,
        description="",
        input_schema=canonical_json(given.input_schema),
        output_schema=canonical_json(given.output_schema),
        timeout_ms=given.timeout_ms,
    )
    step = Workflow("xyz.example.report@1").add(definition, text="x")
    assert dir(step.err_network) == ["reason"]


@pytest.mark.parametrize(
    ("kind", "port", "shape"),
    [
        ("{'type': 'integer'}", "text", "integer"),
        ("list[int]", "text", "array"),
        ("str | None", "words", "null | string"),
        ("Address", "words", "string"),
    ],
)
def test_inputs_have_types_of_python_or_schemas(kind, port, shape):
    given = {"text": "flow.add(post, text=n)", "words": "flow.add(summarise, paper='', words=n)"}
    error = refused(f"[n] = flow.inputs(n={kind})\n{given[port]}")
    assert error.message.endswith(f": it is {shape}")


def test_of_a_tool_that_is_known_by_its_fqn_alone_nothing_is_checked():
    assert edges_of("""
        one = flow.add("xyz.example.other@2", whatever=topic)
        flow.add("xyz.example.other@2", anything=one.some["port"])
    """) == ["normal other.some.port other_2.anything"]


# --- for_each


def test_values_from_outside_are_there_for_every_iteration():
    assert edges_of("""
        found = flow.add(search, topic=topic)
        posted = flow.add(post, text="x").after(found)
        with flow.for_each(found.ok.papers) as paper:
            flow.add(improve, text=paper, hints=found.ok.authors, topic=posted.ok.url)
    """)[1:] == [
        "for_each search.ok.papers improve.text",
        "normal search.ok.authors improve.hints",
        "normal post.ok.url improve.topic",
    ]


def test_several_lists_are_walked_together():
    assert edges_of("""
        found = flow.add(search, topic=topic)
        with flow.for_each(found.ok.papers, found.ok.authors) as (paper, author):
            flow.add(improve, text=paper, hints=[], topic=author)
    """) == [
        "for_each search.ok.papers improve.text",
        "for_each search.ok.authors improve.topic",
    ]


def test_a_for_each_in_a_for_each_collects_on_both_levels():
    assert edges_of("""
        found = flow.add(search, topic=topic)
        with flow.for_each(found.ok.papers) as paper:
            related = flow.add(search, topic=paper)
            with flow.for_each(related.ok.papers) as other:
                summary = flow.add(summarise, paper=other)
            notes = flow.add(write, notes=flow.collect(summary.ok.text))
        flow.add(write, notes=flow.collect(notes.ok.text))
    """) == [
        "for_each search.ok.papers search_2.topic",
        "for_each search_2.ok.papers summarise.paper",
        "collect summarise.ok.text write.notes",
        "collect write.ok.text write_2.notes",
    ]


def test_a_step_in_a_for_each_that_takes_nothing_of_it_runs_for_each_element_all_the_same():
    assert edges_of("""
        found = flow.add(search, topic=topic)
        with flow.for_each(found.ok.papers):
            flow.add(post, text=topic)
    """) == ["for_each search.ok.papers post._after"]


def test_alternatives_are_collected_into_one_list():
    assert edges_of("""
        found = flow.add(search, topic=topic)
        with flow.for_each(found.ok.papers) as paper:
            verdict = flow.add(judge, text=paper)
        either = flow.first(verdict.good.text, verdict.poor.text)
        flow.add(write, notes=flow.collect(either))
    """)[1:] == ["collect judge.good.text write.notes", "collect judge.poor.text write.notes"]


def test_the_list_of_a_for_each_may_be_the_one_of_several_that_arrives():
    assert edges_of("""
        verdict = flow.add(judge, text=topic)
        found = flow.add(search, topic=verdict.good.text)
        with flow.for_each(flow.first(verdict.poor.hints, found.ok.papers)) as each:
            flow.add(post, text=each)
    """)[1:] == ["for_each judge.poor.hints post.text", "for_each search.ok.papers post.text"]


def test_as_many_runs_are_under_way_as_the_innermost_for_each_says():
    document = document_of("""
        found = flow.add(search, topic=topic)
        with flow.for_each(found.ok.papers, parallel=4) as paper:
            related = flow.add(search, topic=paper)
            with flow.for_each(related.ok.papers) as other:
                flow.add(summarise, paper=other)
            with flow.for_each(related.ok.papers, parallel=2) as other:
                flow.add(summarise, paper=other)
    """)
    assert [vertex.parallel for vertex in document.vertices] == [32, 4, 4, 2]


# --- loop


LOOP = """
begun = flow.add(post, text=topic)
with flow.loop(text=begun.ok.url) as loop:
    better = flow.add(improve, text=loop.text, hints=[], topic=begun.ok.url)
    verdict = flow.add(judge, text=better.ok.text)
    loop.again(text=verdict.poor.text)
"""


def test_values_from_outside_are_there_in_every_round():
    assert edges_of(LOOP + "flow.add(post, text=verdict.good.text)") == [
        "normal post.ok.url improve.text",
        "do_while judge.poor.text improve.text",
        "static post.ok.url improve.topic",
        "normal improve.ok.text judge.text",
        "break judge.good.text post_2.text",
    ]


def test_what_again_does_not_name_stays_as_it_was():
    program = """
        begun = flow.add(post, text=topic)
        with flow.loop(text=begun.ok.url, topic=begun.ok.url, hints=[]) as loop:
            better = flow.add(improve, text=loop.text, hints=loop.hints, topic=loop.topic)
            verdict = flow.add(judge, text=better.ok.text)
            loop.again(text=verdict.poor.text, topic=loop.topic)
        flow.add(post, text=verdict.good.text)
    """
    assert "static post.ok.url improve.topic" in edges_of(program)
    assert document_of(program).defaults == (Default(target("improve.hints"), []),)


def test_a_loop_in_a_for_each_begins_with_an_element():
    assert edges_of("""
        found = flow.add(search, topic=topic)
        with flow.for_each(found.ok.papers) as paper:
            with flow.loop(text=paper) as loop:
                verdict = flow.add(judge, text=loop.text)
                loop.again(text=verdict.poor.text)
            post_it = flow.add(post, text=verdict.good.text)
        flow.add(write, notes=flow.collect(post_it.ok.url))
    """) == [
        "for_each search.ok.papers judge.text",
        "do_while judge.poor.text judge.text",
        "break judge.good.text post.text",
        "collect post.ok.url write.notes",
    ]


def test_a_step_in_a_loop_that_takes_nothing_of_it_runs_in_each_round_all_the_same():
    assert edges_of("""
        begun = flow.add(post, text=topic)
        with flow.loop(text=begun.ok.url) as loop:
            now = flow.add(tell_time)
            better = flow.add(improve, text=loop.text, hints=[], topic=now.ok.text)
            verdict = flow.add(judge, text=better.ok.text)
            loop.again(text=verdict.poor.text)
        flow.add(post, text=verdict.good.text)
    """)[:2] == ["normal post.ok.url tell-time._after", "do_while judge.poor.text tell-time._after"]


def test_a_loop_in_a_for_each_that_begins_with_a_constant_begins_for_each_element():
    assert edges_of("""
        found = flow.add(search, topic=topic)
        with flow.for_each(found.ok.papers):
            with flow.loop(text="") as loop:
                verdict = flow.add(judge, text=loop.text)
                loop.again(text=verdict.poor.text)
            flow.add(post, text=verdict.good.text)
    """)[:3] == [
        "do_while judge.poor.text judge.text",
        "for_each search.ok.papers judge._after",
        "do_while judge.poor.text judge._after",
    ]


def test_several_variants_go_round_again():
    assert edges_of("""
        with flow.loop(text=topic) as loop:
            answer = flow.add(ask, who="0x1", question=loop.text)
            loop.again(text=answer.rejected.note)
            loop.again(text=answer.expired.note)
        flow.add(post, text=answer.approved.text)
    """) == [
        "do_while ask.rejected.note ask.question",
        "do_while ask.expired.note ask.question",
        "break ask.approved.text post.text",
    ]


def test_a_loop_that_fails_for_good_is_left():
    assert edges_of(LOOP + "flow.add(post, text=verdict.failed.reason)")[-1] == (
        "break judge._err_eval.reason post_2.text"
    )


# --- What is refused, and where


FOUND = "found = flow.add(search, topic=topic)\n"
SUMMARY = (
    FOUND
    + """with flow.for_each(found.ok.papers) as paper:
    summary = flow.add(summarise, paper=paper)
"""
)
JUDGED = """with flow.loop(text=topic) as loop:
    better = flow.add(summarise, paper=loop.text)
    verdict = flow.add(judge, text=better.ok.text)
"""
ROUNDS = JUDGED + "    loop.again(text=verdict.poor.text)\n"


def assert_refused(program, code, line, message):
    error = refused(program)
    assert (error.code, error.message) == (code, f"report.py:{line}: {message}")
    assert (error.details["file"], error.details["line"]) == ("report.py", line)


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
            "this is no acceptable JSON: it has a set, which is no JSON value",
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
            "'search' is no tool FQN: it has no version: '@' is missing",
        ),
        ("flow.add(tell_time, name='now?')", "name_invalid", "'now?' is no name of a step"),
        (
            "flow.add(greet, name=topic)",
            "name_unclear",
            "the tool xyz.example.greet@1 has a port that is called name, too",
        ),
        ("flow.inputs(topic=str)", "name_in_use", "'topic' names an input already"),
        ("flow.inputs(more=1)", "input_type_unknown", "1 is no type that JSON has"),
        (
            "Workflow('report@1')",
            "fqn_invalid",
            "'report@1' is no tool FQN: the domain needs two labels or more before the name",
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
            "list_out_of_place",
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
            "order_unclear",
            "the input topic is nothing that happens",
        ),
        (
            "flow.add(tell_time).after(flow.add(greet, {'name': topic}))",
            "order_unclear",
            "greet.ok has no port that is there for sure",
        ),
        (
            "flow.add(tell_time).after(flow.add('xyz.example.other@1'))",
            "order_unclear",
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
            "value_out_of_place",
            "the element of search.ok.papers is there only within the for_each of line 2",
        ),
        (
            "flow.add(post, text=summary.ok.text)",
            "value_not_collected",
            "summarise.ok.text is there once for each element of the for_each of line 2",
        ),
        (
            "flow.for_each(flow.collect(summary.ok.text))",
            "list_out_of_place",
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
            "list_out_of_place",
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
            "value_out_of_place",
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
    assert_refused(JUDGED, "loop_without_again", 1, "the loop never goes round again")


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
    assert_refused(program, "block_misplaced", 2, message)


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


def test_what_the_linter_finds_is_told_with_the_lines_of_the_program():
    program = """
        posted = flow.add(post, text=topic)
        later = flow.add(post, text=topic).after(posted)
        posted.after(later)
    """
    error = refused(program)
    assert isinstance(error, ValidationError)
    assert error.code == "workflow_invalid"
    [told] = error.details["violations"]
    assert (told["rule"], told["pointer"], told["line"]) == (14, "/edges/0", 3)


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


def test_what_was_probably_meant_is_in_the_hint():
    assert refused("flow.add(search, topc=topic)").hint == "did you mean topic?"
    assert refused(FOUND + "found.ok.paper").hint == "did you mean papers?"
    assert refused(FOUND + "found.what").hint == "it has ok"


# --- In an editor


def test_variants_and_ports_are_listed_for_completion():
    found = written(FOUND)["found"]
    assert dir(found) == ["after", "failed", "ok", "on_failure", "retry", "signed"]
    assert dir(found.ok) == ["authors", "papers"]


def test_what_a_tool_has_not_is_no_attribute():
    found = written(FOUND)["found"]
    assert not hasattr(found, "okay")
    assert getattr(found.ok, "text", None) is None


def test_values_steps_and_branches_say_what_they_are():
    found = written(FOUND)["found"]
    shown = [repr(each) for each in (found, found.ok, found.ok.papers)]
    assert shown == [
        "<step search: xyz.example.search@1>",
        "<branch search.ok>",
        "<value search.ok.papers>",
    ]
