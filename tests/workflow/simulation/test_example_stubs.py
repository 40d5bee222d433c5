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


def test_example_stub_has_every_variant_with_its_port_names():
    assert answers("judge") == [
        Answer("poor", {"text": "<judge.poor.text>"}),
        Answer("good", {"text": "<judge.good.text>"}),
    ]


def test_example_stub_has_lists_for_split_ports_and_no_failures():
    assert answers("find") == [
        Answer("ok", {"items": ["<find.ok.items[0]>", "<find.ok.items[1]>"]})
    ]


def test_example_stub_includes_output_ports():
    assert answers("tell") == [Answer("ok", {"url": "<tell.ok.url>"})]


def test_example_stub_answers_for_an_unused_vertex():
    assert answers("end") == [Answer("ok", {})]
    assert answers("end", SCHEMAS) == [Answer("tired", {})]


def test_example_stub_follows_known_schemas():
    # The schemas have no `poor`: that is the document's mistake, and shown as it is.
    assert answers("judge", SCHEMAS) == [
        Answer("poor", {"text": "<judge.poor.text>"}),
        Answer("good", {"text": "well"}),
    ]
