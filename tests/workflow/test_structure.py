import json

import pytest

from nexus_tools.errors import ValidationError
from nexus_tools.workflow import create_plan, find_structure, read_document
from tests.workflow.notation import flow


def document(*lines):
    return read_document(json.dumps(flow(*lines)))[0]


def blocks(*lines):
    """Each block as its kind, its vertices, its heads, and the number of the one around it."""
    found = find_structure(document(*lines))
    assert found.problems == ()
    return [
        (block.kind.value, " ".join(block.vertices), " ".join(block.heads), block.parent)
        for block in found.blocks
    ]


def problems(*lines):
    return [(each.rule, each.pointer) for each in find_structure(document(*lines)).problems]


MAPPED = ("> a.x", "a.ok.list for_each b.x", "b.ok.text -> c.x", "c.ok.text collect d.x")
REPEATED = ("a.ok.t -> b.x", "b.ok.t -> c.x", "c.poor.t do_while b.x", "c.good.t break d.x")


def test_workflow_without_lists_and_loops_has_no_blocks():
    assert blocks("> a.x", "a.ok.sum -> b.x") == []


def test_region_lies_between_for_each_and_collect():
    assert blocks(*MAPPED) == [("region", "b c", "b", None)]


def test_loop_contains_vertices_reached_before_the_break():
    assert blocks(*REPEATED) == [("loop", "b c", "b", None)]


def test_dead_end_in_a_loop_belongs_to_the_loop():
    assert blocks(*REPEATED, "b.log.t -> log.x") == [("loop", "b c log", "b", None)]


def test_value_from_outside_does_not_add_its_source_to_the_region():
    assert blocks(*MAPPED, "> e.x", "e.ok.t -> c.y") == [("region", "b c", "b", None)]


def test_two_lists_that_meet_form_one_region():
    found = blocks(*MAPPED, "a.ok.other for_each e.x", "e.ok.t -> c.y")
    assert found == [("region", "b c e", "b e", None)]


def test_two_lists_that_do_not_meet_form_two_regions():
    found = blocks(*MAPPED, "a.ok.other for_each e.x", "e.ok.t collect d.y")
    assert found == [("region", "b c", "b", None), ("region", "e", "e", None)]


def test_collected_list_may_enter_another_region():
    found = blocks(*MAPPED[:3], "c.ok.t collect e.y", "a.ok.l for_each e.x", "e.ok.t collect d.x")
    assert found == [("region", "b c", "b", None), ("region", "e", "e", None)]


def test_for_each_in_an_iteration_is_a_nested_region():
    found = blocks(
        *("> a.x", "a.ok.l for_each b.x", "b.ok.l for_each c.x"),
        *("c.ok.t collect d.x", "d.ok.t collect e.x"),
    )
    assert found == [("region", "b c d", "b", None), ("region", "c", "c", 0)]


def test_value_from_outside_may_enter_two_regions_at_once():
    found = blocks(
        *("> a.x", "a.ok.l for_each b.x", "b.ok.l for_each c.x", "a.ok.t -> c.y"),
        *("c.ok.t collect d.x", "d.ok.t collect e.x"),
    )
    assert found == [("region", "b c d", "b", None), ("region", "c", "c", 0)]


def test_loop_in_an_iteration_is_inside_the_region():
    found = blocks(
        *("> a.x", "a.ok.l for_each b.x", "b.ok.t -> c.x", "c.poor.t do_while b.x"),
        *("c.good.t break d.x", "d.ok.t collect e.x"),
    )
    assert found == [("region", "b c d", "b", None), ("loop", "b c", "b", 0)]


def test_for_each_in_a_round_is_a_region_inside_the_loop():
    found = blocks(
        *("> a.x", "a.ok.l -> b.x", "b.ok.l for_each c.x", "c.ok.t collect d.x"),
        *("d.poor.l do_while b.x", "d.good.t break e.x"),
    )
    assert found == [("loop", "b c d", "b", None), ("region", "c", "c", 0)]


def test_loop_in_a_loop_is_nested():
    found = blocks(
        *("> a.x", "a.ok.t -> b.x", "b.ok.t -> c.x", "c.poor.t do_while c.x"),
        *("c.good.t break d.x", "d.poor.t do_while b.x", "d.good.t break e.x"),
    )
    assert found == [("loop", "b c d", "b", None), ("loop", "c", "c", 0)]


def test_do_while_edges_of_one_vertex_to_two_heads_form_one_loop():
    found = blocks(
        *("> a.x", "a.ok.t -> b.x", "a.ok.u -> c.x", "b.ok.t -> d.x", "c.ok.t -> d.y"),
        *("d.poor.t do_while b.x", "d.poor.u do_while c.x", "d.good.t break e.x"),
    )
    assert found == [("loop", "b c d", "b c", None)]


def test_vertex_reached_without_a_break_belongs_to_the_loop():
    assert blocks(*REPEATED, "b.ok.u -> d.y") == [("loop", "b c d", "b", None)]


