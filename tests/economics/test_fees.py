"""Law 1 in figures: at every price of gas and size of a batch to settle pays most, and to fail is
never worse than silence. By the storage rules of an old and a new protocol."""

import asyncio

import pytest

import economics

LONE, FULL = 1, 16


@pytest.fixture(scope="module", params=economics.PROTOCOLS)
def economy(request):
    return asyncio.run(economics.measure(request.param))


def test_to_settle_pays_more_than_to_fail_and_to_fail_no_less_than_silence(economy):
    assert [*economics.broken_rules(economy)] == []


def test_fees_are_what_the_settings_say(economy):
    """By hand, at 1 000 MIST: 1 000 units and 450 000, then 2 000 000, 100 and 7 600 for bytes."""
    failing = 1_450_000 + 100 * economy.input_bytes
    assert economy.fail_fee_mist(1_000) == failing
    assert economy.settle_fee_mist(1_000) == failing + 2_000_000 + 7_600 * economy.answer_bytes


def test_a_lone_failure_is_paid_as_much_as_it_costs(economy):
    fee_mist, cost_mist = economy.fail_fee_mist(1_000), economy.verbs["fail"].mist()
    assert 0 <= fee_mist - cost_mist < 60_000


def test_closing_is_as_cheap_as_was_aimed_at(economy):
    assert economy.settling[LONE].mist() <= 1_500_000
    assert economy.settling[FULL].mist() <= 520_000
    assert economy.settling_signed[FULL].mist() <= 520_000


def test_what_nobody_closes_in_time_costs_its_requester_two_transactions(economy):
    """Request and deletion, whose rebate brings back what the request paid for storage."""
    lost_mist = economy.verbs["request"].mist() + economy.verbs["delete"].mist()
    assert lost_mist < 2_060_000
