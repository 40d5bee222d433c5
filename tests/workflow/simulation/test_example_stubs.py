from dataclasses import dataclass
from typing import Any

from nexus_tools.tool import Answer
from nexus_tools.workflow import Document, Edge, EdgeKind, InputPort, Output, OutputPort, Vertex
from nexus_tools.workflow.simulation.example_stubs import example_stub

FQN = "xyz.example.x@1"
EDGES = (
    Edge(OutputPort("find", "ok", "items"), InputPort("judge", "item"), EdgeKind.FOR_EACH),
    Edge(OutputPort("find", "_err_eval", "reason"), InputPort("tell", "text")),
    Edge(OutputPort("judge", "poor", "text"), InputPort("judge", "item"), EdgeKind.DO_WHILE),
    Edge(OutputPort("judge", "good", "text"), InputPort("tell", "text"), EdgeKind.BREAK),
)
DOCUMENT = Document(
    tuple(Vertex(name, FQN) for name in ("find", "judge", "tell", "end")),
    EDGES,
    outputs=(Output(OutputPort("tell", "ok", "url")),),
)


@dataclass
class Schemas:
    output_schema: dict[str, Any]
    input_schema: dict[str, Any]


def branch(name, **ports):
    schema = {"type": "object", "properties": ports, "required": list(ports)}
    return {"type": "object", "properties": {name: schema}, "required": [name]}


SCHEMAS = Schemas({"oneOf": [branch("tired"), branch("good", text={"const": "well"})]}, {})


def answers(vertex, schemas=None):
    stub = example_stub(DOCUMENT, vertex, schemas)
    assert stub.cycles
    return [each.outcome for each in stub.outcomes]


def test_each_variant_is_given_with_the_names_of_its_ports():
    assert answers("judge") == [
        Answer("poor", {"text": "<judge.poor.text>"}),
        Answer("good", {"text": "<judge.good.text>"}),
    ]


def test_what_is_split_is_a_list_and_failures_are_not_made_up():
    assert answers("find") == [
        Answer("ok", {"items": ["<find.ok.items[0]>", "<find.ok.items[1]>"]})
    ]


def test_an_output_is_a_port_like_any_other():
    assert answers("tell") == [Answer("ok", {"url": "<tell.ok.url>"})]


def test_a_vertex_of_which_nothing_is_used_gives_something():
    assert answers("end") == [Answer("ok", {})]
    assert answers("end", SCHEMAS) == [Answer("tired", {})]


def test_where_schemas_are_known_the_values_fit_them():
    # The schemas have no `poor`: that is the document's mistake, and shown as it is.
    assert answers("judge", SCHEMAS) == [
        Answer("poor", {"text": "<judge.poor.text>"}),
        Answer("good", {"text": "well"}),
    ]
