"""Sets of scenarios: every choice where that can be, else some."""

import json
from functools import reduce
from operator import and_, or_

import pytest

from nexus_tools.workflow import read_document
from nexus_tools.workflow.linter.graph import Graph
from nexus_tools.workflow.linter.scenarios import scenarios_of
from tests.workflow.notation import flow


def branches(count):
    """A document of so many vertices that end in `one` or in `two`, and the sets of both."""
    lines = [
        line
        for at in range(count)
        for line in (f"> v{at}.x", f"v{at}.one.p -> w{at}.x", f"v{at}.two.p -> w{at}.x")
    ]
    graph = Graph(read_document(json.dumps(flow(*lines)))[0])
    scenarios = scenarios_of(graph)
    takes = {name: scenarios.takes[number] for name, number in graph.variants.items()}
    return scenarios, [(takes[f"v{at}", "one"], takes[f"v{at}", "two"]) for at in range(count)]


@pytest.mark.parametrize(("count", "are_all"), [(1, True), (14, True), (15, False), (300, False)])
def test_vertices_end_in_one_variant_in_each_scenario(count, are_all):
    scenarios, sets = branches(count)
    assert scenarios.are_all is are_all
    for one, two in sets:
        assert (one & two, one | two) == (0, scenarios.everything)


def test_scenarios_cover_all_choices_up_to_2_to_the_14():
    scenarios, sets = branches(14)
    assert scenarios.everything.bit_count() == 2**14
    for number in (0, 1, 2**14 - 1, 0b10_1100_0101_1010):
        chosen = (pair[number >> at & 1] for at, pair in enumerate(sets))
        assert reduce(and_, chosen).bit_count() == 1


def test_larger_sets_have_a_scenario_for_each_variant_alone():
    _, sets = branches(300)
    for at in (0, 150, 299):
        others = reduce(or_, (two for other, (_, two) in enumerate(sets) if other != at))
        assert sets[at][1] & ~others


def test_scenarios_are_deterministic():
    assert branches(20)[0].takes == branches(20)[0].takes
