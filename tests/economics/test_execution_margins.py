"""The measurements of executions and schedules by `scripts/economics`."""

import pytest

import execution_economics as economics
from execution_economics import (
    BEGIN,
    COLLECT,
    EFFORT,
    FAIL,
    REFUSE,
    REQUEST,
    REWRITE,
    SETTLE,
    SETTLE_LAST,
    TRIGGER,
    TRIGGER_TWO,
)
from gas_costs import PRICES, PROTOCOLS
from nexus_tools.tool import Answer, outcome_bytes
from tests.economics.fee_rules import Fees


@pytest.fixture(scope="module")
def steps():
    """Measure by the older gas rules, which are more expensive."""
    return economics.measure_executions(min(PROTOCOLS))


@pytest.mark.long
def test_each_transaction_is_measured(steps):
    closings = {SETTLE, SETTLE_LAST, FAIL, REWRITE, EFFORT}
    assert {*steps} == closings | {BEGIN, REQUEST, REFUSE, TRIGGER, TRIGGER_TWO, COLLECT}
    table = "\n".join(economics.execution_table(105, steps))
    assert all(name in table for name in steps)
    document = economics.execution_document(steps)
    assert document[FAIL]["margin_mist"]["1000"] == steps[FAIL].margin_mist(1_000)


@pytest.mark.long
def test_settling_and_failing_pay_by_the_rules(steps):
    size = outcome_bytes(Answer("ok", {"value": "x" * 100}))
    for price in PRICES:
        fees = Fees(price)
        assert steps[FAIL].paid_mist(price) == fees.failing_mist() + fees.advancing_mist(0)
        settled_mist = fees.settling_mist(size) + fees.advancing_mist(size)
        assert steps[SETTLE_LAST].paid_mist(price) == settled_mist


def test_settling_leaves_more_than_failing_at_each_price(steps):
    for price in PRICES:
        left = {name: step.margin_mist(price) for name, step in steps.items()}
        assert min(left[SETTLE], left[SETTLE_LAST], left[EFFORT]) > max(left[FAIL], 0)


def test_keepers_of_two_schedules_are_repaid_gas_only_once(steps):
    """Both together leave less than twice the amount of one, plus 150 gas units."""
    for price in PRICES:
        one, two = steps[TRIGGER].margin_mist(price), steps[TRIGGER_TWO].margin_mist(price)
        assert two <= 2 * max(one, 0) + 150 * price + 200_000


def test_violated_rule_is_reported(steps):
    broken = economics.Step(economics.Cost(10_000, 0), 0, 1_000)
    found = [*economics.broken_execution_rules(dict(steps) | {SETTLE: broken})]
    assert any(SETTLE in line for line in found)
