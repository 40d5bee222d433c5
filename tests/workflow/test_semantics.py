import json
import re
from dataclasses import replace

import pytest

from nexus_tools.errors import NotFoundError
from nexus_tools.workflow import (
    DEFAULT_GROUP,
    Begun,
    Cancelled,
    Closed,
    Collected,
    Execution,
    Failed,
    Given,
    PostFailureAction,
    Requested,
    Run,
    Settled,
    TimedOut,
    Waiting,
    create_plan,
    read_document,
)
from tests.workflow.notation import flow


def run_of(text):
    """`b[1,0]` as a run."""
    name, _, path = text.partition("[")
    return Run(name, tuple(int(number) for number in re.findall(r"\d+", path)))


class Told:
    """An execution that is told, run by run, what comes of it. Runs are texts: `b[1,0]`."""

    def __init__(self, *lines, group=DEFAULT_GROUP, action="continue", **vertices):
        document = read_document(json.dumps(flow(*lines, post_failure_action=action)))[0]
        changed = (replace(each, **vertices.get(each.name, {})) for each in document.vertices)
        self.execution = Execution(create_plan(replace(document, vertices=tuple(changed))))
        self.begun = self._readied(self.execution.apply(Begun(group)))

    def _readied(self, step):
        return " ".join(map(str, step.ready))

    def request(self, *runs):
        for run in runs:
            self.execution.apply(Requested(run_of(run)))
        return self

    def settle(self, run, variant="ok", **lengths):
        """Request a run and settle it with these lists, and a port `t`; what is ready since."""
        self.request(run)
        lengths = {"t": None, "u": None} | lengths
        return self._readied(self.execution.apply(Closed(run_of(run), Settled(variant, lengths))))

    def fail(self, run, reason="timed_out"):
        self.request(run)
        return self._readied(self.execution.apply(Closed(run_of(run), Failed(reason))))

    def settle_all(self, *runs, variant="ok"):
        return " ".join(filter(None, (self.settle(run, variant) for run in runs)))

    @property
    def ready(self):
        return " ".join(map(str, self.execution.ready()))

    @property
    def status(self):
        return self.execution.status.value

    @property
    def failures(self):
        return [(str(each.run), each.reason) for each in self.execution.failures]

    @property
    def waiting(self):
        return {str(each.run): " ".join(each.missing) for each in self.execution.waiting()}

    def inputs(self, run):
        return {
            port: self._shown(value) for port, value in self.execution.inputs(run_of(run)).items()
        }

    def _shown(self, value):
        if isinstance(value, Given):
            return "given"
        if isinstance(value, Collected):
            return [self._shown(each) for each in self.execution.collected(value)]
        element = "" if value.element is None else f"#{value.element}"
        return f"{value.run}.{value.port}{element}"


MAPPED = ("> a.x", "a.ok.l for_each b.x", "b.ok.t collect c.x")
LOOPED = ("> a.x", "a.ok.t -> b.x", "b.ok.t -> j.x", "j.poor.t do_while b.x", "j.good.t break c.x")


# --- Runs and their values


def test_an_entry_vertex_is_ready_at_the_beginning():
    told = Told("> a.x", "a.ok.t -> b.x")
    assert told.begun == "a"
    assert told.inputs("a") == {"x": "given"}


def test_a_run_starts_when_all_ports_of_its_vertex_have_a_value():
    told = Told("> a.x", "> b.x", "a.ok.t -> c.x", "b.ok.t -> c.y", "c.z = 1")
    assert told.settle("a") == ""
    assert told.waiting == {"c": "y"}
    assert told.settle("b") == "c"
    assert told.inputs("c") == {"x": "a.t", "y": "b.t", "z": "given"}


def test_all_ports_of_the_variant_flow_and_those_of_others_do_not():
    told = Told("> a.x", "a.ok.t -> b.x", "a.ok.u -> b.y", "a.bad.t -> c.x")
    assert told.settle("a", "ok") == "b"
    assert told.inputs("b") == {"x": "a.t", "y": "a.u"}
    told.settle("b")
    assert told.status == "completed"


