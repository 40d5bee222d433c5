"""Starvation, races and vertices that never run, which rules 18 and 19 do not report."""

import json
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nexus_tools.workflow import lint, read_document
from nexus_tools.workflow.document.structure import find_structure
from nexus_tools.workflow.linter.graph import Graph
from nexus_tools.workflow.linter.token_flow import token_flow
from tests.workflow.notation import errors, flow, warnings

DIALECT = {"dialect": "nexus_tools/1"}
GROUP = "when invoking group '_default_group'"


def test_race_that_the_path_count_misses_is_found():
    # p brings one value to y.z or y.w, which starves: the count takes q and r for it.
    document = flow(
        *("> p.in", "> q.in", "> r.in"),
        *("p.one.o -> y.x", "p.two.o -> y.z", "p.three.o -> y.w"),
        *("y.ok.o -> x.in", "q.ok.o -> x.in", "r.ok.o -> x.in"),
    )
    assert errors(document) == []
    race, never = warnings(document)
    assert race == (
        "races",
        f"'Input port: x.in' receives two values {GROUP}, from 'q.ok.o' and 'r.ok.o'.",
        "/edges/3/to",
    )
    assert never == (
        "never_runs",
        "'Vertex: y' never runs: its ports never have values at the same time.",
        "/vertices/3",
    )


def test_join_starves_when_a_branch_bypasses_it():
    document = flow(
        *("> a.x", "a.ok.p -> b.x", "a.ok.q -> c.x"),
        *("b.good.p -> c.y", "b.poor.p -> d.x"),
    )
    assert errors(document) == []
    [(rule, message, pointer)] = warnings(document)
    assert (rule, pointer) == ("starves", "/edges/2/to")
    assert message == (
        f"'Vertex: c' does not receive all its values {GROUP}, if 'b' ends in 'poor': "
        "'Input port: c.x' receives a value and "
        "'Input port: c.y' does not."
    )


def test_starvation_is_reported_once_along_a_path():
    lines = ["> a.x", "a.ok.p -> b.x", "a.ok.q -> c.x", "b.good.p -> c.y", "b.poor.p -> d.x"]
    after = ["a.ok.r -> e.x", "c.ok.p -> e.y", "e.ok.p -> f.x"]
    assert [message.split()[1] for _, message, _ in warnings(flow(*lines, *after))] == ["c'"]


@pytest.mark.parametrize("variant", ["_err_eval", "err", "err_full"])
def test_handled_failure_causes_no_starvation(variant):
    document = flow(
        *("> a.x", "a.ok.p -> b.x", "a.ok.q -> c.x"),
        *("b.ok.p -> c.y", f"b.{variant}.reason -> d.x"),
    )
    assert warnings(document) == []


def test_variant_without_edges_causes_no_starvation():
    document = flow("> a.x", "a.ok.p -> b.x", "a.ok.q -> c.x", "b.good.p -> c.y")
    assert warnings(document) == []
    assert warnings(flow(*LINES_WITH_OUTPUT, **DIALECT)) == []


LINES_WITH_OUTPUT = (
    *("> a.x", "a.ok.p -> b.x", "a.ok.q -> c.x"),
    *("b.good.p -> c.y", "b.poor.p >"),
)


def test_message_names_only_the_relevant_choices():
    # Only e and f meet, at the far end, and f runs in one branch alone.
    document = flow(
        *("> a.x", "a.one.p -> b.x", "a.two.p -> b.x"),
        *("b.ok.p -> e.x", "b.ok.q -> d.x", "d.one.p -> f.x", "d.two.p -> f.x", "d.no.p -> h.x"),
        *("e.one.p -> g.x", "e.two.p -> h.y", "f.one.p -> g.x", "f.two.p -> i.x"),
        **DIALECT,
    )
    [(rule, message, pointer)] = errors(document)
    assert (rule, pointer) == ("races", "/edges/7/to")
    assert message == (
        f"'Input port: g.x' receives two values {GROUP}, from 'e.one.p' and 'f.one.p', "
        "if 'd' ends in 'one'."
    )