def test_blocks_that_share_vertices_must_nest():
    found = problems(
        *("> a.x", "a.ok.l for_each b.x", "b.ok.t -> c.x", "> l.x"),
        *("l.ok.t -> c.y", "c.poor.t do_while l.x", "c.good.t break d.x"),
    )
    assert found == [("blocks_cross", "/edges/3")]  # b, c, d are a region; l, c a loop


def test_overlapping_loops_are_a_problem():
    found = problems(
        *("> a.x", "a.ok.t -> b.x", "b.ok.t -> c.x", "c.poor.t do_while a.y", "c.good.t break x.x"),
        *("c.fair.t -> d.x", "d.poor.t do_while b.y", "d.good.t break y.x"),
    )
    assert [rule for rule, _ in found] == ["blocks_cross"]


def test_edge_that_leaves_a_loop_and_a_region_is_a_problem():
    found = problems(
        *("> a.x", "a.ok.l for_each b.x", "b.ok.t -> c.x", "c.poor.t do_while c.x"),
        *("c.good.t break d.x", "c.done.t collect e.x", "d.ok.t collect e.y"),
    )
    assert found == [("leaves_two_blocks", "/edges/4")]


def test_collect_into_its_own_region_is_a_problem():
    [problem] = find_structure(document(*MAPPED, "b.ok.u -> d.y")).problems
    assert (problem.rule, problem.pointer) == ("collects_into_itself", "/edges/2")
    assert problem.message.endswith("its edge gathers, because of the edge from 'b.ok.u'")


def test_collect_outside_of_regions_is_a_problem():
    assert problems("> a.x", "a.ok.t collect b.x") == [("collects_nothing", "/edges/0")]


def test_break_without_a_loop_is_a_problem():
    assert problems("> a.x", "a.ok.t break b.x") == [("breaks_nothing", "/edges/0")]


def test_do_while_to_a_later_vertex_is_a_problem():
    found = problems("> a.x", "a.ok.t -> b.x", "a.poor.t do_while b.y", "a.good.t break c.x")
    assert ("repeats_nothing", "/edges/1") in found


def test_port_with_static_and_other_values_is_a_problem():
    found = problems(*REPEATED, "> a.x", "a.ok.u static c.y", "a.bad.u -> c.y")
    assert found == [("static_and_others", "/edges/5")]
    assert problems(*REPEATED, "> a.x", "a.ok.u static c.y", "b.ok.u -> c.y") == []


def test_cycle_is_a_problem_and_the_search_ends():
    assert problems("> a.y", "a.ok.t -> b.x", "b.ok.t -> a.x") == [
        ("cycle", "/edges/0"),
        ("cycle", "/edges/1"),
    ]


def test_document_with_problems_has_no_plan():
    with pytest.raises(ValidationError) as caught:
        create_plan(document("> a.x", "a.ok.t collect b.x", "b.ok.t break c.x"))
    assert caught.value.code == "workflow_invalid"
    assert [each["rule"] for each in caught.value.details["violations"]] == [
        "collects_nothing",
        "breaks_nothing",
    ]


def test_document_with_an_edge_to_an_unknown_vertex_has_no_plan():
    value = flow("> a.x", "a.ok.t -> b.x")
    value["vertices"].pop()
    with pytest.raises(ValidationError, match="The vertex 'b' does not exist at /edges/0"):
        create_plan(read_document(json.dumps(value))[0])


def nested_regions(count):
    return ["> v0.x", *(f"v{at}.ok.t for_each v{at + 1}.x" for at in range(count))]


def nested_loops(count):
    """Loops of which each begins with one vertex and ends with another, the others in between."""
    lines = ["> v0.x", *(f"v{at}.ok.t -> v{at + 1}.x" for at in range(count + 1))]
    for at in range(count):
        lines.append(f"v{2 * count - at}.poor.t do_while v{at}.x")
        lines.append(f"v{2 * count - at}.good.t break v{2 * count - at + 1}.x")
    return lines


@pytest.mark.parametrize("nested", [nested_regions, nested_loops])
def test_vertex_is_in_at_most_eight_blocks(nested):
    structure = find_structure(document(*nested(8)))
    assert structure.problems == ()
    assert max(map(len, structure.enclosing.values())) == 8
    [(rule, _)] = problems(*nested(9))
    assert rule == "too_deep"


def test_structure_counts_regions_and_loops_together():
    lines = [*nested_regions(8), "v8.poor.t do_while v8.x", "v8.good.t -> w.x"]
    assert problems(*lines) == [("too_deep", "/edges/8")]


def test_structure_limits_nested_loops():
    lines = ["> v0.x", *(f"v{at}.ok.t -> v{at + 1}.x" for at in range(800))]
    for at in range(797):
        lines += [f"v{at + 2}.poor.t do_while v{at}.x", f"v{at + 2}.good.t break v800.y{at}"]
    [(rule, _)] = problems(*lines)
    assert rule == "too_deep"