def test_one_port_may_feed_several():
    assert Told("> a.x", "a.ok.t -> b.x", "a.ok.t -> c.x").settle("a") == "b c"


def test_a_variant_without_edges_ends_the_walk():
    told = Told("> a.x", "a.ok.t -> b.x")
    assert told.settle("a", "other") == ""
    assert told.status == "completed"


def test_a_run_that_never_gets_all_its_values_starves_and_is_no_failure():
    told = Told("> a.x", "a.ok.t -> c.x", "a.bad.t -> c.y")
    told.settle("a", "ok")
    assert told.waiting == {"c": "y"}
    assert (told.status, told.failures) == ("completed", [])


def test_order_only_ports_are_waited_for_and_not_given():
    told = Told("> a.x", "> b.x", "a.ok.t -> c._after", "b.ok.t -> c._after_b", "a.ok.t -> c.x")
    assert told.settle("a") == ""
    assert told.settle("b") == "c"
    assert told.inputs("c") == {"x": "a.t"}


def test_a_group_begins_with_its_vertices_alone():
    told = Told("> a.x", "> b.x", "a.ok.t -> c.x", "b.ok.t -> d.x", "group g: a", group="g")
    assert told.begun == "a"


def test_an_entry_port_outside_of_the_group_has_no_value():
    told = Told("> a.x", "> b.x", "a.ok.t -> b.y", "group g: a", group="g")
    assert told.settle("a") == ""
    assert told.waiting == {"b": "x"}


def test_a_vertex_of_defaults_alone_begins_with_its_group_only():
    lines = ("> a.x", "b.x = 1", "a.ok.t -> c.x", "b.ok.t -> c.y", "group g: a b", "group h: a")
    assert Told(*lines, group="g").begun == "a b"
    assert Told(*lines, group="h").begun == "a"


def test_a_group_that_is_not_there_is_named():
    with pytest.raises(NotFoundError, match="There is no entry group 'other'"):
        Told("> a.x", "a.ok.t -> b.x", group="other")


# --- Regions


def test_a_list_starts_a_run_for_each_element():
    told = Told(*MAPPED)
    assert told.settle("a", l=3) == "b[0] b[1] b[2]"
    assert [told.inputs(f"b[{each}]") for each in range(3)] == [
        {"x": "a.l#0"},
        {"x": "a.l#1"},
        {"x": "a.l#2"},
    ]


def test_collect_gathers_in_the_order_of_the_iterations():
    told = Told(*MAPPED)
    told.settle("a", l=3)
    assert told.settle("b[2]") == ""
    assert told.settle("b[0]") == ""
    assert told.settle("b[1]") == "c"
    assert told.inputs("c") == {"x": ["b[0].t", "b[1].t", "b[2].t"]}


def test_an_iteration_that_ends_before_the_collect_drops_out():
    told = Told(*MAPPED)
    told.settle("a", l=3)
    told.settle_all("b[0]", "b[2]")
    assert told.settle("b[1]", "bad") == "c"
    assert told.inputs("c") == {"x": ["b[0].t", "b[2].t"]}


def test_an_iteration_that_fails_and_continues_drops_out():
    told = Told(*MAPPED)
    told.settle("a", l=2)
    told.settle("b[1]")
    assert told.fail("b[0]") == "c"
    assert told.inputs("c") == {"x": ["b[1].t"]}
    told.settle("c")
    assert (told.status, told.failures) == ("completed_with_failures", [("b[0]", "timed_out")])


def test_a_failed_iteration_may_bring_something_else():
    told = Told(*MAPPED, "b._err_eval.reason -> e.x", "e.ok.t collect c.x")
    told.settle("a", l=2)
    assert told.fail("b[0]") == "e[0]"
    assert told.inputs("e[0]") == {"x": "b[0].reason"}
    told.settle("b[1]")
    assert told.settle("e[0]") == "c"
    assert told.inputs("c") == {"x": ["e[0].t", "b[1].t"]}
    assert told.failures == []


def test_an_iteration_that_starves_drops_out():
    told = Told(
        "> a.x", "a.ok.l for_each b.x", "b.ok.t -> d.x", "b.more.t -> d.y", "d.ok.t collect c.x"
    )
    told.settle("a", l=1)
    assert told.settle("b[0]") == "c"
    assert told.inputs("c") == {"x": []}


