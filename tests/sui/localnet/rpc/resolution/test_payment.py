"""Payment that a client leaves open: price, budget, coins."""

import grpc
import pytest

from nexus_tools.sui.types.address import Address

SUI = 1_000_000_000
INVALID, NOT_FOUND = grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND
CLOCK = [{"object_id": "0x6"}]
LOOK = [
    {
        "move_call": {
            "package": "0x2",
            "module": "clock",
            "function": "timestamp_ms",
            "arguments": [{"kind": 2, "input": 0}],
        }
    }
]
# The smallest bucket of 1 000 units at 1 000 MIST, the same as a safety margin, no storage.
BUDGET = 1_000 * 1_000 + 1_000 * 1_000
# 40 bytes at 15 units are less than one step of 1 000 units, the cost of loading a coin.
STEP = 1_000 * 1_000


@pytest.fixture
def payer(desk, bob):
    """Return a sender for Bob, who owns nothing yet."""
    desk.account = bob
    return desk


@pytest.fixture
def coins(payer, localnet):
    """Fund Bob, and return the IDs of his coins, the largest first."""

    def fund(*amounts):
        localnet.fund(payer.account.address, *amounts)
        found = payer.client.call(
            "StateService/ListOwnedObjects",
            "*",
            owner=str(payer.account.address),
            object_type="0x2::coin::Coin<0x2::sui::SUI>",
            page_size=1000,
        )
        ordered = sorted(found.objects, key=lambda coin: (-coin.balance, coin.object_id))
        return [item.object_id for item in ordered]

    return fund


def payment_of(simulated):
    return simulated.transaction.transaction.gas_payment


def ids(payment):
    return [entry.object_id for entry in payment.objects]


def expect_refusal(call, *arguments, **options):
    with pytest.raises(grpc.RpcError) as caught:
        call(*arguments, **options)
    return caught.value.code(), caught.value.details()


def test_price_budget_and_coin_are_filled_in(payer, coins):
    (coin,) = coins(SUI)
    simulated = payer.simulate(CLOCK, LOOK)
    payment = payment_of(simulated)
    assert (payment.price, payment.budget) == (1000, BUDGET)
    assert (payment.owner, ids(payment)) == (str(payer.account.address), [coin])
    assert simulated.transaction.transaction.expiration.kind == 1
    payer.execute(simulated.transaction)


def test_every_further_coin_adds_its_loading_cost(payer, coins):
    """Two more coins are 1 200 units, which are rounded up to two steps."""
    wanted = coins(SUI, 3 * SUI, 2 * SUI)
    payment = payment_of(payer.simulate(CLOCK, LOOK))
    assert ids(payment) == wanted
    assert payment.budget == BUDGET + 2 * STEP


def test_given_budget_is_kept(payer, coins):
    coins(SUI, SUI)
    gas = {"owner": str(payer.account.address), "budget": 5_000_000}
    assert payment_of(payer.simulate(CLOCK, LOOK, gas_payment=gas)).budget == 5_000_000


def test_coins_can_be_named_only_by_id(payer, coins):
    first, second, _ = coins(SUI, 2 * SUI, 3 * SUI)
    gas = {
        "owner": str(payer.account.address),
        "objects": [{"object_id": second}, {"object_id": first}],
    }
    simulated = payer.simulate(CLOCK, LOOK, gas_payment=gas)
    assert ids(payment_of(simulated)) == [second, first]
    assert payment_of(simulated).budget == BUDGET + STEP
    payer.execute(simulated.transaction)


def test_coin_that_is_an_input_does_not_pay(payer, coins):
    used, other = coins(2 * SUI, SUI)
    command = {
        "transfer_objects": {
            "objects": [{"kind": 2, "input": 0}],
            "address": {"kind": 2, "input": 1},
        }
    }
    inputs = [{"object_id": used}, {"literal": {"string_value": "0xb0b"}}]
    simulated = payer.simulate(inputs, [command])
    assert ids(payment_of(simulated)) == [other]
    payer.execute(simulated.transaction)


def test_256_largest_coins_pay(payer, coins):
    coins(*(SUI + number for number in range(0, 260, 2)))
    wanted = coins(*(SUI + number for number in range(1, 260, 2)))[:256]
    assert ids(payment_of(payer.simulate(CLOCK, LOOK))) == wanted


