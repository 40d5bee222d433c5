import json
import re
from dataclasses import replace

import pytest

from nexus_tools.errors import NotFoundError
from nexus_tools.workflow import (
    DEFAULT_GROUP,
    CollectedList,
    Execution,
    ExecutionCancelled,
    ExecutionTimedOut,
    GivenValue,
    GroupStarted,
    PostFailureAction,
    Run,
    RunClosed,
    RunFailed,
    RunRequested,
    RunSettled,
    Waiting,
    create_plan,
    read_document,
)
from tests.workflow.notation import flow


def run_of(text):
    """`b[1,0]` as a run."""
    name, _, path = text.partition("[")
    return Run(name, tuple(int(number) for number in re.findall(r"\d+", path)))


class Replay:
    """An execution that is replay, run by run, what comes of it. Runs are texts: `b[1,0]`."""

    def __init__(self, *lines, group=DEFAULT_GROUP, action="continue", **vertices):
        document = read_document(json.dumps(flow(*lines, post_failure_action=action)))[0]
        changed = (replace(each, **vertices.get(each.name, {})) for each in document.vertices)
        self.execution = Execution(create_plan(replace(document, vertices=tuple(changed))))
        self.begun = self._readied(self.execution.apply(GroupStarted(group)))

    def _readied(self, step):
        return " ".join(map(str, step.ready))

    def request(self, *runs):
        for run in runs:
            self.execution.apply(RunRequested(run_of(run)))
        return self

    def settle(self, run, variant="ok", **lengths):
        """Request a run and settle it with these lists, and a port `t`; what is ready since."""
        self.request(run)
        lengths = {"t": None, "u": None} | lengths
        return self._readied(
            self.execution.apply(RunClosed(run_of(run), RunSettled(variant, lengths)))
        )

    def fail(self, run, reason="timed_out"):
        self.request(run)
        return self._readied(self.execution.apply(RunClosed(run_of(run), RunFailed(reason))))

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
        if isinstance(value, GivenValue):
            return "given"
        if isinstance(value, CollectedList):
            return [self._shown(each) for each in self.execution.collected(value)]
        element = "" if value.element is None else f"#{value.element}"
        return f"{value.run}.{value.port}{element}"


MAPPED = ("> a.x", "a.ok.l for_each b.x", "b.ok.t collect c.x")
LOOPED = ("> a.x", "a.ok.t -> b.x", "b.ok.t -> j.x", "j.poor.t do_while b.x", "j.good.t break c.x")


# --- Runs and their values


def test_entry_vertex_is_ready_at_the_start():
    replay = Replay("> a.x", "a.ok.t -> b.x")
    assert replay.begun == "a"
    assert replay.inputs("a") == {"x": "given"}


def test_run_starts_when_all_ports_have_a_value():
    replay = Replay("> a.x", "> b.x", "a.ok.t -> c.x", "b.ok.t -> c.y", "c.z = 1")
    assert replay.settle("a") == ""
    assert replay.waiting == {"c": "y"}
    assert replay.settle("b") == "c"
    assert replay.inputs("c") == {"x": "a.t", "y": "b.t", "z": "given"}


def test_ports_of_the_returned_variant_alone_carry_values():
    replay = Replay("> a.x", "a.ok.t -> b.x", "a.ok.u -> b.y", "a.bad.t -> c.x")
    assert replay.settle("a", "ok") == "b"
    assert replay.inputs("b") == {"x": "a.t", "y": "a.u"}
    replay.settle("b")
    assert replay.status == "completed"


def test_output_port_may_feed_several_ports():
    assert Replay("> a.x", "a.ok.t -> b.x", "a.ok.t -> c.x").settle("a") == "b c"


def test_variant_without_edges_ends_the_path():
    replay = Replay("> a.x", "a.ok.t -> b.x")
    assert replay.settle("a", "other") == ""
    assert replay.status == "completed"


def test_run_without_all_values_starves_without_a_failure():
    replay = Replay("> a.x", "a.ok.t -> c.x", "a.bad.t -> c.y")
    replay.settle("a", "ok")
    assert replay.waiting == {"c": "y"}
    assert (replay.status, replay.failures) == ("completed", [])