def test_an_empty_list_gives_empty_lists():
    told = Told(*MAPPED, "b.bad.u collect c.y")
    assert told.settle("a", l=0) == "c"
    assert told.inputs("c") == {"x": [], "y": []}


def test_what_is_no_list_fails_the_walk_that_gave_it():
    told = Told(*MAPPED, "a.ok.t -> d.x")
    assert told.settle("a", l=None) == "d"
    assert told.failures == [("a", "not_a_list")]


def test_values_from_outside_serve_every_iteration():
    told = Told(*MAPPED, "> e.x", "e.ok.t -> b.y")
    assert told.settle("a", l=2) == ""  # the region opens when all that enters it is there
    assert told.waiting == {"b": "y"}
    assert told.settle("e") == "b[0] b[1]"
    assert told.inputs("b[1]") == {"x": "a.l#1", "y": "e.t"}


def test_a_region_that_never_opens_has_no_runs_and_collects_nothing():
    told = Told(*MAPPED, "> e.x", "e.bad.t -> b.y")
    told.settle("a", l=2)
    told.settle("e", "ok")
    assert told.ready == ""
    assert told.waiting == {"b": "y"}
    assert told.status == "completed"


@pytest.mark.parametrize(("one", "other"), [(3, 1), (1, 3)])
def test_of_two_lists_the_shorter_one_counts_where_both_are_needed(one, other):
    told = Told("> a.x", "a.ok.l for_each b.x", "a.ok.m for_each b.y", "b.ok.t collect c.x")
    assert told.settle("a", l=one, m=other) == "b[0]"
    assert told.settle("b[0]") == "c"


def test_a_head_that_takes_something_from_another_waits_for_it_in_each_iteration():
    told = Told(
        *("> a.x", "a.ok.l for_each b.x", "a.ok.m for_each c.x"),
        *("b.ok.t -> c.y", "c.ok.t collect d.x"),
    )
    assert told.settle("a", l=2, m=2) == "b[0] b[1]"
    assert told.settle("b[1]") == "c[1]"
    assert told.inputs("c[1]") == {"x": "a.m#1", "y": "b[1].t"}


def test_a_head_that_lacks_an_entry_value_starts_no_iteration():
    told = Told(*MAPPED, "> b.y", "group g: a", group="g")
    assert told.settle("a", l=2) == "c"
    assert told.inputs("c") == {"x": []}


def test_what_comes_for_the_whole_region_begins_no_iteration():
    told = Told(
        *("> a.x", "a.ok.l for_each b.x", "a.ok.t -> c.x", "b.bad.t -> c.x"),
        *("c.ok.t -> k.x", "b.ok.t static k.y"),
        *("k.poor.t do_while c.x", "k.good.t break e.x", "e.ok.t collect d.x"),
    )
    assert told.settle("a", l=1) == "b[0]"
    assert told.settle("b[0]") == "d"  # the loop of c opened, and nothing brought c about


def test_an_iteration_that_only_the_longer_list_has_starves_where_they_meet():
    told = Told(
        *("> a.x", "a.ok.l for_each b.x", "a.ok.m for_each d.x"),
        *("b.ok.t -> e.x", "d.ok.t -> e.y", "e.ok.t collect c.x"),
    )
    assert told.settle("a", l=2, m=1) == "b[0] b[1] d[0]"
    assert told.settle("b[0]") == ""
    assert told.settle("b[1]") == ""
    assert told.settle("d[0]") == "e[0]"
    assert told.settle("e[0]") == "c"
    assert told.inputs("c") == {"x": ["e[0].t"]}
    assert told.waiting == {"e[1]": "y"}


def test_lists_of_which_one_is_empty_close_the_region_at_once():
    told = Told("> a.x", "a.ok.l for_each b.x", "a.ok.m for_each b.y", "b.ok.t collect c.x")
    assert told.settle("a", l=3, m=0) == "c"
    assert told.inputs("c") == {"x": []}


