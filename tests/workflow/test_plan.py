import json

from nexus_tools.workflow import create_plan, read_document
from tests.workflow.notation import flow

LOOPED = ("> a.x", "a.ok.t -> b.x", "b.ok.t -> j.x", "j.poor.t do_while b.x", "j.good.t break c.x")


def starts(*lines):
    """What may start when each loop opens: vertices, and regions by their numbers."""
    blocks = create_plan(read_document(json.dumps(flow(*lines)))[0]).blocks
    return [list(block.starts) for block in blocks if block.kind.value == "loop"]


def test_the_opening_of_a_loop_starts_what_waits_for_nothing_from_inside():
    assert starts(*LOOPED, "a.ok.u static j.y") == [["b"]]


def test_what_the_next_round_brings_is_not_there_when_a_loop_opens():
    assert starts(*LOOPED, "j.poor.u do_while b.y") == [[]]


def test_default_values_and_entry_ports_are_there_when_a_loop_opens():
    assert starts(*LOOPED, "j.poor.u do_while b.y", "b.y = 1") == [["b"]]
    assert starts(*LOOPED, "> b.z") == [["b"]]


def test_what_opens_with_the_loop_around_it_may_start_then():
    inner = ("h.ok.t -> b.x", "b.ok.t -> k.x", "k.more.t do_while b.x", "k.ok.t break j.x")
    outer = ("> a.x", "a.ok.t -> h.x", "j.poor.t do_while h.x", "j.good.t break c.x")
    assert starts(*outer, *inner, "a.ok.u static b.y") == [["h"], ["b"]]
    assert starts(*outer, *inner, "a.ok.t -> b.x") == [["h", "b"], ["b"]]
    assert starts(*outer, *inner, "a.ok.t -> b.x", "h.ok.u static k.y") == [["h"], ["b"]]


def test_a_region_may_start_with_a_loop_if_all_that_enters_it_comes_from_outside():
    around = ("> a.x", "a.ok.t -> h.x", "j.poor.t do_while h.x", "j.good.t break c.x")
    inside = ("h.ok.l for_each r.x", "r.ok.t collect j.x")
    assert starts(*around, *inside) == [["h"]]
    assert starts(*around, *inside, "a.ok.l for_each r.x") == [["h", 1]]
    assert starts(*around, *inside, "a.ok.l for_each r.x", "h.ok.t -> r.y") == [["h"]]
