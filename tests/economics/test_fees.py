"""Law 1 in figures: settling pays most, and failing is never worse than silence.

This holds at every gas price and batch size, by the storage rules of an old and a new protocol.
"""

import asyncio

import pytest

import economics

LONE, FULL = 1, 16
OLD, NEW = economics.PROTOCOLS


@pytest.fixture(scope="module", params=economics.PROTOCOLS)
def economy(request):
    return asyncio.run(economics.measure(request.param))


@pytest.mark.long
def test_settling_pays_more_than_failing_and_failing_at_least_as_much_as_silence(economy):
    assert [*economics.broken_rules(economy)] == []


@pytest.mark.long
def test_fees_follow_the_settings(economy):
    """By hand, at 1 000 MIST: 1 000 units and 520 000, then 2 000 000, 100 and 7 600 for bytes."""
    failing = 1_520_000 + 100 * economy.input_bytes
    assert economy.fail_fee_mist(1_000) == failing
    assert economy.settle_fee_mist(1_000) == failing + 2_000_000 + 7_600 * economy.answer_bytes


def test_fee_of_a_single_failure_covers_its_cost_with_little_excess(economy):
    fee_mist, cost_mist = economy.fail_fee_mist(1_000), economy.verbs["fail"].mist()
    assert 0 <= fee_mist - cost_mist < 150_000


def test_closing_costs_at_most_its_target(economy):
    assert economy.settling[LONE].mist() <= 1_500_000
    assert economy.settling[FULL].mist() <= 520_000
    assert economy.settling_signed[FULL].mist() <= 555_000


def test_expired_invocation_costs_its_requester_two_transactions(economy):
    """The request and the deletion, whose rebate refunds the storage of the request."""
    lost_mist = economy.verbs["request"].mist() + economy.verbs["delete"].mist()
    assert lost_mist < 2_060_000


def test_more_than_32_signed_answers_per_transaction_would_not_always_pay(economy):
    """Their verification takes so long that gas gets expensive. A Leader's batch is smaller."""
    price = max(economics.PRICES)
    signed = {
        size: economy.settle_fee_mist(price) - cost.mist(price)
        for size, cost in economy.settling_signed.items()
    }
    failing = economy.fail_fee_mist(price) - economy.failing[64].mist(price)
    assert signed[64] < failing < signed[economics.MAX_SIGNED]


def test_leader_loses_when_gas_costs_three_times_as_much_as_at_the_request(economy):
    """The request fixes the fee, and the epoch may end before the settlement.

    A single settlement is covered until the price is three times as high, one in a batch of 16
    until it is ten times as high.
    """
    fee_mist = economy.settle_fee_mist(1_000)
    assert economy.settling[LONE].mist(3_000) < fee_mist < economy.settling[LONE].mist(3_500)
    assert economy.settling[FULL].mist(10_000) < fee_mist


# --- The limit: large inputs


def test_settling_large_inputs_pays_more_than_failing_in_every_batch(economy):
    for price in economics.PRICES:
        margins = economics.large_margins(economy, price)
        settled, failed = margins["settle"][1], margins["fail"][1]
        assert all(settle > fail for settle, fail in zip(settled, failed, strict=True))


def test_law_1_has_a_limit_with_large_batches_of_large_inputs_or_expensive_gas(economy):
    """Failing such a batch costs more than silence, because all inputs are rewritten.

    Up to 512 000 bytes in a transaction everything is covered; a Leader puts 128 KiB into one. On
    networks with the older gas rules, one input of 64 000 bytes is not from a price of 2 000, and
    two are not at 5 000.
    """
    uncovered = {
        (price, size)
        for price in economics.PRICES
        for size, left in zip(
            economics.LARGE_BATCHES,
            economics.large_margins(economy, price)["fail"][1],
            strict=True,
        )
        if left < 0
    }
    assert (
        uncovered
        == {
            OLD: {
                (2_000, 1),
                (5_000, 1),
                (5_000, 2),
                (2_000, 16),
                (5_000, 16),
                *((price, 32) for price in economics.PRICES),
            },
            NEW: {(2_000, 32), (5_000, 32)},
        }[economy.protocol]
    )


def test_track_record_is_cheap(economy):
    """A thousand of one's own settlements, in batches of 16, show what a record is worth."""
    assert 0 < economy.record_mist < 300_000_000
