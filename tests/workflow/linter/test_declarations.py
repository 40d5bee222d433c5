"""Rules 1 to 13: each message is the reference's."""

import pytest

from tests.workflow.notation import errors, flow

CHAIN = ("> a.x", "a.ok.sum -> b.x")


def test_entry_group_with_an_unknown_vertex_breaks_rule_1():
    assert errors(flow(*CHAIN, "group g: a nobody")) == [
        (
            1,
            "Entry group 'g' references a non-existing vertex 'nobody'.",
            "/entry_groups/0/vertices/1",
        )
    ]


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        (flow("a.ok.sum -> b.x"), "/vertices"),
        (flow(*CHAIN, "group g:"), "/entry_groups"),
        ({"vertices": [], "edges": []}, "/vertices"),
    ],
)
def test_document_without_entries_breaks_rule_2(document, pointer):
    assert errors(document)[0] == (2, "The DAG has no entry vertices or ports.", pointer)


def test_output_port_that_feeds_two_ports_breaks_rule_3():
    assert errors(flow(*CHAIN, "a.ok.sum -> c.x")) == [
        (
            3,
            "Edge from 'Output variant: a.ok' to 'Output port: a.ok.sum' already exists.",
            "/edges/1",
        )
    ]


def test_output_port_may_feed_several_ports_in_the_dialect():
    assert errors(flow(*CHAIN, "a.ok.sum -> c.x", dialect="nexus_tools/1")) == []


def test_duplicate_edge_breaks_rule_4_in_the_dialect():
    assert errors(flow(*CHAIN, "a.ok.sum static b.x", dialect="nexus_tools/1")) == [
        (4, "Edge from 'Output port: a.ok.sum' to 'Input port: b.x' already exists.", "/edges/1")
    ]


def test_vertex_without_edges_breaks_rule_5():
    assert errors(flow(*CHAIN, "> c.x")) == [
        (5, "'Vertex: c' is not connected to the DAG.", "/vertices/2")
    ]


def test_single_vertex_needs_no_edges():
    assert errors(flow("> a.x")) == []


def test_duplicate_vertex_breaks_rule_6():
    document = flow(*CHAIN)
    document["vertices"].append(document["vertices"][1])
    assert errors(document) == [(6, "'Vertex: b' is defined multiple times.", "/vertices/2")]


def test_entry_port_with_an_edge_breaks_rule_7():
    assert errors(flow(*CHAIN, "> b.x")) == [
        (
            7,
            "'Input port: b.x' has an edge leading to it and therefore cannot be an entry port.",
            "/vertices/1/entry_ports/0",
        )
    ]


def test_head_of_a_loop_may_have_an_entry_port_with_a_do_while_edge():
    assert errors(flow("> a.x", "a.again.x do_while a.x", "a.done.x break b.x")) == []


def test_duplicate_entry_port_breaks_rule_8():
    assert errors(flow(*CHAIN, "> a.x")) == [
        (8, "'Input port: a.x' is defined multiple times.", "/vertices/0/entry_ports/1")
    ]


@pytest.mark.parametrize("port", ["a.x", "b.x"])
def test_default_value_of_a_fed_port_breaks_rule_9(port):
    [(rule, message, pointer)] = errors(flow(*CHAIN, f"{port} = 7"))
    assert (rule, pointer) == (9, "/default_values/0")
    assert message == (
        f"'Input port: {port}' is an entry port or has an edge leading into it and therefore "
        "cannot have a default value."
    )


def test_rule_10_finds_outputs_of_a_vertex_with_edges():
    lines = (*CHAIN, "b.ok.sum >", "a.ok.sum >", "a.no.sum >")
    assert errors(flow(*lines)) == [
        (
            10,
            "'Vertex: a' cannot have both outgoing edges and ports marked as output.",
            "/outputs/1",
        )
    ]
    assert errors(flow(*lines, dialect="nexus_tools/1")) == []


def test_loop_without_a_break_breaks_rule_11():
    assert errors(flow("> a.x", "a.ok.sum -> b.x", "b.more.sum do_while a.y", "a.y = 0")) == [
        (11, "Vertex 'b' has a do-while edge but no corresponding break edge.", "/edges/1")
    ]


def test_loop_may_end_with_a_result_in_the_dialect():
    loop = ("> a.x", "a.ok.sum -> b.x", "b.more.sum do_while a.y", "a.y = 0")
    assert errors(flow(*loop, "b.ok.sum >", dialect="nexus_tools/1")) == []
    [(rule, _, _)] = errors(flow(*loop, "b.more.sum >", dialect="nexus_tools/1"))
    assert rule == 11


def test_break_edge_without_a_loop_breaks_rule_12():
    assert errors(flow("> a.x", "a.ok.sum break b.x")) == [
        (12, "Vertex 'a' has a break edge but no corresponding do-while edge.", "/edges/0")
    ]


def test_variant_with_do_while_and_break_edges_breaks_rule_13():
    assert errors(flow("> a.x", "a.ok.sum do_while a.x", "a.ok.end break b.x")) == [
        (
            13,
            "'Output variant: a.ok' has both a do-while and a break edge, but they must branch.",
            "/edges/1",
        )
    ]