def test_order_only_ports_delay_the_run_without_a_value():
    replay = Replay("> a.x", "> b.x", "a.ok.t -> c._after", "b.ok.t -> c._after_b", "a.ok.t -> c.x")
    assert replay.settle("a") == ""
    assert replay.settle("b") == "c"
    assert replay.inputs("c") == {"x": "a.t"}


def test_entry_group_starts_only_its_vertices():
    replay = Replay("> a.x", "> b.x", "a.ok.t -> c.x", "b.ok.t -> d.x", "group g: a", group="g")
    assert replay.begun == "a"


def test_entry_port_outside_the_group_has_no_value():
    replay = Replay("> a.x", "> b.x", "a.ok.t -> b.y", "group g: a", group="g")
    assert replay.settle("a") == ""
    assert replay.waiting == {"b": "x"}


def test_vertex_with_only_defaults_starts_with_its_group():
    lines = ("> a.x", "b.x = 1", "a.ok.t -> c.x", "b.ok.t -> c.y", "group g: a b", "group h: a")
    assert Replay(*lines, group="g").begun == "a b"
    assert Replay(*lines, group="h").begun == "a"


def test_unknown_group_is_named():
    with pytest.raises(NotFoundError, match="Unknown entry group 'other'"):
        Replay("> a.x", "a.ok.t -> b.x", group="other")


# --- Regions


def test_for_each_starts_a_run_for_each_element():
    replay = Replay(*MAPPED)
    assert replay.settle("a", l=3) == "b[0] b[1] b[2]"
    assert [replay.inputs(f"b[{each}]") for each in range(3)] == [
        {"x": "a.l#0"},
        {"x": "a.l#1"},
        {"x": "a.l#2"},
    ]


def test_collect_keeps_the_order_of_iterations():
    replay = Replay(*MAPPED)
    replay.settle("a", l=3)
    assert replay.settle("b[2]") == ""
    assert replay.settle("b[0]") == ""
    assert replay.settle("b[1]") == "c"
    assert replay.inputs("c") == {"x": ["b[0].t", "b[1].t", "b[2].t"]}


def test_iteration_that_ends_before_the_collect_is_omitted():
    replay = Replay(*MAPPED)
    replay.settle("a", l=3)
    replay.settle_all("b[0]", "b[2]")
    assert replay.settle("b[1]", "bad") == "c"
    assert replay.inputs("c") == {"x": ["b[0].t", "b[2].t"]}


def test_failed_iteration_that_continues_is_omitted():
    replay = Replay(*MAPPED)
    replay.settle("a", l=2)
    replay.settle("b[1]")
    assert replay.fail("b[0]") == "c"
    assert replay.inputs("c") == {"x": ["b[1].t"]}
    replay.settle("c")
    assert (replay.status, replay.failures) == ("completed_with_failures", [("b[0]", "timed_out")])


def test_handled_failure_of_an_iteration_is_collected():
    replay = Replay(*MAPPED, "b._err_eval.reason -> e.x", "e.ok.t collect c.x")
    replay.settle("a", l=2)
    assert replay.fail("b[0]") == "e[0]"
    assert replay.inputs("e[0]") == {"x": "b[0].reason"}
    replay.settle("b[1]")
    assert replay.settle("e[0]") == "c"
    assert replay.inputs("c") == {"x": ["e[0].t", "b[1].t"]}
    assert replay.failures == []


def test_starved_iteration_is_omitted():
    replay = Replay(
        "> a.x", "a.ok.l for_each b.x", "b.ok.t -> d.x", "b.more.t -> d.y", "d.ok.t collect c.x"
    )
    replay.settle("a", l=1)
    assert replay.settle("b[0]") == "c"
    assert replay.inputs("c") == {"x": []}


def test_empty_list_is_collected_as_empty_lists():
    replay = Replay(*MAPPED, "b.bad.u collect c.y")
    assert replay.settle("a", l=0) == "c"
    assert replay.inputs("c") == {"x": [], "y": []}


def test_for_each_over_a_value_that_is_not_a_list_is_a_failure():
    replay = Replay(*MAPPED, "a.ok.t -> d.x")
    assert replay.settle("a", l=None) == "d"
    assert replay.failures == [("a", "not_a_list")]