def test_a_region_without_collect_edges_is_a_walk_for_each_element():
    told = Told("> a.x", "a.ok.l for_each b.x", "b.ok.t -> c.x")
    told.settle("a", l=2)
    assert told.settle("b[1]") == "c[1]"
    told.settle("c[1]")
    told.settle("b[0]")
    told.settle("c[0]")
    assert told.status == "completed"


def test_iterations_are_ready_so_many_at_once():
    told = Told(*MAPPED, b={"parallel": 2})
    assert told.settle("a", l=4) == "b[0] b[1]"
    told.request("b[0]", "b[1]")
    assert told.ready == ""
    assert told.settle("b[1]") == "b[2]"
    assert told.ready == "b[2]"


def test_iterations_may_be_requested_in_any_order():
    told = Told(*MAPPED, b={"parallel": 3})
    told.settle("a", l=4)
    assert told.settle("b[2]") == "b[3]"
    assert told.ready == "b[0] b[1] b[3]"


def test_runs_may_be_requested_while_they_are_listed():
    told = Told(*MAPPED, "> e.x", "e.ok.t -> z.x", b={"parallel": 2})
    told.settle("a", l=3)
    requested = []
    for run in told.execution.ready():
        told.execution.apply(Requested(run))
        requested.append(str(run))
    assert requested == ["e", "b[0]", "b[1]"]
    assert [str(run) for run in told.execution.under_way()] == requested


def test_a_thousand_iterations_that_nobody_requested_are_one_record():
    told = Told(*MAPPED)
    told.settle("a", l=1_000)
    records = told.execution._records
    assert (len(records.runs), len(records.instances)) == (1, 1)


# --- Regions in regions


NESTED = (
    *("> a.x", "a.ok.l for_each b.x", "b.ok.l for_each c.x"),
    *("c.ok.t collect d.x", "d.ok.t collect e.x"),
)


def test_a_list_in_an_iteration_has_iterations_of_its_own():
    told = Told(*NESTED)
    told.settle("a", l=2)
    assert told.settle("b[1]", l=2) == "c[1,0] c[1,1]"
    assert told.settle("c[1,1]") == ""
    assert told.settle("c[1,0]") == "d[1]"
    assert told.inputs("d[1]") == {"x": ["c[1,0].t", "c[1,1].t"]}
    assert told.settle("b[0]", l=1) == "c[0,0]"
    assert told.settle("d[1]") == ""
    assert told.settle("c[0,0]") == "d[0]"
    assert told.settle("d[0]") == "e"
    assert told.inputs("e") == {"x": ["d[0].t", "d[1].t"]}


def test_an_empty_list_in_an_iteration_gives_that_iteration_an_empty_list():
    told = Told(*NESTED)
    told.settle("a", l=2)
    assert told.settle("b[0]", l=0) == "d[0]"
    assert told.inputs("d[0]") == {"x": []}


def test_an_inner_region_whose_iteration_drops_out_collects_nothing():
    told = Told(*NESTED)
    told.settle("a", l=2)
    told.settle("b[0]", "bad")
    assert told.settle("b[1]", l=1) == "c[1,0]"
    assert told.settle("c[1,0]") == "d[1]"
    assert told.settle("d[1]") == "e"
    assert told.inputs("e") == {"x": ["d[1].t"]}


def test_a_value_may_enter_two_regions_at_once():
    told = Told(*NESTED, "a.ok.t -> c.y")
    told.settle("a", l=1)
    assert told.settle("b[0]", l=1) == "c[0,0]"
    assert told.inputs("c[0,0]") == {"x": "b[0].l#0", "y": "a.t"}


def test_an_outer_list_may_be_iterated_with_an_inner_one():
    told = Told(*NESTED, "a.ok.m for_each c.y")
    told.settle("a", l=2, m=1)
    assert told.settle("b[1]", l=2) == "c[1,0]"
    assert told.inputs("c[1,0]") == {"x": "b[1].l#0", "y": "a.m#0"}


def test_an_inner_region_that_never_opens_does_not_hold_the_outer_one():
    told = Told(*NESTED, "b.more.t -> c.y")
    told.settle("a", l=1)
    assert told.settle("b[0]", l=3) == "e"
    assert told.inputs("e") == {"x": []}


# --- Loops


