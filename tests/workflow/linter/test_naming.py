"""Dangling references and duplicate names."""

import pytest

from nexus_tools.workflow import Document, Output, OutputPort, Vertex, lint
from tests.workflow.notation import errors, flow, warnings

CHAIN = ("> add.x", "add.ok.sum -> b.x")
DIALECT = {"dialect": "nexus_tools/1"}


def without_declaration(document, name):
    """The document without the declaration of a vertex."""
    vertices = [each for each in document["vertices"] if each["name"] != name]
    return document | {"vertices": vertices}


@pytest.mark.parametrize(
    ("line", "pointer"),
    [
        ("ad.ok.sum -> b.y", "/edges/1/from/vertex"),
        ("b.ok.sum -> ad.y", "/edges/1/to/vertex"),
        ("ad.y = 7", "/default_values/0/vertex"),
        ("ad.ok.sum >", "/outputs/0/vertex"),
    ],
)
def test_unknown_vertex_gets_a_suggestion(line, pointer):
    document = without_declaration(flow(*CHAIN, line), "ad")
    message = "The vertex 'ad' does not exist. Did you mean add?"
    assert ("names_nothing", message, pointer) in warnings(document)


def test_unknown_vertex_is_an_error_in_the_dialect():
    document = flow(*CHAIN, "bb.ok.sum >", **DIALECT)
    document = without_declaration(document, "bb")
    message = "The vertex 'bb' does not exist. Did you mean b?"
    assert errors(document) == [("names_nothing", message, "/outputs/0/vertex")]


def test_entry_group_without_vertices_is_reported():
    assert warnings(flow(*CHAIN, "group g: add", "group h:")) == [
        ("names_nothing", "The entry group 'h' has no vertices.", "/entry_groups/1")
    ]


def test_first_unknown_names_alone_get_suggestions():
    lines = [f"add{at}.y = 7" for at in range(21)]
    document = flow(*CHAIN, *lines)
    document["vertices"] = document["vertices"][:2]
    messages = [message for _, message, _ in warnings(document)]
    assert messages[19] == "The vertex 'add19' does not exist. Did you mean add?"
    assert messages[20] == "The vertex 'add20' does not exist."


def test_duplicate_declarations_are_warnings():
    document = flow(
        *CHAIN,
        *("b.y = 7", "b.y = 8", "b.ok.sum >", "b.ok.sum >"),
        *("group g: add add", "group g: add"),
    )
    assert warnings(document) == [
        ("duplicate", "b.y has two default values.", "/default_values/1"),
        ("duplicate", "Two entry groups have the name 'g'.", "/entry_groups/1/name"),
        ("duplicate", "The entry group 'g' lists 'add' twice.", "/entry_groups/0/vertices/1"),
        ("duplicate", "b.ok.sum is listed as an output twice.", "/outputs/1"),
    ]


def entry(name, *ports):
    return {
        "name": name,
        "to": [dict(zip(("vertex", "input_port"), port.split("."), strict=True)) for port in ports],
    }


def test_input_must_feed_entry_ports_that_have_no_other_input():
    inputs = [entry("x", "add.x", "b.x"), entry("y"), entry("x", "add.x")]
    assert errors(flow(*CHAIN, inputs=inputs, **DIALECT)) == [
        ("names_nothing", "The input 'y' has no ports.", "/inputs/1/to"),
        ("names_nothing", "The entry port b.x does not exist.", "/inputs/0/to/1"),
        ("duplicate", "add.x has two inputs.", "/inputs/2/to/0"),
        ("duplicate", "Two inputs have the name 'x'.", "/inputs/2/name"),
    ]


def test_outputs_may_have_equal_names():
    # The outputs are in two branches, and only one branch is taken.
    document = flow("> a.x", "a.one.p -> b.x", "a.two.p -> c.x", "b.ok.p >", "c.ok.p >", **DIALECT)
    for output in document["outputs"]:
        output["name"] = "text"
    assert errors(document) == warnings(document) == []


def test_fields_outside_of_their_dialect_are_reported_in_built_documents():
    document = Document(
        vertices=(Vertex("a", "xyz.example.add@1", entry_ports=("x",), attempts=3),),
        edges=(),
        outputs=(Output(OutputPort("a", "ok", "sum"), "sum"),),
    )
    assert [(each.rule, each.pointer) for each in lint(document)] == [
        ("unknown_field", "/outputs/0/name"),
        ("unknown_field", "/vertices/0/attempts"),
    ]