def test_outer_values_are_available_in_every_iteration():
    replay = Replay(*MAPPED, "> e.x", "e.ok.t -> b.y")
    assert replay.settle("a", l=2) == ""  # the region opens when all that enters it is there
    assert replay.waiting == {"b": "y"}
    assert replay.settle("e") == "b[0] b[1]"
    assert replay.inputs("b[1]") == {"x": "a.l#1", "y": "e.t"}


def test_region_that_never_opens_has_no_runs_and_collects_nothing():
    replay = Replay(*MAPPED, "> e.x", "e.bad.t -> b.y")
    replay.settle("a", l=2)
    replay.settle("e", "ok")
    assert replay.ready == ""
    assert replay.waiting == {"b": "y"}
    assert replay.status == "completed"


@pytest.mark.parametrize(("one", "other"), [(3, 1), (1, 3)])
def test_shorter_list_limits_the_iterations_when_both_are_required(one, other):
    replay = Replay("> a.x", "a.ok.l for_each b.x", "a.ok.m for_each b.y", "b.ok.t collect c.x")
    assert replay.settle("a", l=one, m=other) == "b[0]"
    assert replay.settle("b[0]") == "c"


def test_head_waits_for_another_head_in_each_iteration():
    replay = Replay(
        *("> a.x", "a.ok.l for_each b.x", "a.ok.m for_each c.x"),
        *("b.ok.t -> c.y", "c.ok.t collect d.x"),
    )
    assert replay.settle("a", l=2, m=2) == "b[0] b[1]"
    assert replay.settle("b[1]") == "c[1]"
    assert replay.inputs("c[1]") == {"x": "a.m#1", "y": "b[1].t"}


def test_head_without_an_entry_value_starts_no_iteration():
    replay = Replay(*MAPPED, "> b.y", "group g: a", group="g")
    assert replay.settle("a", l=2) == "c"
    assert replay.inputs("c") == {"x": []}


def test_value_for_the_whole_region_starts_no_iteration():
    replay = Replay(
        *("> a.x", "a.ok.l for_each b.x", "a.ok.t -> c.x", "b.bad.t -> c.x"),
        *("c.ok.t -> k.x", "b.ok.t static k.y"),
        *("k.poor.t do_while c.x", "k.good.t break e.x", "e.ok.t collect d.x"),
    )
    assert replay.settle("a", l=1) == "b[0]"
    assert replay.settle("b[0]") == "d"  # the loop of c opened, and nothing brought c about


def test_iteration_of_the_longer_list_starves_at_the_join():
    replay = Replay(
        *("> a.x", "a.ok.l for_each b.x", "a.ok.m for_each d.x"),
        *("b.ok.t -> e.x", "d.ok.t -> e.y", "e.ok.t collect c.x"),
    )
    assert replay.settle("a", l=2, m=1) == "b[0] b[1] d[0]"
    assert replay.settle("b[0]") == ""
    assert replay.settle("b[1]") == ""
    assert replay.settle("d[0]") == "e[0]"
    assert replay.settle("e[0]") == "c"
    assert replay.inputs("c") == {"x": ["e[0].t"]}
    assert replay.waiting == {"e[1]": "y"}


def test_empty_list_closes_the_region_even_if_another_list_has_elements():
    replay = Replay("> a.x", "a.ok.l for_each b.x", "a.ok.m for_each b.y", "b.ok.t collect c.x")
    assert replay.settle("a", l=3, m=0) == "c"
    assert replay.inputs("c") == {"x": []}


def test_region_without_collect_is_a_path_for_each_element():
    replay = Replay("> a.x", "a.ok.l for_each b.x", "b.ok.t -> c.x")
    replay.settle("a", l=2)
    assert replay.settle("b[1]") == "c[1]"
    replay.settle("c[1]")
    replay.settle("b[0]")
    replay.settle("c[0]")
    assert replay.status == "completed"


def test_parallel_limits_the_ready_iterations():
    replay = Replay(*MAPPED, b={"parallel": 2})
    assert replay.settle("a", l=4) == "b[0] b[1]"
    replay.request("b[0]", "b[1]")
    assert replay.ready == ""
    assert replay.settle("b[1]") == "b[2]"
    assert replay.ready == "b[2]"


