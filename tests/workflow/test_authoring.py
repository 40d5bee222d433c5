"""Workflows written in Python: what comes of a program, and what is said of one that is wrong."""

import textwrap

import pytest

from nexus_tools.errors import NexusError, UsageError, ValidationError
from nexus_tools.sui.address import Address
from nexus_tools.tool import ToolDefinition
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
    exec(BEGINNING, names)  # noqa: S102 - the lines of a file of its own are looked at
    exec(compile(textwrap.dedent(program).strip(), "report.py", "exec"), names)  # noqa: S102
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
        flow.add(greet, {"name": "Ada"}).after(posted, asked.approved, asked.rejected.note)
    """) == [
        "normal post.ok.url greet._after",
        "normal ask.approved.text greet._after_2",
        "normal ask.rejected.note greet._after_3",
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


def test_a_tool_on_chain_makes_a_vertex_on_chain():
    definition = post.definition("http://localhost").as_json()
    definition |= {"type": "onchain", "url": "0x2::board::post"}
    flow = Workflow("xyz.example.report@1")
    [text] = flow.inputs(text=str)
    flow.add(ToolDefinition.parse(definition), text=text)
    assert flow.document().vertices[0].kind is VertexKind.ON_CHAIN


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


MISTAKES = {
    "port_unknown: report.py:1: the tool xyz.example.search@1 takes no port 'topc' (did you mean topic?)": """
        flow.add(search, topc=topic)
    """,
    "port_missing: report.py:1: the tool xyz.example.improve@1 needs a value for hints, topic": """
        flow.add(improve, text=topic)
    """,
}


@pytest.mark.parametrize(("said", "program"), MISTAKES.items())
def test_a_mistake_is_refused_in_its_line(said, program):
    error = refused(program)
    assert f"{error.code}: {error}" == said
    assert (error.details["file"], error.details["line"]) == ("report.py", int(said.split(":")[2]))
