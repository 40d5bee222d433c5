"""Regions and loops that do not nest, and values that later rounds lack."""

import pytest

from tests.workflow.notation import errors, flow, warnings

DIALECT = {"dialect": "nexus_tools/1"}
LOOP = ("> a.x", "a.ok.text -> b.text", "b.ok.text -> c.text")
ENDS = ("c.more.text do_while b.text", "c.done.text break d.text")


def test_blocks_that_do_not_nest_are_errors_in_the_dialect():
    # The loop begins before the region, and ends inside.
    document = flow(
        *("> a.x", "a.ok.list for_each b.x", "b.more.one do_while a.x", "b.done.one break c.x"),
        *("c.ok.one collect d.x",),
        **DIALECT,
    )
    assert [rule for rule, *_ in errors(document)]


def test_value_from_outside_a_loop_is_missing_in_the_second_round():
    document = flow(*LOOP, "a.ok.topic -> c.topic", *ENDS)
    message = (
        "'Input port: c.topic' gets its value from outside the loop only in the first round. "
        "Use a static edge to provide it in all rounds."
    )
    assert warnings(document) == [("second_round", message, "/edges/2")]


@pytest.mark.parametrize(
    "line",
    [
        "a.ok.topic static c.topic",
        "c.topic = 7",
        "b.ok.topic -> c.topic",
    ],
)
def test_static_or_repeated_value_is_present_in_every_round(line):
    assert warnings(flow(*LOOP, line, *ENDS)) == []