def test_iterations_can_be_requested_in_any_order():
    replay = Replay(*MAPPED, b={"parallel": 3})
    replay.settle("a", l=4)
    assert replay.settle("b[2]") == "b[3]"
    assert replay.ready == "b[0] b[1] b[3]"


def test_runs_can_be_requested_while_they_are_listed():
    replay = Replay(*MAPPED, "> e.x", "e.ok.t -> z.x", b={"parallel": 2})
    replay.settle("a", l=3)
    requested = []
    for run in replay.execution.ready():
        replay.execution.apply(RunRequested(run))
        requested.append(str(run))
    assert requested == ["e", "b[0]", "b[1]"]
    assert [str(run) for run in replay.execution.under_way()] == requested


def test_unrequested_iterations_share_one_record():
    replay = Replay(*MAPPED)
    replay.settle("a", l=1_000)
    records = replay.execution._records
    assert (len(records.runs), len(records.instances)) == (1, 1)


# --- Regions in regions


NESTED = (
    *("> a.x", "a.ok.l for_each b.x", "b.ok.l for_each c.x"),
    *("c.ok.t collect d.x", "d.ok.t collect e.x"),
)


def test_nested_for_each_has_iterations_in_each_iteration():
    replay = Replay(*NESTED)
    replay.settle("a", l=2)
    assert replay.settle("b[1]", l=2) == "c[1,0] c[1,1]"
    assert replay.settle("c[1,1]") == ""
    assert replay.settle("c[1,0]") == "d[1]"
    assert replay.inputs("d[1]") == {"x": ["c[1,0].t", "c[1,1].t"]}
    assert replay.settle("b[0]", l=1) == "c[0,0]"
    assert replay.settle("d[1]") == ""
    assert replay.settle("c[0,0]") == "d[0]"
    assert replay.settle("d[0]") == "e"
    assert replay.inputs("e") == {"x": ["d[0].t", "d[1].t"]}


def test_empty_inner_list_is_collected_as_an_empty_list():
    replay = Replay(*NESTED)
    replay.settle("a", l=2)
    assert replay.settle("b[0]", l=0) == "d[0]"
    assert replay.inputs("d[0]") == {"x": []}


def test_omitted_iteration_collects_nothing_from_its_inner_region():
    replay = Replay(*NESTED)
    replay.settle("a", l=2)
    replay.settle("b[0]", "bad")
    assert replay.settle("b[1]", l=1) == "c[1,0]"
    assert replay.settle("c[1,0]") == "d[1]"
    assert replay.settle("d[1]") == "e"
    assert replay.inputs("e") == {"x": ["d[1].t"]}


def test_value_may_enter_two_regions_at_once():
    replay = Replay(*NESTED, "a.ok.t -> c.y")
    replay.settle("a", l=1)
    assert replay.settle("b[0]", l=1) == "c[0,0]"
    assert replay.inputs("c[0,0]") == {"x": "b[0].l#0", "y": "a.t"}


def test_outer_list_may_be_iterated_with_an_inner_one():
    replay = Replay(*NESTED, "a.ok.m for_each c.y")
    replay.settle("a", l=2, m=1)
    assert replay.settle("b[1]", l=2) == "c[1,0]"
    assert replay.inputs("c[1,0]") == {"x": "b[1].l#0", "y": "a.m#0"}


def test_inner_region_that_never_opens_does_not_block_the_outer_one():
    replay = Replay(*NESTED, "b.more.t -> c.y")
    replay.settle("a", l=1)
    assert replay.settle("b[0]", l=3) == "e"
    assert replay.inputs("e") == {"x": []}


# --- Loops


def test_loop_repeats_until_it_breaks():
    replay = Replay(*LOOPED)
    assert replay.settle("a") == "b[0]"
    assert replay.settle("b[0]") == "j[0]"
    assert replay.settle("j[0]", "poor") == "b[1]"
    assert replay.inputs("b[1]") == {"x": "j[0].t"}
    assert replay.settle("b[1]") == "j[1]"
    assert replay.settle("j[1]", "good") == "c"
    assert replay.inputs("c") == {"x": "j[1].t"}