def test_a_loop_goes_round_until_it_breaks():
    told = Told(*LOOPED)
    assert told.settle("a") == "b[0]"
    assert told.settle("b[0]") == "j[0]"
    assert told.settle("j[0]", "poor") == "b[1]"
    assert told.inputs("b[1]") == {"x": "j[0].t"}
    assert told.settle("b[1]") == "j[1]"
    assert told.settle("j[1]", "good") == "c"
    assert told.inputs("c") == {"x": "j[1].t"}


def test_what_enters_a_loop_is_there_in_its_first_round_alone():
    told = Told(*LOOPED, "a.ok.u -> j.y")
    told.settle("a")
    assert told.settle("b[0]") == "j[0]"
    told.settle("j[0]", "poor")
    assert told.settle("b[1]") == ""
    assert told.waiting == {"j[1]": "y"}


def test_a_static_value_is_there_in_all_rounds():
    told = Told(*LOOPED, "a.ok.u static j.y")
    told.settle("a")
    told.settle("b[0]")
    told.settle("j[0]", "poor")
    assert told.settle("b[1]") == "j[1]"
    assert told.inputs("j[1]") == {"x": "b[1].t", "y": "a.u"}


def test_a_loop_begins_when_its_static_values_are_there():
    told = Told(*LOOPED, "> e.x", "e.ok.t static j.y")
    assert told.settle("a") == ""
    assert told.waiting == {"b[0]": "", "j": "y"}
    assert told.settle("e") == "b[0]"


def test_a_loop_in_an_iteration_waits_for_a_static_value_of_that_iteration():
    told = Told(
        *("> a.x", "a.ok.l for_each b.x", "a.ok.m for_each e.x", "b.ok.t -> j.x"),
        *("e.ok.t static j.y", "j.poor.t do_while b.x", "j.good.t break c.x", "c.ok.t collect d.x"),
    )
    assert told.settle("a", l=2, m=2) == "e[0] e[1]"
    assert told.settle("e[1]") == "b[1,0]"
    assert told.settle("b[1,0]") == "j[1,0]"


def test_a_region_in_a_loop_waits_for_the_loop():
    told = Told(
        *(*LOOPED, "> e.x", "e.ok.t static j.y"),
        *("b.bad.l for_each r.x", "a.ok.l for_each r.x", "r.ok.t collect s.x"),
    )
    assert told.settle("a", l=1) == ""
    assert told.settle("e") == "b[0] r[0,0]"


def test_a_static_edge_within_a_loop_is_for_its_round():
    told = Told(*LOOPED, "b.ok.u static j.y")
    told.settle("a")
    told.settle("b[0]")
    told.settle("j[0]", "poor")
    assert told.settle("b[1]") == "j[1]"
    assert told.inputs("j[1]") == {"x": "b[1].t", "y": "b[1].u"}


def test_entry_and_default_values_without_edges_serve_every_round():
    told = Told(*LOOPED, "b.y = 1", "> b.z", "group g: a b", group="g")
    told.settle("a")
    told.settle("b[0]")
    assert told.settle("j[0]", "poor") == "b[1]"
    assert told.inputs("b[1]") == {"x": "j[0].t", "y": "given", "z": "given"}


def test_an_entry_port_with_a_do_while_edge_takes_what_the_edge_brings():
    told = Told("> b.x", "b.ok.t -> j.x", "j.poor.t do_while b.x", "j.good.t break c.x")
    assert told.begun == "b[0]"
    told.settle("b[0]")
    assert told.settle("j[0]", "poor") == "b[1]"
    assert (told.inputs("b[0]"), told.inputs("b[1]")) == ({"x": "given"}, {"x": "j[0].t"})


def test_a_default_is_used_where_the_source_brought_something_else():
    told = Told(*LOOPED, "b.hint = 1", "j.bad.t do_while b.x", "j.bad.u do_while b.hint")
    told.settle("a")
    assert told.inputs("b[0]") == {"x": "a.t", "hint": "given"}
    told.settle("b[0]")
    told.settle("j[0]", "bad")
    assert told.inputs("b[1]") == {"x": "j[0].t", "hint": "j[0].u"}
    told.settle("b[1]")
    assert told.settle("j[1]", "poor") == "b[2]"
    assert told.inputs("b[2]") == {"x": "j[1].t", "hint": "given"}


