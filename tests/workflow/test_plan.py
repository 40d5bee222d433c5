import json

from nexus_tools.workflow import create_plan, read_document
from tests.workflow.notation import flow

LOOPED = ("> a.x", "a.ok.t -> b.x", "b.ok.t -> j.x", "j.poor.t do_while b.x", "j.good.t break c.x")


def block_starts(*lines):
    """Return what may start when each loop opens: vertices, and regions by number."""
    blocks = create_plan(read_document(json.dumps(flow(*lines)))[0]).blocks
    return [list(block.starts) for block in blocks if block.kind.value == "loop"]


def test_loop_opening_starts_vertices_that_need_nothing_from_inside():
    assert block_starts(*LOOPED, "a.ok.u static j.y") == [["b"]]


def test_loop_opening_lacks_values_of_the_next_round():
    assert block_starts(*LOOPED, "j.poor.u do_while b.y") == [[]]


def test_loop_opening_has_default_values_and_entry_ports():
    assert block_starts(*LOOPED, "j.poor.u do_while b.y", "b.y = 1") == [["b"]]
    assert block_starts(*LOOPED, "> b.z") == [["b"]]


def test_inner_loop_may_start_with_the_outer_loop():
    inner = ("h.ok.t -> b.x", "b.ok.t -> k.x", "k.more.t do_while b.x", "k.ok.t break j.x")
    outer = ("> a.x", "a.ok.t -> h.x", "j.poor.t do_while h.x", "j.good.t break c.x")
    assert block_starts(*outer, *inner, "a.ok.u static b.y") == [["h"], ["b"]]
    assert block_starts(*outer, *inner, "a.ok.t -> b.x") == [["h", "b"], ["b"]]
    assert block_starts(*outer, *inner, "a.ok.t -> b.x", "h.ok.u static k.y") == [["h"], ["b"]]


def test_region_starts_with_a_loop_if_all_its_values_come_from_outside():
    around = ("> a.x", "a.ok.t -> h.x", "j.poor.t do_while h.x", "j.good.t break c.x")
    inside = ("h.ok.l for_each r.x", "r.ok.t collect j.x")
    assert block_starts(*around, *inside) == [["h"]]
    assert block_starts(*around, *inside, "a.ok.l for_each r.x") == [["h", 1]]
    assert block_starts(*around, *inside, "a.ok.l for_each r.x", "h.ok.t -> r.y") == [["h"]]
