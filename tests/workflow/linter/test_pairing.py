"""Rules 20 to 25, which documents of the dialect need not keep."""

from tests.workflow.notation import errors, flow

REGION = ("> a.x", "a.ok.list for_each b.x", "b.ok.one collect c.x")
LOOP = ("> a.x", "a.ok.sum -> b.x", "b.more.sum do_while a.x", "b.done.sum break c.x")


def test_region_followed_by_a_loop_is_valid():
    loop = [line.replace("a.", "c.").replace("b.", "d.") for line in LOOP[1:]]
    assert errors(flow(*REGION, *loop[:-1], "d.done.sum break e.x")) == []


def test_region_without_a_collect_breaks_rule_20():
    assert errors(flow("> a.x", "a.ok.list for_each b.x", "b.ok.one -> c.x")) == [
        (20, "'Vertex: c' has a for-each edge without a corresponding collect", "/edges/1")
    ]


def test_collect_edge_without_a_region_breaks_rule_21():
    assert errors(flow("> a.x", "a.ok.list collect b.x")) == [
        (21, "'Output port: a.ok.list' has a collect edge without for-each", "/edges/0")
    ]


def test_value_from_outside_a_region_breaks_rule_21():
    # On the path over d, which has no for_each edge, b is outside the region.
    document = flow(*REGION, "a.ok.more -> d.x", "d.ok.sum -> b.y")
    assert errors(document) == [
        (21, "'Output port: b.ok.one' has a collect edge without for-each", "/edges/1")
    ]
    assert errors(document | {"dialect": "nexus_tools/1"}) == []


def test_nested_region_breaks_rule_22():
    document = flow(
        *("> a.x", "a.ok.list for_each b.x", "b.ok.list for_each c.x"),
        *("c.ok.one collect d.x", "d.ok.one collect e.x"),
    )
    assert errors(document)[0] == (22, "'Output port: b.ok.list' has a nested for-each", "/edges/1")
    assert errors(document | {"dialect": "nexus_tools/1"}) == []


def test_loop_in_a_region_breaks_rule_23():
    document = flow(
        *("> a.x", "a.ok.list for_each b.x", "b.more.sum do_while b.x", "b.done.sum break c.x"),
        "c.ok.one collect d.x",
    )
    problem = "has a do-while or break edge inside a for-each"
    assert errors(document)[:2] == [
        (23, f"'Output port: b.more.sum' {problem}", "/edges/1"),
        (23, f"'Output port: b.done.sum' {problem}", "/edges/2"),
    ]
    assert errors(document | {"dialect": "nexus_tools/1"}) == []


def test_static_edge_in_a_region_breaks_rule_24():
    assert errors(flow(*REGION[:2], "b.ok.one static c.x", "c.ok.one collect d.x"))[0] == (
        24,
        "'Output port: b.ok.one' has a static edge inside a for-each",
        "/edges/1",
    )


def test_nested_loop_breaks_rule_25():
    document = flow(
        *("> a.x", "a.ok.sum -> b.x", "b.more.sum do_while b.x", "b.done.sum break c.x"),
        *("c.more.sum do_while a.x", "c.done.sum break d.x"),
    )
    assert errors(document) == [
        (25, "Do-while edge at 'Output port: c.more.sum' has a nested loop inside.", "/edges/3")
    ]
    assert errors(document | {"dialect": "nexus_tools/1"}) == []


def test_self_loop_of_a_head_in_a_loop_breaks_rule_25():
    document = flow(
        *("> a.x", "a.more.sum do_while a.x", "a.done.sum break b.x"),
        *("b.more.sum do_while a.x", "b.done.sum break c.x"),
    )
    assert errors(document) == [
        (25, "Do-while edge at 'Output port: b.more.sum' has a nested loop inside.", "/edges/2")
    ]


def test_ports_of_a_variant_are_visited_before_the_next_variant():
    # The reference reports the first of the two alone.
    document = flow("> a.x", "a.m.p -> b.x", "a.n.p collect c.x", "a.m.q collect d.x")
    assert [pointer for _, _, pointer in errors(document)] == ["/edges/2", "/edges/1"]
