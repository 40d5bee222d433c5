"""The verdict of the benchmark of a fleet about the events on the chain."""

import pytest

from benchmarks.fleet import CASES, Case, Result, figures
from benchmarks.fleet_calls import Call
from benchmarks.fleet_record import Record
from benchmarks.fleet_stage import FleetTerms
from benchmarks.fleet_tools import HANGING, QUICK
from benchmarks.fleet_work import Work
from nexus_tools.contracts.move_bindings.invocation import (
    InvocationExpired,
    InvocationFailed,
    InvocationRequested,
    InvocationSettled,
)
from nexus_tools.contracts.move_bindings.workflows.execution import ExecutionEnded
from nexus_tools.sui.types.address import Address


def event(kind, **fields):
    """Return an event in which the benchmark reads only these fields."""
    return kind(**(dict.fromkeys(kind.__struct_fields__, 0) | fields))


def requested(number, fqn=QUICK, attempt=None):
    invocation = Address.of(number)
    return event(InvocationRequested, invocation=invocation, fqn=str(fqn), attempt=attempt)


def settled(number):
    return event(InvocationSettled, invocation=Address.of(number))


def failed(number):
    invocation = Address.of(number)
    return event(InvocationFailed, invocation=invocation, reason="timed_out", detail="late")


def expired(number):
    return event(InvocationExpired, invocation=Address.of(number))


def ended(status="completed"):
    return event(ExecutionEnded, status=status)


def record_of(*events):
    record = Record()
    for at, seen in enumerate(events, 100):
        record.see(seen, at)
    return record


def test_record_is_complete_when_all_is_closed_and_ended():
    events = [requested(1), requested(2, attempt="attempt"), settled(1), settled(2), ended()]
    assert record_of(*events).is_complete(1, 1)
    for missing in (0, 2, 3, 4):
        rest = [seen for place, seen in enumerate(events) if place != missing]
        assert not record_of(*rest).is_complete(1, 1)


def test_record_lists_invocations_that_were_not_closed_exactly_once():
    record = record_of(*map(requested, (1, 2, 3)), settled(1), failed(1), settled(2))
    assert record.not_closed_once == [Address.of(1), Address.of(3)]


def test_record_lists_expired_and_open_invocations_as_missed():
    record = record_of(*map(requested, (1, 2, 3)), settled(1), expired(2))
    assert record.missed == [Address.of(2), Address.of(3)]


# --- Figures

CASE = Case(Work({QUICK: 1}, 1, 0.0, 1.0), FleetTerms(2, bound=1))
GOOD = (requested(1), settled(1), ended())


def call(started_at, ended_at, tool=QUICK):
    return Call(str(tool), str(Address.of(1)), started_at, ended_at, 200)


def missed_targets(*events, calls=None, failures=(), left=(0, 0, 0), case=CASE):
    calls = [call(101, 102)] if calls is None else calls
    result = Result(record_of(*events), calls, 110, [0.1], 0.2, 1, list(failures), *left, 9)
    return [figure.name for figure in figures("x", case, result) if figure.is_met is False]


def test_figures_of_a_good_case_meet_their_targets():
    assert missed_targets(*GOOD) == []


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({"events": GOOD[2:]}, ["invocations requested"]),
        ({"events": (*GOOD, settled(1))}, ["not closed exactly once"]),
        ({"events": (requested(1), expired(1), ended())}, ["missed"]),
        ({"events": (requested(1), failed(1), ended())}, ["failed without a hanging tool"]),
        ({"events": (*GOOD[:2], ended("failed"))}, ["executions completed"]),
        ({"failures": ["process 1 ended by itself with 1"]}, ["processes failed"]),
        ({"left": (1, 0, 0)}, ["open in the journal at the end"]),
        ({"left": (0, 1, 0)}, ["leases at the end"]),
        ({"left": (0, 0, 1)}, ["SUI lost"]),
        ({"calls": [call(101, 102), call(103, 104)]}, ["tool calls"]),
        ({"calls": [call(101, 109)] * 3}, ["tool calls", "calls of a tool at once"]),
        ({"calls": [call(103, 104)]}, ["longest time without a call"]),
    ],
)
def test_figures_miss_the_target_of_each_fault(changes, names):
    events = changes.get("events", GOOD)
    others = {name: value for name, value in changes.items() if name != "events"}
    assert missed_targets(*events, **others) == [f"fleet x: {name}" for name in names]


def test_figures_expect_failures_of_hanging_tools():
    case = Case(Work({HANGING[0]: 1}, 1, 0.0, 1.0))
    events = requested(1, HANGING[0]), failed(1), ended()
    assert missed_targets(*events, calls=[call(101, 109, HANGING[0])], case=case) == []


def test_figures_allow_stalls_and_repeated_calls_that_a_fault_explains():
    case = Case(CASE.work, hidden_s=10.0, may_repeat=True)
    assert missed_targets(*GOOD, calls=[call(103, 104), call(105, 106)], case=case) == []


# --- Work


def test_batches_request_all_invocations_once_and_mix_the_tools():
    work = Work({QUICK: 25, HANGING[0]: 12}, 0, 0.0, 1.0)
    batches = list(work.batches())
    assert [tool for tool, _ in batches] == [QUICK, HANGING[0], QUICK, QUICK, HANGING[0]]
    numbers = {QUICK: [], HANGING[0]: []}
    for tool, batch in batches:
        assert len(batch) <= 10
        numbers[tool] += batch
    assert numbers == {QUICK: [*range(25)], HANGING[0]: [*range(12)]}


def test_each_case_has_the_same_amount_of_work_except_the_bounded_one():
    sizes = {name: (case.work.total, case.work.executions) for name, case in CASES.items()}
    assert sizes.pop("bounded") == (40, 0)
    assert set(sizes.values()) == {(1_000, 200)}