def test_entry_group_may_omit_vertices_in_the_dialect():
    document = flow("> a.x", "> b.x", "a.ok.p -> c.x", "b.ok.p -> d.x", "group g: a", "group h: b")
    assert [rule for rule, *_ in errors(document)] == [18, 18]
    assert errors(document | DIALECT) == []
    del document["entry_groups"][1]
    assert errors(document | DIALECT) == [
        (
            "never_runs",
            "'Vertex: b' never runs: 'Input port: b.x' never receives a value.",
            "/vertices/1",
        )
    ]


def test_port_that_only_the_next_round_feeds_never_gets_a_first_value():
    document = flow("> a.x", "a.more.y do_while a.y", "a.done.y break b.x")
    assert warnings(document)[-1] == (
        "never_runs",
        "'Vertex: a' never runs: 'Input port: a.y' never receives a value.",
        "/vertices/0",
    )


def test_second_head_of_a_loop_may_start_in_the_second_round():
    document = flow(
        *("> a.x", "a.ok.p -> b.x", "b.more.p do_while c.x", "b.more.q do_while a.x"),
        *("c.ok.p -> d.x", "b.done.p break e.x"),
        **DIALECT,
    )
    assert errors(document) == []


def test_compensation_is_not_a_race_in_the_dialect():
    # b.x and b.y come from a, or from h that replaces it. Rule 19 counts a (1 more), h (1 more) and
    # b as leading to c.x, less h.x, b.x, b.y and c.x: 5 - 4.
    document = flow(
        *("> a.x", "a.ok.p -> b.x", "a.ok.q -> b.y", "a._err_eval.reason -> h.x"),
        *("h.ok.p -> b.x", "h.ok.q -> b.y", "b.ok.p -> c.x"),
    )
    assert [rule for rule, *_ in errors(document)] == [19]
    assert lint(read_document(json.dumps(document | DIALECT))[0]) == []


def test_loop_ends_for_any_variant_of_its_first_round():
    document = flow(
        *("> a.x", "a.ok.p -> b.x", "a.ok.q -> c.x"),
        *("b.more.p do_while b.x", "b.done.p break c.y"),
    )
    assert warnings(document) == []


def test_list_is_collected_for_any_variant_of_its_iterations():
    document = flow(
        *("> a.x", "a.ok.list for_each b.x"),
        *("b.good.p collect c.good", "b.poor.p collect c.poor"),
        **DIALECT,
    )
    assert lint(read_document(json.dumps(document))[0]) == []


def test_values_collected_from_two_branches_form_one_list():
    lines = ("> a.x", "a.ok.list for_each b.x", "b.good.p collect c.x", "b.poor.p collect c.x")
    assert errors(flow(*lines, **DIALECT)) == []
    # Both come in one iteration.
    [(rule, message, _)] = errors(flow(*lines, "b.poor.q collect c.x", **DIALECT))
    assert rule == "races"
    assert (
        message == f"'Input port: c.x' receives two values {GROUP}, from 'b.poor.p' and 'b.poor.q'."
    )


def test_empty_list_still_races_with_a_value():
    document = flow(
        *("> a.x", "a.ok.list for_each b.x", "a.ok.p -> d.x"),
        *("b.good.p collect c.x", "b.poor.p -> e.x", "d.ok.p -> c.x"),
        **DIALECT,
    )
    [(rule, message, _)] = errors(document)
    assert rule == "races"
    assert message.endswith("from 'b.good.p' and 'd.ok.p'.")


