"""What comes of a program that writes a workflow."""

import pytest

from nexus_tools.contracts.move_bindings.definition import Definition
from nexus_tools.errors import UsageError
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import ToolDefinition, canonical_json
from nexus_tools.workflow import (
    DIALECT,
    Default,
    Document,
    Edge,
    EdgeKind,
    EntryGroup,
    Input,
    Output,
    PostFailureAction,
    Verifier,
    Vertex,
    VertexKind,
    Workflow,
    ask,
)
from tests.workflow.authoring.programs import (
    FOUND,
    ROUNDS,
    SUMMARY,
    document_of,
    edges_of,
    output,
    post,
    refused,
    target,
    written,
)

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
    function = {"witness": "0x2::board::Post"}
    definition |= {"type": "onchain", "url": "0x2::board::post", "function": function}
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
        function=None,
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


@pytest.mark.parametrize("tool", ["nexus_tools.waiting.ask@1", ask])
def test_a_tool_of_the_package_itself_is_known_by_its_fqn_alone(tool):
    flow = Workflow("xyz.example.report@1")
    [editor] = flow.inputs(editor=Address)
    flow.output("note", flow.add(tool, answerer=editor, question="?").approved.note)
    [vertex] = flow.document().vertices
    assert (vertex.fqn, vertex.kind) == ("nexus_tools.waiting.ask@1", VertexKind.ON_CHAIN)
