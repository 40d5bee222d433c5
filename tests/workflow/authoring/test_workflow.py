"""Documents of programs that define workflows."""

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
    names_in,
    output,
    post,
    rejection,
    target,
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


def test_program_gives_the_same_document_as_written_by_hand():
    flow = names_in(REPORT)["flow"]
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


def test_value_that_leaves_a_loop_may_be_a_result():
    document = document_of(ROUNDS + "flow.output('text', verdict.good.text)")
    assert document.outputs == (Output(output("judge.good.text"), "text"),)


def test_collected_value_is_a_result_for_each_iteration():
    document = document_of(SUMMARY + "flow.output('texts', flow.collect(summary.ok.text))")
    assert document.outputs == (Output(output("summarise.ok.text"), "texts"),)


def test_document_of_a_program_is_deterministic():
    assert document_of(REPORT).digest() == document_of(REPORT).digest()


def test_steps_have_numbered_names_of_their_tools():
    program = """
        first = flow.add(search, topic=topic)
        second = flow.add(post, text="x", name="search_2").after(first)
        third = flow.add(search, topic=second.ok.url)
        fourth = flow.add(search, topic=second.ok.url, name="again")
    """
    names = [vertex.name for vertex in document_of(program).vertices]
    assert names == ["search", "search_2", "search_3", "again"]


def test_value_may_feed_several_steps():
    assert edges_of("""
        found = flow.add(search, topic=topic)
        a = flow.add(write, notes=found.ok.papers)
        b = flow.add(write, notes=found.ok.papers)
    """) == ["normal search.ok.papers write.notes", "normal search.ok.papers write_2.notes"]


def test_constant_becomes_a_default_value():
    document = document_of("flow.add(summarise, paper=topic, words=20)")
    assert document.defaults == (Default(target("summarise.words"), 20),)


def test_step_without_inputs_is_in_the_entry_group():
    document = document_of("""
        now = flow.add(tell_time)
        flow.add(improve, text=now.ok.text, hints=[], topic=topic)
    """)
    assert document.entry_groups == (EntryGroup("_default_group", ("tell-time", "improve")),)


def test_inputs_have_the_order_of_their_declaration():
    document = document_of("""
        [first, second] = flow.inputs(first=str, second=str)
        flow.add(improve, text=second, hints=[], topic=first)
        flow.add(post, text=topic)
    """)
    assert [given.name for given in document.inputs] == ["topic", "first", "second"]


def test_ports_with_any_name_are_passed_as_a_mapping():
    document = document_of('flow.add(greet, {"name": topic}, name="hello")')
    assert document.inputs == (Input("topic", (target("hello.name"),)),)


def test_handled_failure_has_a_reason_and_a_detail():
    assert edges_of("""
        posted = flow.add(post, text=topic)
        flow.add(summarise, paper=posted.failed.detail)
        flow.add(greet, {"name": posted.failed.reason})
    """) == [
        "normal post._err_eval.detail summarise.paper",
        "normal post._err_eval.reason greet.name",
    ]


def test_failure_action_of_a_step_overrides_that_of_the_workflow():
    document = document_of("""
        flow.on_failure("continue")
        flow.add(post, text=topic).on_failure("terminate")
    """)
    assert document.post_failure_action is PostFailureAction.CONTINUE
    assert document.vertices[0].post_failure_action is PostFailureAction.TERMINATE


def test_after_waits_for_other_steps_without_taking_values():
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


def test_after_a_step_waits_for_any_variant_that_is_not_an_error():
    assert edges_of("""
        verdict = flow.add(judge, text=topic)
        flow.add(greet, {"name": "Ada"}).after(verdict)
    """) == ["normal judge.poor.text greet._after", "normal judge.good.text greet._after"]


def test_after_a_collected_value_waits_for_all_iterations():
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


def test_on_chain_tool_makes_an_on_chain_vertex(on_chain):
    _, flow = on_chain
    assert flow.document().vertices[0].kind is VertexKind.ON_CHAIN


def test_signed_step_requires_signed_answers():
    document = document_of("flow.add(post, text=topic).signed()")
    assert document.vertices[0].verifier is Verifier.REGISTERED_KEY


def test_on_chain_step_cannot_be_signed(on_chain):
    step, _ = on_chain
    with pytest.raises(UsageError) as caught:
        step.signed()
    assert caught.value.code == "signature_impossible"


def test_add_accepts_a_definition_from_the_registry():
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
def test_input_types_are_python_types_or_schemas(kind, port, shape):
    given = {"text": "flow.add(post, text=n)", "words": "flow.add(summarise, paper='', words=n)"}
    error = rejection(f"[n] = flow.inputs(n={kind})\n{given[port]}")
    assert error.message.endswith(f": it is {shape}")


def test_tool_that_is_only_named_is_not_checked():
    assert edges_of("""
        one = flow.add("xyz.example.other@2", whatever=topic)
        flow.add("xyz.example.other@2", anything=one.some["port"])
    """) == ["normal other.some.port other_2.anything"]


# --- In an editor


def test_dir_lists_variants_and_ports():
    found = names_in(FOUND)["found"]
    assert dir(found) == ["after", "failed", "ok", "on_failure", "retry", "signed"]
    assert dir(found.ok) == ["authors", "papers"]


def test_unknown_variant_or_port_is_not_an_attribute():
    found = names_in(FOUND)["found"]
    assert not hasattr(found, "okay")
    assert getattr(found.ok, "text", None) is None


def test_steps_branches_and_values_have_a_repr():
    found = names_in(FOUND)["found"]
    shown = [repr(each) for each in (found, found.ok, found.ok.papers)]
    assert shown == [
        "<step search: xyz.example.search@1>",
        "<branch search.ok>",
        "<value search.ok.papers>",
    ]


@pytest.mark.parametrize("tool", ["nexus_tools.waiting.ask@1", ask])
def test_builtin_tool_is_known_by_its_fqn(tool):
    flow = Workflow("xyz.example.report@1")
    [editor] = flow.inputs(editor=Address)
    flow.output("note", flow.add(tool, answerer=editor, question="?").approved.note)
    [vertex] = flow.document().vertices
    assert (vertex.fqn, vertex.kind) == ("nexus_tools.waiting.ask@1", VertexKind.ON_CHAIN)