def test_walks_finds_a_race_of_two_values_for_the_next_round():
    document = flow(
        *("> a.x", "a.more.p do_while a.x", "a.more.q do_while a.x", "a.done.p break b.x"),
        **DIALECT,
    )
    assert errors(document) == [
        (
            "races",
            f"'Input port: a.x' receives two values {GROUP}, from 'a.more.p' and 'a.more.q'.",
            "/edges/0/to",
        )
    ]


def test_break_edge_to_a_vertex_in_the_loop_feeds_the_same_round():
    document = flow(
        *("> a.x", "a.ok.p -> b.x", "b.more.p do_while a.x", "b.more.q -> c.x"),
        *("b.done.p break c.x", "b.done.q break d.x"),
        **DIALECT,
    )
    assert errors(document) == []


def test_region_that_never_opens_has_no_races():
    document = flow(
        *("> a.x", "a.ok.list for_each b.x", "a.ok.p -> c.x", "a.no.p -> c.y"),
        *("b.ok.p -> d.x", "b.ok.q -> d.x", "c.ok.p -> d.y", "d.ok.p collect e.x"),
        **DIALECT,
    )
    assert errors(document) == [
        (
            "never_runs",
            "'Vertex: c' never runs: its ports never have values at the same time.",
            "/vertices/2",
        )
    ]


def test_repeated_value_replaces_a_static_value():
    document = flow(
        *("> a.x", "a.ok.p -> b.x", "a.ok.q static b.y", "b.more.p do_while b.x"),
        *("b.more.q do_while b.y", "b.done.p break c.x"),
        **DIALECT,
    )
    assert errors(document) == []


def test_region_that_waits_for_its_own_result_never_opens():
    document = flow(
        *("> a.x", "a.ok.list for_each b.x", "a.ok.more for_each c.x", "b.ok.p -> c.z"),
        *("b.ok.q collect d.x", "d.ok.p -> c.y", "c.ok.p collect e.x"),
        **DIALECT,
    )
    assert ("never_runs", "/vertices/1") in [(rule, at) for rule, _, at in errors(document)]


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (
            ("d.ok.t -> c.y", "b.ok.u -> c.x"),
            (
                "the values that enter its region depend on the region itself; "
                "the edge from 'b.ok.u' puts 'c' into the region"
            ),
        ),
        (
            ("a.no.t -> c.y", "b.ok.u -> c.x"),
            (
                "the ports that enter its region never have values at the same time; "
                "the edge from 'b.ok.u' puts 'c' into the region"
            ),
        ),
        (
            ("> e.x", "e.ok.t -> c.y", "b.ok.u -> c.x", "group g: a", "group h: e"),
            (
                "the ports that enter its region never have values at the same time; "
                "the edge from 'b.ok.u' puts 'c' into the region"
            ),
        ),
    ],
)
def test_message_names_the_edge_that_draws_a_vertex_into_a_region(lines, why):
    mapped = ("> a.x", "a.ok.list for_each b.x", "b.ok.t collect d.x")
    found = errors(flow(*mapped, *lines, **DIALECT))
    assert ("never_runs", f"'Vertex: b' never runs: {why}.", "/vertices/1") in found


@pytest.mark.parametrize("loops", [2, 20])
def test_vertex_that_starts_after_many_rounds_is_not_reported(loops):
    # In each loop, a vertex waits for the second round, and the next loop waits for that vertex.
    lines, before = ["> s.x"], "s.ok"
    for at in range(loops):
        lines += [
            *(f"{before}.p{at} -> b{at}.x", f"b{at}.ok.p -> j{at}.x", f"a{at}.ok.p -> m{at}.x"),
            *(f"j{at}.poor.p do_while a{at}.y", f"j{at}.poor.q do_while b{at}.x"),
            f"j{at}.good.p break end{at}.x",
        ]
        before = f"m{at}.ok"
    assert "never_runs" not in [rule for rule, *_ in errors(flow(*lines, **DIALECT))]
    lost = (*lines, "> lost.x", "lost.ok.p -> gone.x", "group g: s")
    rules = [(rule, pointer) for rule, _, pointer in errors(flow(*lost, **DIALECT))]
    assert ("never_runs" in dict(rules)) == (loops < 16)


