"""Traces put together by hand, and what of them is shown."""

import pytest

from nexus_tools.sui.client import TraceView

OURS, FRAMEWORK = f"0x{0xAB << 240:064x}", f"0x{2:064x}"
ALL = TraceView(depth=9, natives=True, framework=True)


def call(name, *steps, package=OURS, native=False, status="returned", left_out=0):
    return {
        "kind": "call",
        "package": package,
        "function": name,
        "is_native": native,
        "status": status,
        "steps": list(steps),
        "left_out": left_out,
    }


def event(name):
    return {"kind": "event", "function": name}


def command(*steps, left_out=0):
    return {"kind": "MoveCall", "steps": list(steps), "left_out": left_out}


def framework(name, *steps, **options):
    return call(name, *steps, package=FRAMEWORK, **options)


def visible_names(parent, view, level=1):
    """The names of what is shown, as nested lists."""
    found = []
    for step in view.steps(parent, level):
        inner = visible_names(step, view, level + 1) if step["kind"] == "call" else []
        found.append([step["function"], *inner])
    return found


def test_trace_tree_keeps_the_order_of_calls_and_events():
    trace = command(call("a", call("b"), event("e"), call("c")), call("d"))
    assert visible_names(trace, ALL) == [["a", ["b"], ["e"], ["c"]], ["d"]]
    assert ALL.hidden(trace, 1) == 0


def test_calls_below_the_depth_are_counted():
    trace = command(call("a", call("b", call("c")), call("d")))
    assert visible_names(trace, TraceView(depth=1)) == [["a"]]
    assert TraceView(depth=1).hidden(trace["steps"][0], 2) == 3
    assert visible_names(trace, TraceView(depth=2)) == [["a", ["b"], ["d"]]]


def test_events_below_the_depth_are_shown_where_they_were_emitted():
    trace = command(call("a", call("b", event("one"), call("c", event("two"))), event("three")))
    assert visible_names(trace, TraceView(depth=1)) == [["a", ["one"], ["two"], ["three"]]]


def test_failed_call_below_the_depth_is_shown():
    failing = call("b", call("c", status="failed"), call("d"), status="unwound")
    trace = command(call("a", failing, status="unwound"))
    assert visible_names(trace, TraceView(depth=1)) == [["a", ["c"]]]
    assert TraceView(depth=1).hidden(trace["steps"][0], 2) == 2  # b and d


def test_natives_option_shows_native_calls():
    trace = command(call("a", framework("emit", native=True), event("e")))
    assert visible_names(trace, TraceView(depth=9)) == [["a", ["e"]]]
    assert visible_names(trace, TraceView(depth=9, natives=True)) == [["a", ["emit"], ["e"]]]
    assert TraceView(depth=9).hidden(trace["steps"][0], 2) == 0


def test_failed_native_is_shown():
    native = framework("borrow", native=True, status="failed")
    assert visible_names(command(call("a", native, status="unwound")), TraceView(depth=9)) == [
        ["a", ["borrow"]]
    ]


def test_framework_calls_are_collapsed():
    inner = framework("split", framework("value"), event("e"))
    trace = command(call("a", inner), framework("mint", framework("new")))
    assert visible_names(trace, TraceView(depth=9)) == [["a", ["split", ["e"]]], ["mint"]]
    assert TraceView(depth=9).hidden(inner, 3) == 1
    assert visible_names(trace, TraceView(depth=9, framework=True)) == [
        ["a", ["split", ["value"], ["e"]]],
        ["mint", ["new"]],
    ]


def test_calls_that_were_not_kept_are_counted():
    trace = command(call("a", call("b", left_out=3)), left_out=4)
    assert ALL.hidden(trace, 1) == 4
    assert TraceView(depth=1).hidden(trace["steps"][0], 2) == 4  # b, and the three in it


@pytest.mark.parametrize(
    ("text", "short"),
    [
        (OURS, "0x00ab…0000"),
        (f"{FRAMEWORK}::sui::SUI", "0x2::sui::SUI"),
        (f"vector<{FRAMEWORK}::sui::SUI>", "vector<0x2::sui::SUI>"),
        ("0x12 is no address", "0x12 is no address"),
    ],
)
def test_addresses_are_shortened(text, short):
    assert TraceView(depth=1).short(text) == short


def test_full_option_keeps_user_addresses_whole():
    view = TraceView(depth=1, full=True)
    assert view.short(f"{OURS} {FRAMEWORK}") == f"{OURS} 0x2"
    assert view.value("x" * 500) == "x" * 500


def test_long_value_is_cut_to_80_characters():
    assert TraceView(depth=1).value("x" * 80) == "x" * 80
    assert TraceView(depth=1).value("x" * 81) == "x" * 79 + "…"
