"""The cost of transactions. A coin occupies 130 bytes: 40 of BCS, 1 of type, 89 of metadata."""

import pytest

from nexus_tools.sui.localnet.execution import protocol_rules
from nexus_tools.sui.localnet.execution.gas.status import (
    GasStatus,
    rounded_computation,
    sender_rebate,
)
from nexus_tools.sui.localnet.vm import OutOfGas
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.effects import GasCostSummary, IdOperation
from nexus_tools.sui.types.execution_status import ErrorKind
from nexus_tools.sui.types.object import AddressOwner
from nexus_tools.sui.types.transaction import GasData

COIN_COST = 130 * 100 * 76  # 988 000 MIST, as on the real network


def split(world, builder, amounts):
    coins = builder.split_coins(builder.gas, amounts)
    builder.transfer_objects([coins[place] for place in range(len(amounts))], world.BOB)
    return builder


def test_transfer_of_a_new_coin_costs_as_on_the_real_network(world, build):
    result = world.succeed(split(world, build, [1]))
    assert result.effects.gas_used == GasCostSummary(1_000_000, 2 * 988_000, 978_120, 9_880)


def test_simple_transfer_costs_less_than_two_million_mist(world, build):
    coin = world.coin(world.ALICE, 5)
    build.transfer_objects([build.resolved(world.argument(coin))], world.BOB)
    summary = world.succeed(build).effects.gas_used
    assert summary == GasCostSummary(1_000_000, 1_976_000, 1_956_240, 19_760)


def test_written_objects_store_their_cost_as_rebate(world, build):
    result = world.succeed(split(world, build, [1, 2]))
    assert {value.storage_rebate for value in result.written.values()} == {COIN_COST}


def test_price_multiplies_the_computation(world, build):
    result = world.succeed(split(world, build, [1]), price=1_500)
    assert result.effects.gas_used.computation_cost == 1_500_000


def test_deletion_refunds_99_percent_of_the_storage(probed, build):
    thing = probed.new_thing()
    rebate = probed.store.get(thing).storage_rebate
    probed.call(build, "destroy", [build.resolved(probed.argument(thing))])
    summary = probed.succeed(build).effects.gas_used
    assert summary.storage_cost == COIN_COST
    returned = COIN_COST + rebate
    assert summary.storage_rebate == returned * 99 // 100
    assert summary.non_refundable_storage_fee == returned - returned * 99 // 100


def test_object_pays_for_its_type_and_contents(probed):
    thing = probed.store.get(probed.new_thing())
    type_bytes = 1 + 32 + 1 + len("probe") + 1 + len("Thing") + 1
    assert thing.storage_rebate == (89 + type_bytes + 40) * 7_600


def test_rebate_is_rounded_half_up():
    assert [sender_rebate(n, 9_900) for n in (0, 1, 50, 51, 988_000)] == [0, 1, 50, 50, 978_120]


@pytest.mark.parametrize(
    ("units", "paid"),
    [
        (0, 1_000),
        (999, 1_000),
        (1_000, 1_000),
        (1_001, 1_010),
        (1_050, 1_050),
        (1_999, 2_000),
        (20_001, 20_100),
        (29_999, 30_000),
        (300_001, 300_100),
        (4_999_999, 5_000_000),
    ],
)
def test_half_of_the_digits_of_a_computation_are_rounded_up(units, paid):
    assert rounded_computation(units) == paid


def test_reads_and_publications_cost_by_the_byte():
    gas = GasStatus(GasData((), Address.of(1), 1_000, 10_000_000), protocol_rules(105))
    gas.charge_read(400)
    gas.charge_publish(100_000)
    # 400 * 15 + 100 000 * 80 internal units
    assert gas.computation_cost() == (8_010_000, True)


def test_aborting_code_pays_at_most_100_reference_prices(probed, build):
    probed.call(build, "fail", [build.u64(1)])
    result = probed.run(build, price=250_000)  # the reference price is 1 000
    assert result.effects.gas_used.computation_cost == 1_000 * 100_000


def test_other_failures_pay_their_own_price(world, build):
    result = world.run(split(world, build, [200 * world.SUI]), price=250_000)
    assert result.effects.status.error.kind is ErrorKind.INSUFFICIENT_COIN_BALANCE
    assert result.effects.gas_used.computation_cost == 1_000 * 250_000