def test_value_that_enters_a_loop_is_present_in_the_first_round_only():
    replay = Replay(*LOOPED, "a.ok.u -> j.y")
    replay.settle("a")
    assert replay.settle("b[0]") == "j[0]"
    replay.settle("j[0]", "poor")
    assert replay.settle("b[1]") == ""
    assert replay.waiting == {"j[1]": "y"}


def test_static_value_is_present_in_every_round():
    replay = Replay(*LOOPED, "a.ok.u static j.y")
    replay.settle("a")
    replay.settle("b[0]")
    replay.settle("j[0]", "poor")
    assert replay.settle("b[1]") == "j[1]"
    assert replay.inputs("j[1]") == {"x": "b[1].t", "y": "a.u"}


def test_loop_starts_when_its_static_values_are_present():
    replay = Replay(*LOOPED, "> e.x", "e.ok.t static j.y")
    assert replay.settle("a") == ""
    assert replay.waiting == {"b[0]": "", "j": "y"}
    assert replay.settle("e") == "b[0]"


def test_loop_in_an_iteration_waits_for_static_values_of_that_iteration():
    replay = Replay(
        *("> a.x", "a.ok.l for_each b.x", "a.ok.m for_each e.x", "b.ok.t -> j.x"),
        *("e.ok.t static j.y", "j.poor.t do_while b.x", "j.good.t break c.x", "c.ok.t collect d.x"),
    )
    assert replay.settle("a", l=2, m=2) == "e[0] e[1]"
    assert replay.settle("e[1]") == "b[1,0]"
    assert replay.settle("b[1,0]") == "j[1,0]"


def test_region_in_a_loop_waits_for_the_loop():
    replay = Replay(
        *(*LOOPED, "> e.x", "e.ok.t static j.y"),
        *("b.bad.l for_each r.x", "a.ok.l for_each r.x", "r.ok.t collect s.x"),
    )
    assert replay.settle("a", l=1) == ""
    assert replay.settle("e") == "b[0] r[0,0]"


def test_static_edge_within_a_loop_is_valid_for_its_round():
    replay = Replay(*LOOPED, "b.ok.u static j.y")
    replay.settle("a")
    replay.settle("b[0]")
    replay.settle("j[0]", "poor")
    assert replay.settle("b[1]") == "j[1]"
    assert replay.inputs("j[1]") == {"x": "b[1].t", "y": "b[1].u"}


def test_entry_and_default_values_are_available_in_every_round():
    replay = Replay(*LOOPED, "b.y = 1", "> b.z", "group g: a b", group="g")
    replay.settle("a")
    replay.settle("b[0]")
    assert replay.settle("j[0]", "poor") == "b[1]"
    assert replay.inputs("b[1]") == {"x": "j[0].t", "y": "given", "z": "given"}


def test_entry_port_with_a_do_while_edge_takes_the_value_of_the_edge():
    replay = Replay("> b.x", "b.ok.t -> j.x", "j.poor.t do_while b.x", "j.good.t break c.x")
    assert replay.begun == "b[0]"
    replay.settle("b[0]")
    assert replay.settle("j[0]", "poor") == "b[1]"
    assert (replay.inputs("b[0]"), replay.inputs("b[1]")) == ({"x": "given"}, {"x": "j[0].t"})


def test_default_value_is_used_when_the_source_returns_another_variant():
    replay = Replay(*LOOPED, "b.hint = 1", "j.bad.t do_while b.x", "j.bad.u do_while b.hint")
    replay.settle("a")
    assert replay.inputs("b[0]") == {"x": "a.t", "hint": "given"}
    replay.settle("b[0]")
    replay.settle("j[0]", "bad")
    assert replay.inputs("b[1]") == {"x": "j[0].t", "hint": "j[0].u"}
    replay.settle("b[1]")
    assert replay.settle("j[1]", "poor") == "b[2]"
    assert replay.inputs("b[2]") == {"x": "j[1].t", "hint": "given"}


