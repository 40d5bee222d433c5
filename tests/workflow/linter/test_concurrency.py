"""Rules 14, 18 and 19; the counts are made by hand."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nexus_tools.workflow import read_document
from nexus_tools.workflow.linter.concurrency import concurrency
from nexus_tools.workflow.linter.graph import Graph
from tests.workflow.notation import errors, flow, warnings


def race(port, edge, group="_default_group"):
    message = f"'Input port: {port}' has a race condition on it when invoking group '{group}'"
    return (19, message, f"/edges/{edge}/to")


def unreachable(port, edge, group="_default_group"):
    message = f"'Input port: {port}' is unreachable when invoking group '{group}'"
    return (18, message, f"/edges/{edge}/to")


def test_cycle_breaks_rule_14_and_is_shown_by_one_of_its_vertices():
    document = flow("> a.x", "a.ok.y -> b.x", "b.ok.y -> c.x", "c.ok.y -> b.z", "c.ok.z -> d.x")
    assert errors(document) == [
        (14, "The provided graph contains one or more cycles.", "/edges/1/to/vertex")
    ]
    way = ("cycle", "The cycle is c → b → c.", "/edges/1/to/vertex")
    assert way in warnings(document)


def test_long_cycle_is_shown_by_its_first_vertices():
    names = [f"v{number}" for number in range(13)]
    pairs = zip(names, [*names[1:], names[0]], strict=True)
    document = flow("> a.x", "a.ok.y -> v0.y", *(f"{one}.ok.y -> {two}.x" for one, two in pairs))
    [message] = [message for rule, message, _ in warnings(document) if rule == "cycle"]
    way = " → ".join([f"v{number}" for number in range(1, 11)])
    assert message == f"The cycle is {way} → … (13 vertices) → v1."


def test_two_ports_of_a_variant_race_for_one_port():
    # One vertex and one port more of its variant, less b.x: 1 + 1 - 1.
    assert errors(flow("> a.x", "a.ok.p -> b.x", "a.ok.q -> b.x")) == [race("b.x", 0)]


def test_two_ports_of_a_variant_may_feed_two_ports():
    assert errors(flow("> a.x", "a.ok.p -> b.x", "a.ok.q -> b.y")) == []


def test_two_variants_do_not_race_for_one_port():
    assert errors(flow("> a.x", "a.one.p -> b.x", "a.two.q -> b.x", "b.ok.p -> c.x")) == []


def test_vertex_that_waits_for_two_variants_is_unreachable():
    # b.x and b.y are reached, each by a alone. To c.x lead a and b, less b.x, b.y and c.x: 2 - 3.
    document = flow("> a.x", "a.one.p -> b.x", "a.two.q -> b.y", "b.ok.p -> c.x")
    assert errors(document) == [unreachable("c.x", 2)]


def test_variant_with_the_most_ports_is_counted():
    # To d.x lead a, which makes 3 walks at most, and b and c; less b.x, c.x and d.x: 5 - 3.
    document = flow(
        *("> a.x", "a.one.p -> b.x", "a.one.q -> c.x"),
        *("a.two.p -> d.x", "a.two.q -> d.x", "a.two.r -> d.x"),
        *("b.ok.p -> d.x", "c.ok.p -> d.x"),
    )
    assert errors(document) == [race("d.x", 2)]


def test_equal_forks_of_two_variants_are_joined():
    # To c.x lead a, which makes 2 walks in either variant, and b; less b.x, b.y and c.x: 3 - 3.
    document = flow(
        *("> a.x", "a.one.p -> b.x", "a.one.q -> b.y"),
        *("a.two.p -> b.x", "a.two.q -> b.y", "b.ok.p -> c.x"),
    )
    assert errors(document) == []


@pytest.mark.parametrize("groups", [("group g: b",), ("group g: b", "group g: b")])
def test_entry_group_must_reach_every_port(groups):
    document = flow("> a.x", "> b.x", "a.ok.p -> c.x", "b.ok.p -> c.y", *groups, "group h: a b")
    # To c.y leads b alone: 1 - 1.
    assert errors(document) == [unreachable("c.x", 0, "g")]


def test_entry_groups_with_equal_names_are_merged():
    document = flow("> a.x", "> b.x", "a.ok.p -> c.x", "b.ok.p -> c.x", "group g: a", "group h: b")
    assert errors(document) == []
    document["entry_groups"][1]["name"] = "g"
    assert errors(document) == [race("c.x", 0, "g")]


def test_violations_are_reported_for_each_entry_group():
    document = flow("> a.x", "> b.x", "a.ok.p -> c.x", "b.ok.p -> c.y", "group g: a", "group h: b")
    assert errors(document) == [unreachable("c.y", 1, "g"), unreachable("c.x", 0, "h")]


def test_linter_handles_2_to_the_1000_paths():
    lines = ["> v0.x"]
    for at in range(0, 3_000, 3):
        fork, left, right, join = (f"v{at + further}" for further in range(4))
        lines += [f"{fork}.ok.p -> {left}.x", f"{fork}.ok.q -> {right}.x"]
        lines += [f"{left}.ok.p -> {join}.x", f"{right}.ok.p -> {join}.y"]
    assert errors(flow(*lines)) == []
    assert errors(flow(*lines, "v3000.ok.p -> v3001.x", "v3000.ok.q -> v3001.x")) == [
        race("v3001.x", 4_000)
    ]


@st.composite
def graphs(draw):
    """Documents without cycles, of at most six vertices."""
    ends = st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(lambda pair: pair[0] < pair[1])
    edges = draw(st.lists(ends, min_size=1, max_size=10))
    lines = []
    for number, (source, target) in enumerate(edges):
        variant, port = draw(st.sampled_from("mno")), draw(st.sampled_from("xy"))
        lines.append(f"v{source}.{variant}.p{number} -> v{target}.{port}")
    members = draw(st.lists(st.sampled_from([at for ends in edges for at in ends]), min_size=1))
    return flow(*lines, f"group g: {' '.join(f'v{at}' for at in members)}")


@given(graphs())
def test_count_equals_that_over_all_simple_paths(value):
    document = read_document(json.dumps(value))[0]
    violations = concurrency(document, Graph(document))
    assert [(each.rule, each.pointer) for each in violations] == list(by_paths(document))


def by_paths(document):
    """The same by listing every path, node by node."""
    after = {}
    for edge in document.edges:
        source, target = edge.source, edge.target
        steps = [
            ("vertex", source.vertex),
            ("variant", source.vertex, source.variant),
            ("output", source),
            ("input", target),
            ("vertex", target.vertex),
        ]
        for one, other in pairwise(steps):
            after.setdefault(one, {})[other] = None
            after.setdefault(other, {})
    [group] = document.groups()
    first = {}
    for at, edge in enumerate(document.edges):
        first.setdefault(("input", edge.target), f"/edges/{at}/to")
    for port, pointer in first.items():
        nodes = set()
        for name in group.vertices:
            for path in paths(after, ("vertex", name), port):
                nodes |= set(path)
        walks = sum(net(after, nodes, node) for node in nodes)
        if walks or not nodes:
            yield (19 if walks > 0 else 18), pointer


def paths(after, start, end):
    if start == end:
        yield [end]
    for node in after.get(start, ()):
        yield from ([start, *path] for path in paths(after, node, end))


def net(after, nodes, node):
    if node[0] == "input":
        return -1
    if node[0] != "vertex":
        return 0
    forks = [len(nodes & set(after[variant])) for variant in after[node] if variant in nodes]
    return max([0, *(ports - 1 for ports in forks)]) + 1