def test_a_default_waits_for_another_source_that_may_bring_something():
    told = Told(
        *LOOPED, "b.ok.u -> k.x", "k.ok.t do_while b.hint", "k.bad.t break c.y", "b.hint = 1"
    )
    told.settle("a")
    told.settle("b[0]")
    assert told.settle("j[0]", "poor") == ""  # k[0] may still bring a hint
    assert told.settle("k[0]", "ok") == "b[1]"
    assert told.inputs("b[1]") == {"x": "j[0].t", "hint": "k[0].t"}


def test_two_sources_of_one_head_in_one_round_race_for_a_port():
    told = Told(*LOOPED, "b.ok.u -> k.x", "k.ok.t do_while b.x", "k.bad.t break c.y")
    told.settle("a")
    told.settle("b[0]")
    assert told.settle("j[0]", "poor") == "b[1]"
    assert told.settle("k[0]", "ok") == ""
    assert told.failures == [("b[1]", "raced")]
    assert told.inputs("b[1]") == {"x": "j[0].t"}


def test_a_break_in_an_inner_loop_stays_in_the_round_of_the_outer_one():
    told = Told(
        *("> a.x", "a.ok.t -> b.x", "b.ok.t -> c.x", "c.poor.t do_while c.x", "c.good.t break d.x"),
        *("d.poor.t do_while b.x", "d.good.t break e.x"),
    )
    told.settle("a")
    assert told.settle("b[0]") == "c[0,0]"
    assert told.settle("c[0,0]", "poor") == "c[0,1]"
    assert told.settle("c[0,1]", "good") == "d[0]"
    assert told.settle("d[0]", "poor") == "b[1]"
    assert told.settle("b[1]") == "c[1,0]"
    assert told.settle("c[1,0]", "good") == "d[1]"
    assert told.settle("d[1]", "good") == "e"


def test_a_loop_in_an_iteration_counts_its_own_rounds():
    told = Told(
        *("> a.x", "a.ok.l for_each b.x", "b.poor.t do_while b.x", "b.good.t break c.x"),
        "c.ok.t collect d.x",
    )
    assert told.settle("a", l=2) == "b[0,0] b[1,0]"
    assert told.settle("b[1,0]", "poor") == "b[1,1]"
    assert told.settle("b[0,0]", "good") == "c[0]"
    assert told.settle("c[0]") == ""
    assert told.settle("b[1,1]", "good") == "c[1]"
    assert told.settle("c[1]") == "d"
    assert told.inputs("d") == {"x": ["c[0].t", "c[1].t"]}


def test_a_region_in_a_loop_opens_in_each_round_anew():
    told = Told(
        *("> a.x", "a.ok.t -> b.x", "b.ok.l for_each c.x", "c.ok.t collect d.x"),
        *("d.poor.t do_while b.x", "d.good.t break e.x"),
    )
    told.settle("a")
    assert told.settle("b[0]", l=1) == "c[0,0]"
    assert told.settle("c[0,0]") == "d[0]"
    assert told.settle("d[0]", "poor") == "b[1]"
    assert told.settle("b[1]", l=2) == "c[1,0] c[1,1]"
    told.settle("c[1,1]")
    assert told.settle("c[1,0]") == "d[1]"
    assert told.inputs("d[1]") == {"x": ["c[1,0].t", "c[1,1].t"]}


def test_a_break_may_lead_into_a_region():
    told = Told(*LOOPED[:4], "j.good.t break r.y", "a.ok.l for_each r.x", "r.ok.t collect c.x")
    told.settle("a", l=1)
    told.settle("b[0]")
    assert told.settle("j[0]", "good") == "r[0]"
    assert told.inputs("r[0]") == {"x": "a.l#0", "y": "j[0].t"}


def test_a_break_to_a_vertex_that_the_loop_reaches_anyhow_stays_in_its_round():
    told = Told(*LOOPED, "b.ok.u -> c.y")
    told.settle("a")
    told.settle("b[0]")
    told.settle("j[0]", "poor")
    told.settle("b[1]")
    assert told.settle("j[1]", "good") == "c[1]"
    assert told.inputs("c[1]") == {"x": "j[1].t", "y": "b[1].u"}