def test_default_value_waits_for_another_possible_source():
    replay = Replay(
        *LOOPED, "b.ok.u -> k.x", "k.ok.t do_while b.hint", "k.bad.t break c.y", "b.hint = 1"
    )
    replay.settle("a")
    replay.settle("b[0]")
    assert replay.settle("j[0]", "poor") == ""  # k[0] may still bring a hint
    assert replay.settle("k[0]", "ok") == "b[1]"
    assert replay.inputs("b[1]") == {"x": "j[0].t", "hint": "k[0].t"}


def test_sources_of_one_head_race_for_a_port_in_one_round():
    replay = Replay(*LOOPED, "b.ok.u -> k.x", "k.ok.t do_while b.x", "k.bad.t break c.y")
    replay.settle("a")
    replay.settle("b[0]")
    assert replay.settle("j[0]", "poor") == "b[1]"
    assert replay.settle("k[0]", "ok") == ""
    assert replay.failures == [("b[1]", "input_conflict")]
    assert replay.inputs("b[1]") == {"x": "j[0].t"}


def test_break_of_an_inner_loop_stays_in_the_outer_round():
    replay = Replay(
        *("> a.x", "a.ok.t -> b.x", "b.ok.t -> c.x", "c.poor.t do_while c.x", "c.good.t break d.x"),
        *("d.poor.t do_while b.x", "d.good.t break e.x"),
    )
    replay.settle("a")
    assert replay.settle("b[0]") == "c[0,0]"
    assert replay.settle("c[0,0]", "poor") == "c[0,1]"
    assert replay.settle("c[0,1]", "good") == "d[0]"
    assert replay.settle("d[0]", "poor") == "b[1]"
    assert replay.settle("b[1]") == "c[1,0]"
    assert replay.settle("c[1,0]", "good") == "d[1]"
    assert replay.settle("d[1]", "good") == "e"


def test_loop_in_an_iteration_counts_its_own_rounds():
    replay = Replay(
        *("> a.x", "a.ok.l for_each b.x", "b.poor.t do_while b.x", "b.good.t break c.x"),
        "c.ok.t collect d.x",
    )
    assert replay.settle("a", l=2) == "b[0,0] b[1,0]"
    assert replay.settle("b[1,0]", "poor") == "b[1,1]"
    assert replay.settle("b[0,0]", "good") == "c[0]"
    assert replay.settle("c[0]") == ""
    assert replay.settle("b[1,1]", "good") == "c[1]"
    assert replay.settle("c[1]") == "d"
    assert replay.inputs("d") == {"x": ["c[0].t", "c[1].t"]}


def test_region_in_a_loop_opens_in_each_round():
    replay = Replay(
        *("> a.x", "a.ok.t -> b.x", "b.ok.l for_each c.x", "c.ok.t collect d.x"),
        *("d.poor.t do_while b.x", "d.good.t break e.x"),
    )
    replay.settle("a")
    assert replay.settle("b[0]", l=1) == "c[0,0]"
    assert replay.settle("c[0,0]") == "d[0]"
    assert replay.settle("d[0]", "poor") == "b[1]"
    assert replay.settle("b[1]", l=2) == "c[1,0] c[1,1]"
    replay.settle("c[1,1]")
    assert replay.settle("c[1,0]") == "d[1]"
    assert replay.inputs("d[1]") == {"x": ["c[1,0].t", "c[1,1].t"]}


def test_break_edge_may_enter_a_region():
    replay = Replay(*LOOPED[:4], "j.good.t break r.y", "a.ok.l for_each r.x", "r.ok.t collect c.x")
    replay.settle("a", l=1)
    replay.settle("b[0]")
    assert replay.settle("j[0]", "good") == "r[0]"
    assert replay.inputs("r[0]") == {"x": "a.l#0", "y": "j[0].t"}


def test_break_edge_to_a_vertex_in_the_loop_stays_in_its_round():
    replay = Replay(*LOOPED, "b.ok.u -> c.y")
    replay.settle("a")
    replay.settle("b[0]")
    replay.settle("j[0]", "poor")
    replay.settle("b[1]")
    assert replay.settle("j[1]", "good") == "c[1]"
    assert replay.inputs("c[1]") == {"x": "j[1].t", "y": "b[1].u"}


# --- Races