def test_sponsor_pays_for_the_sender(payer, coins, alice):
    coins(SUI)
    sponsor, payer.account = payer.account, alice
    gas = {"owner": str(sponsor.address)}
    simulated = payer.simulate(CLOCK, LOOK, gas_payment=gas).transaction
    assert simulated.transaction.gas_payment.owner == str(sponsor.address)
    assert simulated.transaction.sender == str(alice.address)
    executed = payer.execute(simulated, sponsor)
    assert executed.effects.gas_used == simulated.effects.gas_used


def test_payment_is_not_filled_in_without_gas_selection(payer):
    simulated = payer.simulate(CLOCK, LOOK, select=False)
    assert simulated.transaction.effects.status.success
    payment = payment_of(simulated)
    assert (payment.price, payment.budget, ids(payment)) == (1000, 50_000 * SUI, [])


def test_gas_is_not_selected_without_checks(payer):
    simulated = payer.simulate(CLOCK, LOOK, checks=1)
    assert simulated.transaction.effects.status.success
    assert ids(payment_of(simulated)) == []


# --- Rejected payments


def test_insufficient_balance_error_names_the_required_budget(payer, coins):
    coins(BUDGET - 1)
    code, details = expect_refusal(payer.simulate, CLOCK, LOOK)
    assert code is INVALID
    assert details == (
        "Unable to perform gas selection due to insufficient SUI balance (in address balance or"
        f" coins) for account {payer.account.address} to satisfy required budget {BUDGET}."
    )


def test_insufficient_named_coins_are_reported(payer, coins):
    coin = coins(SUI, BUDGET - 1)[1]
    gas = {"owner": str(payer.account.address), "objects": [{"object_id": coin}]}
    code, details = expect_refusal(payer.simulate, CLOCK, LOOK, gas_payment=gas)
    assert code is INVALID
    assert details == (
        "Insufficient gas balance to cover estimated transaction cost. Available gas balance:"
        f" {BUDGET - 1} MIST. Estimated gas budget required: {BUDGET} MIST"
    )


def test_missing_coin_is_not_found(payer):
    absent = str(Address.of(0xDEAD))
    gas = {"owner": str(payer.account.address), "objects": [{"object_id": absent}]}
    found = expect_refusal(payer.simulate, CLOCK, LOOK, gas_payment=gas)
    assert found == (NOT_FOUND, f"Object {absent} not found")


def test_coins_above_the_limit_are_not_looked_up(payer):
    objects = [{"object_id": str(Address.of(0xDEAD))}] * 257
    gas = {"owner": str(payer.account.address), "objects": objects}
    code, details = expect_refusal(payer.simulate, CLOCK, LOOK, gas_payment=gas)
    assert code is INVALID
    assert details.endswith("maximum number of gas payment objects is 256")


def test_other_objects_cannot_pay(payer):
    gas = {"owner": str(payer.account.address), "objects": [{"object_id": "0x6"}]}
    found = expect_refusal(payer.simulate, CLOCK, LOOK, gas_payment=gas)
    assert found == (INVALID, f"object {Address.of(6)} is not a valid gas coin")


def test_payment_contains_its_owner(payer):
    code, details = expect_refusal(payer.simulate, CLOCK, LOOK, gas_payment={"budget": 1})
    assert (code, details) == (INVALID, "missing owner")


@pytest.mark.parametrize(
    ("budget", "reason"),
    [
        (999_999, "Gas budget: 999999 is lower than min: 1000000"),
        (50_000 * SUI + 1, "Gas budget: 50000000000001 is higher than max: 50000000000000"),
    ],
)
def test_budget_is_limited(payer, budget, reason):
    gas = {"owner": str(payer.account.address), "budget": budget}
    code, details = expect_refusal(payer.simulate, CLOCK, LOOK, select=False, gas_payment=gas)
    assert code is INVALID
    assert details == f"Error checking transaction input objects: {reason}"


def test_price_below_the_reference_price_is_refused(payer):
    gas = {"owner": str(payer.account.address), "price": 999}
    code, details = expect_refusal(payer.simulate, CLOCK, LOOK, select=False, gas_payment=gas)
    assert code is INVALID
    assert "Gas price 999 under reference gas price (RGP) 1000" in details
