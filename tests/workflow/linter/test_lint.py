"""Properties of all rules together."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nexus_tools.workflow import (
    Default,
    Document,
    Edge,
    EdgeKind,
    EntryGroup,
    Input,
    InputPort,
    Output,
    OutputPort,
    Severity,
    Vertex,
    lint,
    read_document,
)
from tests.workflow.notation import errors, flow, lint_json

NAMES = st.sampled_from(["a", "b", "c", "d", "a-do-while", ""])
OUTPUTS = st.builds(OutputPort, NAMES, st.sampled_from(["m", "n", "err"]), st.sampled_from("pqrs"))
INPUTS = st.builds(InputPort, NAMES, st.sampled_from(["x", "y", "_after"]))
VERTICES = st.builds(
    Vertex,
    NAMES,
    st.just("xyz.example.any@1"),
    entry_ports=st.lists(st.sampled_from("xz"), max_size=2).map(tuple),
)
EDGES = st.builds(Edge, OUTPUTS, INPUTS, st.sampled_from(EdgeKind))


def tuples_up_to(values, most):
    return st.lists(values, max_size=most).map(tuple)


DOCUMENTS = st.builds(
    Document,
    vertices=tuples_up_to(VERTICES, 5),
    edges=tuples_up_to(EDGES, 8),
    defaults=tuples_up_to(st.builds(Default, INPUTS, st.just(7)), 2),
    entry_groups=tuples_up_to(
        st.builds(EntryGroup, st.sampled_from("gh"), tuples_up_to(NAMES, 3)), 2
    ),
    inputs=tuples_up_to(st.builds(Input, st.sampled_from("ij"), tuples_up_to(INPUTS, 2)), 2),
    outputs=tuples_up_to(st.builds(Output, OUTPUTS), 2),
    dialect=st.sampled_from(["", "nexus_tools/1"]),
)


def test_valid_document_has_no_violations():
    assert lint_json(flow("> a.x", "a.ok.sum -> b.x", "b.y = 7", "b.ok.sum >"), strict=True) == []


def test_reference_rules_come_first_in_the_order_of_the_reference():
    document = flow(
        *("> a.x", "a.ok.p -> b.x", "a.ok.q -> b.x", "b.ok.list collect c.x"),
        *("a.x = 7", "> e.x", "group g: a", "group g: nobody"),
    )
    # Rule 9 for the default of a.x, 18 and 19 behind those of the declarations, names at the end.
    rules = [each.rule for each in lint_json(document)]
    assert rules == [1, 5, 9, 19, 19, 21, "duplicate"]


def test_lint_turns_warnings_into_errors_when_strict():
    document = flow("> a.x", "b.y = 7", "b.y = 8", "a.ok.p -> b.x")
    assert [each.severity for each in lint_json(document)] == [Severity.WARNING]
    assert [each.severity for each in lint_json(document, strict=True)] == [Severity.ERROR]


@given(DOCUMENTS)
def test_any_document_is_linted(document):
    for violation in lint(document):
        value = document.as_json() | {"dialect": "", "inputs": document.as_json().get("inputs", [])}
        for step in violation.pointer.split("/")[1:-1]:
            value = value[int(step) if isinstance(value, list) else step]


@given(DOCUMENTS, st.randoms(use_true_random=False))
def test_violations_do_not_depend_on_the_order_of_vertices_and_edges(document, random):
    def shuffled(values):
        return tuple(random.sample(values, len(values)))

    other = replace(document, vertices=shuffled(document.vertices), edges=shuffled(document.edges))
    rules = [{(each.rule, each.severity) for each in lint(each)} for each in (document, other)]
    assert rules[0] == rules[1]


@given(DOCUMENTS)
def test_written_document_has_the_same_violations(document):
    read, _ = read_document(json.dumps(replace(document, dialect="nexus_tools/1").as_json()))
    assert lint(read) == lint(replace(document, dialect="nexus_tools/1"))


@pytest.mark.parametrize("dialect", [{}, {"dialect": "nexus_tools/1"}])
def test_lint_limits_the_number_of_entry_groups(dialect):
    lines = ["> a.x", "a.ok.p -> b.x", *(f"group g{number}: a" for number in range(65))]
    assert errors(flow(*lines[:-1], **dialect)) == []
    message = "A workflow has at most 64 entry groups."
    assert errors(flow(*lines, **dialect)) == [("too_large", message, "/entry_groups/64")]