def test_second_value_for_a_started_run_is_dropped():
    replay = Replay("> a.x", "> b.x", "a.ok.t -> c.x", "b.ok.t -> c.x")
    assert replay.settle("b") == "c"
    assert replay.settle("a") == ""
    assert replay.failures == [("c", "input_conflict")]
    assert replay.inputs("c") == {"x": "b.t"}
    replay.settle("c")
    assert replay.status == "completed_with_failures"


def test_race_before_the_start_keeps_the_first_value():
    replay = Replay("> a.x", "> b.x", "> d.x", "a.ok.t -> c.x", "b.ok.t -> c.x", "d.ok.t -> c.y")
    replay.settle_all("a", "b")
    assert replay.settle("d") == "c"
    assert replay.inputs("c") == {"x": "a.t", "y": "d.t"}


def test_race_terminates_if_the_vertex_says_terminate():
    replay = Replay(
        *("> a.x", "> b.x", "a.ok.t -> c.x", "b.ok.t -> c.x", "a.ok.t -> d.x"),
        c={"post_failure_action": PostFailureAction.TERMINATE},
    )
    replay.settle_all("a", "b")
    assert (replay.ready, replay.status) == ("", "terminated")


def test_race_in_an_iteration_is_recorded_for_its_run():
    replay = Replay(
        "> a.x", "a.ok.l for_each b.x", "b.ok.t -> c.x", "b.ok.u -> c.x", "c.ok.t collect d.x"
    )
    replay.settle("a", l=2)
    assert replay.settle("b[1]") == "c[1]"
    assert replay.failures == [("c[1]", "input_conflict")]


def test_two_values_of_an_iteration_race_for_a_collected_list():
    replay = Replay(*MAPPED, "b.ok.u collect c.x")
    replay.settle("a", l=1)
    assert replay.settle("b[0]") == "c"
    assert replay.failures == [("c", "input_conflict")]
    assert replay.inputs("c") == {"x": ["b[0].t"]}


def test_element_and_inner_edge_race_for_a_port():
    replay = Replay(
        *("> a.x", "a.ok.l for_each b.x", "a.ok.m for_each c.x"),
        *("b.ok.t -> c.x", "c.ok.t collect d.x"),
    )
    assert replay.settle("a", l=2, m=2) == "b[0] b[1] c[0] c[1]"
    replay.settle("b[1]", "other")
    replay.settle("b[0]")
    assert replay.failures == [("c[0]", "input_conflict")]
    assert replay.inputs("c[0]") == {"x": "a.m#0"}


def test_second_list_for_an_open_region_is_a_race():
    replay = Replay(*MAPPED, "> e.x", "e.ok.l for_each b.x")
    replay.settle("a", l=1)
    assert replay.settle("e", l=5) == ""
    assert replay.failures == [("b", "input_conflict")]
    assert replay.ready == "b[0]"


# --- Failures and ends


def test_failure_is_retried_while_attempts_remain():
    replay = Replay("> a.x", "a.ok.t -> b.x", a={"attempts": 2})
    assert replay.fail("a") == "a"
    assert (replay.execution.attempt(Run("a")), replay.failures) == (2, [])
    assert replay.settle("a") == "b"


def test_retried_iteration_keeps_its_region_open_once():
    replay = Replay(*MAPPED, b={"attempts": 2})
    replay.settle("a", l=1)
    assert replay.fail("b[0]") == "b[0]"
    assert replay.settle("b[0]") == "c"
    assert replay.inputs("c") == {"x": ["b[0].t"]}


def test_last_failure_flows_along_err_eval_edges():
    replay = Replay(
        "> a.x", "a._err_eval.reason -> b.x", "a._err_eval.detail -> b.y", a={"attempts": 2}
    )
    replay.fail("a")
    assert replay.fail("a") == "b"
    assert replay.inputs("b") == {"x": "a.reason", "y": "a.detail"}
    replay.settle("b")
    assert (replay.status, replay.failures) == ("completed", [])


def test_unhandled_failure_ends_its_path():
    replay = Replay("> a.x", "> b.x", "a.ok.t -> c.x")
    assert replay.fail("a") == ""
    assert replay.ready == "b"
    replay.settle("b")
    assert (replay.status, replay.failures) == ("completed_with_failures", [("a", "timed_out")])