# --- Races


def test_a_second_value_is_dropped_and_the_run_that_started_stays():
    told = Told("> a.x", "> b.x", "a.ok.t -> c.x", "b.ok.t -> c.x")
    assert told.settle("b") == "c"
    assert told.settle("a") == ""
    assert told.failures == [("c", "raced")]
    assert told.inputs("c") == {"x": "b.t"}
    told.settle("c")
    assert told.status == "completed_with_failures"


def test_a_race_before_the_start_leaves_the_first_value():
    told = Told("> a.x", "> b.x", "> d.x", "a.ok.t -> c.x", "b.ok.t -> c.x", "d.ok.t -> c.y")
    told.settle_all("a", "b")
    assert told.settle("d") == "c"
    assert told.inputs("c") == {"x": "a.t", "y": "d.t"}


def test_a_race_terminates_where_the_vertex_says_so():
    told = Told(
        *("> a.x", "> b.x", "a.ok.t -> c.x", "b.ok.t -> c.x", "a.ok.t -> d.x"),
        c={"post_failure_action": PostFailureAction.TERMINATE},
    )
    told.settle_all("a", "b")
    assert (told.ready, told.status) == ("", "terminated")


def test_a_race_in_an_iteration_is_that_of_its_run():
    told = Told(
        "> a.x", "a.ok.l for_each b.x", "b.ok.t -> c.x", "b.ok.u -> c.x", "c.ok.t collect d.x"
    )
    told.settle("a", l=2)
    assert told.settle("b[1]") == "c[1]"
    assert told.failures == [("c[1]", "raced")]


def test_two_values_of_one_iteration_for_one_list_race():
    told = Told(*MAPPED, "b.ok.u collect c.x")
    told.settle("a", l=1)
    assert told.settle("b[0]") == "c"
    assert told.failures == [("c", "raced")]
    assert told.inputs("c") == {"x": ["b[0].t"]}


def test_an_element_and_an_edge_inside_race_for_a_port():
    told = Told(
        *("> a.x", "a.ok.l for_each b.x", "a.ok.m for_each c.x"),
        *("b.ok.t -> c.x", "c.ok.t collect d.x"),
    )
    assert told.settle("a", l=2, m=2) == "b[0] b[1] c[0] c[1]"
    told.settle("b[1]", "other")
    told.settle("b[0]")
    assert told.failures == [("c[0]", "raced")]
    assert told.inputs("c[0]") == {"x": "a.m#0"}


def test_a_second_list_for_an_open_region_is_a_race():
    told = Told(*MAPPED, "> e.x", "e.ok.l for_each b.x")
    told.settle("a", l=1)
    assert told.settle("e", l=5) == ""
    assert told.failures == [("b", "raced")]
    assert told.ready == "b[0]"


# --- Failures and ends


def test_a_failure_is_tried_again_while_attempts_remain():
    told = Told("> a.x", "a.ok.t -> b.x", a={"attempts": 2})
    assert told.fail("a") == "a"
    assert (told.execution.attempt(Run("a")), told.failures) == (2, [])
    assert told.settle("a") == "b"


def test_an_iteration_that_is_tried_again_holds_its_region_open_once():
    told = Told(*MAPPED, b={"attempts": 2})
    told.settle("a", l=1)
    assert told.fail("b[0]") == "b[0]"
    assert told.settle("b[0]") == "c"
    assert told.inputs("c") == {"x": ["b[0].t"]}


def test_the_last_failure_flows_along_the_edges_of_err_eval():
    told = Told(
        "> a.x", "a._err_eval.reason -> b.x", "a._err_eval.detail -> b.y", a={"attempts": 2}
    )
    told.fail("a")
    assert told.fail("a") == "b"
    assert told.inputs("b") == {"x": "a.reason", "y": "a.detail"}
    told.settle("b")
    assert (told.status, told.failures) == ("completed", [])