def test_out_of_gas_costs_the_budget():
    gas = GasStatus(GasData((), Address.of(1), 1_000, 5_000_000), protocol_rules(105))
    with pytest.raises(OutOfGas):
        gas.charge_publish(100_000)
    assert gas.computation_cost() == (5_000_000, False)


def test_computation_cost_is_limited_by_the_highest_bucket():
    gas = GasStatus(GasData((), Address.of(1), 1_000, 50_000_000_000), protocol_rules(105))
    with pytest.raises(OutOfGas):
        gas.meter.charge(5_000_000_001)
    assert gas.computation_cost() == (5_000_000_000, True)


def test_natives_count_as_instructions_after_700_calls():
    gas = GasStatus(GasData((), Address.of(1), 1_000, 50_000_000), protocol_rules(105))
    gas.meter.native_calls = 700
    gas.natives.charge(30_000)
    assert (gas.meter.spent, gas.meter.instructions) == (30_000, 0)
    gas.meter.native_calls = 701
    gas.natives.charge(30_000)  # beyond the first 20 000 instructions, all at the price of two
    assert (gas.meter.spent, gas.meter.instructions) == (30_000 + 60_000, 30_000)


# --- Several gas coins


def test_gas_coins_are_smashed_into_the_first(world, build):
    first, second = world.coin(world.ALICE, 2 * world.SUI), world.coin(world.ALICE, 3 * world.SUI)
    result = world.succeed(split(world, build, [7]), payment=(first, second), budget=world.SUI)
    assert world.balance(first) == 5 * world.SUI - 7 - result.effects.gas_used.net
    assert dict(result.effects.changed_objects)[second].operation is IdOperation.DELETED
    summary = result.effects.gas_used
    assert summary.storage_rebate == 2 * 978_120


def test_gas_coins_are_smashed_when_the_transaction_fails(probed, build):
    coins = tuple(probed.coin(probed.ALICE, 3 * probed.SUI) for _ in range(2))
    probed.call(build, "fail", [build.u64(1)])
    result = probed.run(build, payment=coins)
    assert probed.balance(coins[0]) == 6 * probed.SUI - result.effects.gas_used.net
    assert probed.store.get(coins[1]) is None


def test_sponsor_pays(world, build):
    coin, gas = world.coin(world.ALICE, 5), world.coin(world.BOB, 9 * world.SUI)
    build.transfer_objects([build.resolved(world.argument(coin))], world.BOB)
    result = world.succeed(build, payment=(gas,), owner=world.BOB)
    assert world.balance(gas) == 9 * world.SUI - result.effects.gas_used.net
    assert world.store.get(gas).owner == AddressOwner(world.BOB)


# --- Too little


def test_failed_transaction_pays_for_computation_and_its_inputs(probed, build):
    probed.call(build, "fail", [build.u64(1)])
    summary = probed.run(build).effects.gas_used
    assert summary == GasCostSummary(1_000_000, COIN_COST, 978_120, 9_880)


def test_storage_beyond_the_budget_is_out_of_gas_and_undone(world, build):
    # 1 000 000 for the computation leaves 500 000 for a coin that costs 988 000.
    result = world.run(split(world, build, [1]), budget=1_500_000)
    status = result.effects.status
    assert (status.error.kind, status.command) == (ErrorKind.INSUFFICIENT_GAS, None)
    assert set(result.written) == {world.gas}
    assert result.effects.gas_used == GasCostSummary(1_000_000, COIN_COST, 978_120, 9_880)
    assert world.balance(world.gas) == 100 * world.SUI - result.effects.gas_used.net


def test_budget_that_covers_only_computation_is_used_up(world, build):
    result = world.run(split(world, build, [1]), budget=1_000_000)
    assert result.effects.status.error.kind is ErrorKind.INSUFFICIENT_GAS
    assert result.effects.gas_used.computation_cost == 1_000_000


def test_inputs_that_cannot_be_stored_again_keep_their_rebate(world, build):
    gas = world.coin(world.ALICE, 10 * world.SUI, rebate=0)
    result = world.run(split(world, build, [1]), payment=(gas,), budget=1_000_001)
    assert result.effects.gas_used == GasCostSummary(1_000_001, 0, 0, 0)
    assert result.written[gas].storage_rebate == 0
    assert world.balance(gas) == 10 * world.SUI - 1_000_001


def test_sui_is_conserved(world, build):
    before = 100 * world.SUI
    result = world.succeed(split(world, build, [5, 10]))
    balances = sum(world.balance(value.id) for value in result.written.values())
    assert balances + result.effects.gas_used.net == before