def test_failure_terminates_by_default():
    replay = Replay("> a.x", "> b.x", "a.ok.t -> z.x", action="terminate")
    replay.fail("a")
    assert (replay.ready, replay.status) == ("", "terminated")


def test_pending_run_after_a_termination_is_closed_without_effect():
    replay = Replay(
        "> a.x", "> b.x", "b.ok.t -> c.x", "b._err_eval.reason -> d.x", action="terminate"
    )
    replay.request("a", "b").fail("a")
    assert replay.status == "running"
    assert replay.settle("b") == ""
    assert replay.status == "terminated"
    assert replay.execution.outcome(Run("b")).variant == "ok"


def test_failure_is_not_retried_after_a_termination():
    replay = Replay("> a.x", "> b.x", "a.ok.t -> z.x", action="terminate", b={"attempts": 3})
    replay.request("a", "b").fail("a")
    assert replay.fail("b") == ""
    assert replay.status == "terminated"
    assert replay.failures == [("a", "timed_out")]


def test_missing_port_of_a_variant_is_a_failure():
    replay = Replay("> a.x", "a.ok.other -> b.x", a={"attempts": 2})
    assert replay.settle("a") == "a"
    assert replay.settle("a") == ""
    assert replay.failures == [("a", "port_missing")]


def test_failed_iteration_that_terminates_ends_the_execution():
    replay = Replay(*MAPPED, b={"post_failure_action": PostFailureAction.TERMINATE})
    replay.settle("a", l=3)
    replay.fail("b[1]")
    assert (replay.ready, replay.status) == ("", "terminated")


@pytest.mark.parametrize(
    ("event", "status"), [(ExecutionCancelled(), "cancelled"), (ExecutionTimedOut(), "timed_out")]
)
def test_early_end_requests_no_further_runs(event, status):
    replay = Replay(*MAPPED)
    replay.settle("a", l=3)
    replay.request("b[0]")
    replay.execution.apply(event)
    assert (replay.ready, replay.status) == ("", "running")
    assert replay.settle("b[0]") == ""
    assert replay.status == status


def test_first_end_is_final():
    replay = Replay("> a.x")
    replay.settle("a")
    replay.execution.apply(ExecutionCancelled())
    assert replay.status == "completed"


def test_unexpected_events_change_nothing():
    replay = Replay("> a.x", "a.ok.t -> b.x")
    replay.request("b")
    replay.execution.apply(RunClosed(Run("a"), RunSettled("ok", {"t": None})))
    assert replay.ready == "a"
    assert replay.settle("a") == "b"
    assert replay.settle("a") == ""
    assert replay.failures == []


# --- Results


def results(replay):
    return {str(each.source): replay._shown(each.value) for each in replay.execution.results()}


def test_results_are_the_declared_outputs():
    replay = Replay("> a.x", "a.ok.t -> b.x", "b.ok.t >", "b.bad.t >")
    replay.settle("a")
    replay.settle("b", "bad")
    assert results(replay) == {"b.bad.t": "b.t"}


def test_results_are_the_last_values_of_each_path_without_outputs():
    replay = Replay("> a.x", "> b.x", "a.ok.t -> c.x")
    replay.settle_all("a", "b", "c")
    assert results(replay) == {"b.ok.t": "b.t", "b.ok.u": "b.u", "c.ok.t": "c.t", "c.ok.u": "c.u"}


def test_results_have_the_order_of_the_outputs():
    replay = Replay("> z.x", "> a.x", "z.ok.u >", "a.ok.u >", "z.ok.t >")
    replay.settle_all("a", "z")
    assert list(results(replay)) == ["z.ok.u", "a.ok.u", "z.ok.t"]


@pytest.mark.parametrize(
    ("missing", "replay"),
    [
        (("a", "b"), "a, b received no value"),
        (("_after",), "the step before it did not run"),
        (("a", "_after"), "a received no value, and the step before it did not run"),
    ],
)
def test_waiting_message_names_only_user_ports(missing, replay):
    assert Waiting(Run("pay"), missing).message == f"pay did not start: {replay}"