@pytest.mark.parametrize("forks", [14, 15, 200])
def test_race_after_many_branches_is_found(forks):
    # Up to 14 branches all 2^14 scenarios are looked at, else some of them.
    lines = [
        line
        for at in range(forks)
        for line in (f"> v{at}.x", f"v{at}.one.p -> w{at}.x", f"v{at}.two.p -> w{at}.x")
    ]
    race = (f"v{forks - 1}.two.q -> z.x", f"v{forks - 2}.two.q -> z.x")
    [(rule, message, _)] = errors(flow(*lines, *race, **DIALECT))
    assert rule == "races"
    assert message.endswith(f"from 'v{forks - 1}.two.q' and 'v{forks - 2}.two.q'.")


@st.composite
def graphs(draw):
    """Documents without cycles and blocks; the first vertices have entry ports."""
    ends = st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(lambda pair: pair[0] < pair[1])
    lines = [f"> v{at}.e" for at in range(draw(st.integers(1, 3)))]
    for number, (source, target) in enumerate(draw(st.lists(ends, min_size=1, max_size=10))):
        variant, port = draw(st.sampled_from("mn")), draw(st.sampled_from("xy"))
        lines.append(f"v{source}.{variant}.p{number} -> v{target}.{port}")
    return flow(*lines, **DIALECT)


@given(graphs(), st.randoms(use_true_random=False))
def test_violations_match_random_executions(value, random):
    document = read_document(json.dumps(value))[0]
    violations = list(token_flow(document, Graph(document), find_structure(document)))
    races, starved, ran = execute_all(document, random)
    place = {f"/vertices/{at}": each.name for at, each in enumerate(document.vertices)}
    found = {"races": set(), "starves": set(), "never_runs": set()}
    for each in violations:
        where = place.get(each.pointer)
        if where is None:
            target = document.edges[int(each.pointer.split("/")[2])].target
            where = target if each.rule == "races" else target.vertex
        found[each.rule].add(where)
    assert found["races"] == races
    assert found["starves"] == starved & ran
    # A vertex that waits for one that never runs is not reported.
    assert found["never_runs"] <= set(place.values()) - ran
    assert bool(found["never_runs"]) == (set(place.values()) > ran)


def execute_all(document, random):
    """Every choice of variants, values delivered one by one in random order."""
    variants = {each.name: set() for each in document.vertices}
    for edge in document.edges:
        variants[edge.source.vertex].add(edge.source.variant)
    races, starved, ran = set(), set(), set()
    for choice in product(*(sorted(each) or [""] for each in variants.values())):
        taken = dict(zip(variants, choice, strict=True))
        lacks = {
            each.name: {edge.target for edge in document.edges if edge.target.vertex == each.name}
            for each in document.vertices
        }
        missing = {name: set(ports) for name, ports in lacks.items()}
        todo = [
            each.name for each in document.vertices if each.entry_ports and not lacks[each.name]
        ]
        while todo:
            name = todo.pop(random.randrange(len(todo)))
            ran.add(name)
            for edge in document.edges:
                if (edge.source.vertex, edge.source.variant) != (name, taken[name]):
                    continue
                port = edge.target
                if port not in missing[port.vertex]:
                    races.add(port)
                elif missing[port.vertex] == {port}:
                    todo.append(port.vertex)
                missing[port.vertex] -= {port}
        lost = set()
        for name in sorted(missing):  # Edges lead from lower to higher names.
            lacking = [
                {edge.source.vertex for edge in document.edges if edge.target == port} & lost
                for port in missing[name]
            ]
            waits = missing[name] and missing[name] < lacks[name]
            if waits and not all(lacking):
                starved.add(name)
            if waits or any(lacking):
                lost.add(name)
    return races, starved, ran