def test_a_failure_that_nobody_handles_ends_its_walk():
    told = Told("> a.x", "> b.x", "a.ok.t -> c.x")
    assert told.fail("a") == ""
    assert told.ready == "b"
    told.settle("b")
    assert (told.status, told.failures) == ("completed_with_failures", [("a", "timed_out")])


def test_without_a_word_a_failure_terminates():
    told = Told("> a.x", "> b.x", "a.ok.t -> z.x", action="terminate")
    told.fail("a")
    assert (told.ready, told.status) == ("", "terminated")


def test_what_is_under_way_at_a_termination_is_closed_and_brings_nothing():
    told = Told("> a.x", "> b.x", "b.ok.t -> c.x", "b._err_eval.reason -> d.x", action="terminate")
    told.request("a", "b").fail("a")
    assert told.status == "running"
    assert told.settle("b") == ""
    assert told.status == "terminated"
    assert told.execution.outcome(Run("b")).variant == "ok"


def test_nothing_is_tried_again_after_a_termination():
    told = Told("> a.x", "> b.x", "a.ok.t -> z.x", action="terminate", b={"attempts": 3})
    told.request("a", "b").fail("a")
    assert told.fail("b") == ""
    assert told.status == "terminated"
    assert told.failures == [("a", "timed_out")]


def test_a_variant_that_lacks_a_port_is_a_failure():
    told = Told("> a.x", "a.ok.other -> b.x", a={"attempts": 2})
    assert told.settle("a") == "a"
    assert told.settle("a") == ""
    assert told.failures == [("a", "port_missing")]


def test_a_failed_iteration_that_terminates_ends_all():
    told = Told(*MAPPED, b={"post_failure_action": PostFailureAction.TERMINATE})
    told.settle("a", l=3)
    told.fail("b[1]")
    assert (told.ready, told.status) == ("", "terminated")


@pytest.mark.parametrize(
    ("event", "status"), [(Cancelled(), "cancelled"), (TimedOut(), "timed_out")]
)
def test_an_early_end_requests_nothing_more(event, status):
    told = Told(*MAPPED)
    told.settle("a", l=3)
    told.request("b[0]")
    told.execution.apply(event)
    assert (told.ready, told.status) == ("", "running")
    assert told.settle("b[0]") == ""
    assert told.status == status


def test_the_first_end_counts():
    told = Told("> a.x")
    told.settle("a")
    told.execution.apply(Cancelled())
    assert told.status == "completed"


def test_events_that_do_not_fit_change_nothing():
    told = Told("> a.x", "a.ok.t -> b.x")
    told.request("b")
    told.execution.apply(Closed(Run("a"), Settled("ok", {"t": None})))
    assert told.ready == "a"
    assert told.settle("a") == "b"
    assert told.settle("a") == ""
    assert told.failures == []


# --- Results


def results(told):
    return {str(each.source): told._shown(each.value) for each in told.execution.results()}


def test_the_results_are_what_the_outputs_name():
    told = Told("> a.x", "a.ok.t -> b.x", "b.ok.t >", "b.bad.t >")
    told.settle("a")
    told.settle("b", "bad")
    assert results(told) == {"b.bad.t": "b.t"}


def test_without_outputs_the_last_of_each_walk_is_the_result():
    told = Told("> a.x", "> b.x", "a.ok.t -> c.x")
    told.settle_all("a", "b", "c")
    assert results(told) == {"b.ok.t": "b.t", "b.ok.u": "b.u", "c.ok.t": "c.t", "c.ok.u": "c.u"}


def test_results_come_in_the_order_of_the_outputs():
    told = Told("> z.x", "> a.x", "z.ok.u >", "a.ok.u >", "z.ok.t >")
    told.settle_all("a", "z")
    assert list(results(told)) == ["z.ok.u", "a.ok.u", "z.ok.t"]


@pytest.mark.parametrize(
    ("missing", "told"),
    [
        (("a", "b"), "nothing came for a, b"),
        (("_after",), "what it comes after did not happen"),
        (("a", "_after"), "nothing came for a, and what it comes after did not happen"),
    ],
)
def test_what_did_not_start_is_told_without_names_that_nobody_gave(missing, told):
    assert Waiting(Run("pay"), missing).sentence == f"pay did not start: {told}"
