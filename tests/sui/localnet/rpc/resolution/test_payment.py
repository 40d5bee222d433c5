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
# 1 000 units are the least bucket, at 1 000 MIST; as much again to be safe; nothing is stored.
BUDGET = 1_000 * 1_000 + 1_000 * 1_000
# 40 bytes at 15 units are less than one step of 1 000 units, which is what loading a coin costs.
STEP = 1_000 * 1_000


@pytest.fixture
def payer(desk, bob):
    """Bob's desk, who owns nothing yet."""
    desk.account = bob
    return desk


@pytest.fixture
def coins(payer, localnet):
    """Funds Bob; gives the ids of his coins, the largest first."""

    def fund(*amounts):
        localnet.fund(payer.account.address, *amounts)
        found = payer.client.call(
            "StateService/ListOwnedObjects",
            "*",
            owner=str(payer.account.address),
            object_type="0x2::coin::Coin<0x2::sui::SUI>",
            page_size=1000,
        )
        ordered = sorted(found.objects, key=lambda each: (-each.balance, each.object_id))
        return [each.object_id for each in ordered]

    return fund


def payment_of(simulated):
    return simulated.transaction.transaction.gas_payment


def ids(payment):
    return [each.object_id for each in payment.objects]


def refused(call, *arguments, **options):
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


def test_every_further_coin_adds_what_loading_it_costs(payer, coins):
    """Two more coins are 1 200 units, which are rounded up to two steps."""
    wanted = coins(SUI, 3 * SUI, 2 * SUI)
    payment = payment_of(payer.simulate(CLOCK, LOOK))
    assert ids(payment) == wanted
    assert payment.budget == BUDGET + 2 * STEP


def test_a_given_budget_stays(payer, coins):
    coins(SUI, SUI)
    gas = {"owner": str(payer.account.address), "budget": 5_000_000}
    assert payment_of(payer.simulate(CLOCK, LOOK, gas_payment=gas)).budget == 5_000_000


def test_coins_are_named_by_their_ids_alone(payer, coins):
    first, second, _ = coins(SUI, 2 * SUI, 3 * SUI)
    gas = {
        "owner": str(payer.account.address),
        "objects": [{"object_id": second}, {"object_id": first}],
    }
    simulated = payer.simulate(CLOCK, LOOK, gas_payment=gas)
    assert ids(payment_of(simulated)) == [second, first]
    assert payment_of(simulated).budget == BUDGET + STEP
    payer.execute(simulated.transaction)


def test_a_coin_that_is_an_input_does_not_pay(payer, coins):
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


def test_of_many_coins_the_256_largest_pay(payer, coins):
    coins(*(SUI + number for number in range(0, 260, 2)))
    wanted = coins(*(SUI + number for number in range(1, 260, 2)))[:256]
    assert ids(payment_of(payer.simulate(CLOCK, LOOK))) == wanted


def test_a_sponsor_pays_for_the_sender(payer, coins, alice):
    coins(SUI)
    sponsor, payer.account = payer.account, alice
    gas = {"owner": str(sponsor.address)}
    simulated = payer.simulate(CLOCK, LOOK, gas_payment=gas).transaction
    assert simulated.transaction.gas_payment.owner == str(sponsor.address)
    assert simulated.transaction.sender == str(alice.address)
    executed = payer.execute(simulated, sponsor)
    assert executed.effects.gas_used == simulated.effects.gas_used


def test_without_selection_nothing_is_bought(payer):
    simulated = payer.simulate(CLOCK, LOOK, select=False)
    assert simulated.transaction.effects.status.success
    payment = payment_of(simulated)
    assert (payment.price, payment.budget, ids(payment)) == (1000, 50_000 * SUI, [])


def test_without_checks_nothing_is_selected(payer):
    simulated = payer.simulate(CLOCK, LOOK, checks=1)
    assert simulated.transaction.effects.status.success
    assert ids(payment_of(simulated)) == []


# --- What is refused


def test_too_little_money_is_named_with_what_is_needed(payer, coins):
    coins(BUDGET - 1)
    code, details = refused(payer.simulate, CLOCK, LOOK)
    assert code is INVALID
    assert details == (
        "Unable to perform gas selection due to insufficient SUI balance (in address balance or"
        f" coins) for account {payer.account.address} to satisfy required budget {BUDGET}."
    )


def test_too_little_in_the_named_coins_is_named_too(payer, coins):
    coin = coins(SUI, BUDGET - 1)[1]
    gas = {"owner": str(payer.account.address), "objects": [{"object_id": coin}]}
    code, details = refused(payer.simulate, CLOCK, LOOK, gas_payment=gas)
    assert code is INVALID
    assert details == (
        "Insufficient gas balance to cover estimated transaction cost. Available gas balance:"
        f" {BUDGET - 1} MIST. Estimated gas budget required: {BUDGET} MIST"
    )


def test_a_coin_that_does_not_exist_is_not_found(payer):
    absent = str(Address.of(0xDEAD))
    gas = {"owner": str(payer.account.address), "objects": [{"object_id": absent}]}
    found = refused(payer.simulate, CLOCK, LOOK, gas_payment=gas)
    assert found == (NOT_FOUND, f"Object {absent} not found")


def test_more_coins_than_may_pay_are_not_looked_up(payer):
    objects = [{"object_id": str(Address.of(0xDEAD))}] * 257
    gas = {"owner": str(payer.account.address), "objects": objects}
    code, details = refused(payer.simulate, CLOCK, LOOK, gas_payment=gas)
    assert code is INVALID
    assert details.endswith("maximum number of gas payment objects is 256")


def test_what_is_no_coin_of_sui_does_not_pay(payer):
    gas = {"owner": str(payer.account.address), "objects": [{"object_id": "0x6"}]}
    found = refused(payer.simulate, CLOCK, LOOK, gas_payment=gas)
    assert found == (INVALID, f"object {Address.of(6)} is not a valid gas coin")


def test_a_payment_names_its_owner(payer):
    code, details = refused(payer.simulate, CLOCK, LOOK, gas_payment={"budget": 1})
    assert (code, details) == (INVALID, "missing owner")


@pytest.mark.parametrize(
    ("budget", "reason"),
    [
        (999_999, "Gas budget: 999999 is lower than min: 1000000"),
        (50_000 * SUI + 1, "Gas budget: 50000000000001 is higher than max: 50000000000000"),
    ],
)
def test_a_budget_has_bounds(payer, budget, reason):
    gas = {"owner": str(payer.account.address), "budget": budget}
    code, details = refused(payer.simulate, CLOCK, LOOK, select=False, gas_payment=gas)
    assert code is INVALID
    assert details == f"Error checking transaction input objects: {reason}"


def test_a_price_below_the_reference_price_is_refused(payer):
    gas = {"owner": str(payer.account.address), "price": 999}
    code, details = refused(payer.simulate, CLOCK, LOOK, select=False, gas_payment=gas)
    assert code is INVALID
    assert "Gas price 999 under reference gas price (RGP) 1000" in details
