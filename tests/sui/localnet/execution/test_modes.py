"""Simulation and inspection: results of commands, mock payment, omitted checks."""

import pytest

from nexus_tools.sui.bcs import u64
from nexus_tools.sui.localnet.execution import MOCK_COIN_ID, Mode, TransactionRefused
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.execution_status import ArgumentErrorKind, CommandArgumentError, Success
from nexus_tools.sui.types.object import AddressOwner
from nexus_tools.sui.types.transaction import InputArgument
from nexus_tools.sui.types.type_tag import GAS_COIN, Primitive


def simulate(world, builder, mode=Mode.SIMULATE, **options):
    before = dict(world.store.live)
    result = world.execute(world.data(builder, **options), mode)
    assert world.store.live == before
    return result


def test_simulation_has_the_effects_of_the_transaction(world, build):
    part = build.split_coins(build.gas, [5])
    build.transfer_objects([part[0]], world.BOB)
    simulated = simulate(world, build)
    assert world.run(build).effects == simulated.effects


def test_committed_transaction_reports_no_results(probed, build):
    probed.call(build, "code_of_version")
    assert probed.run(build).command_results == ()


def test_simulation_reports_results_and_changed_arguments(probed, build):
    thing = build.resolved(probed.argument(probed.new_thing(7)))
    probed.call(build, "set", [thing, build.u64(8)])
    probed.call(build, "value", [thing])
    first, second = simulate(probed, build).command_results
    assert first.return_values == ()
    ((argument, tag, data),) = first.mutated_by_reference
    assert (argument, tag, data[32:]) == (InputArgument(0), probed.tag("Thing"), u64.encode(8))
    assert second.return_values == ((Primitive.U64, u64.encode(8)),)
    assert second.mutated_by_reference == ()


def test_simulation_needs_no_payment(world, build):
    coin = build.resolved(world.argument(world.coin(world.ALICE, 5)))
    build.transfer_objects([coin], world.BOB)
    effects = simulate(world, build, payment=(), budget=0, price=0).effects
    assert effects.status == Success()
    assert effects.changed_objects[effects.gas_object_index][0] == MOCK_COIN_ID
    assert effects.gas_used.computation_cost == 1_000_000


def test_mock_coin_belongs_to_the_payer(world, build):
    coins = build.split_coins(build.gas, [1, 2])
    build.transfer_objects(coins, world.BOB)
    result = simulate(world, build, Mode.INSPECT, payment=(), budget=0, price=0)
    assert result.written[MOCK_COIN_ID].owner == AddressOwner(world.ALICE)


def test_simulation_checks_owners(world, build):
    coin = build.resolved(world.argument(world.coin(world.BOB, 5)))
    build.transfer_objects([coin], world.ALICE)
    with pytest.raises(TransactionRefused):
        simulate(world, build)


def test_failed_simulation_has_the_results_before_the_failure(probed, build):
    probed.call(build, "code_of_version")
    probed.call(build, "fail", [build.u64(1)])
    result = simulate(probed, build)
    assert len(result.command_results) == 1
    assert "abort 1" in result.failure


def test_inspection_uses_objects_of_any_owner(probed, build):
    thing = build.resolved(probed.argument(probed.new_thing(5, owner=probed.BOB)))
    probed.call(build, "value", [thing])
    result = simulate(probed, build, Mode.INSPECT, payment=(), budget=0, price=0)
    assert result.command_results[0].return_values == ((Primitive.U64, u64.encode(5)),)


def test_inspection_calls_private_functions(probed, build):
    probed.call(build, "hidden")
    result = simulate(probed, build, Mode.INSPECT, payment=(), budget=0, price=0)
    assert result.command_results[0].return_values == ((Primitive.U64, u64.encode(42)),)


def test_inspection_shows_the_target_of_a_returned_reference(probed, build):
    thing = build.resolved(probed.argument(probed.new_thing(5)))
    probed.call(build, "borrow_value", [thing])
    result = simulate(probed, build, Mode.INSPECT)
    assert result.command_results[0].return_values == ((Primitive.U64, u64.encode(5)),)


def test_inspection_allows_unused_results(probed, build):
    probed.call(build, "new_thing", [build.u64(1)])
    assert simulate(probed, build, Mode.INSPECT).effects.status == Success()


def test_inspection_creates_structs_from_bytes(probed, build):
    probed.call(build, "eat", [build.u64(17)])
    result = simulate(probed, build, Mode.INSPECT)
    assert result.command_results[0].return_values == ((Primitive.U64, u64.encode(17)),)


def test_inspection_is_paid_with_less_than_the_budget(world, build):
    coin = world.coin(world.ALICE, 5_000_000)
    build.split_coins(build.gas, [0])
    result = simulate(world, build, Mode.INSPECT, payment=(coin,), budget=world.SUI)
    assert result.effects.status == Success()
    assert result.written[coin].type == GAS_COIN


def test_inspection_may_name_an_old_version_of_an_object(probed, build):
    thing = probed.new_thing(7)
    old = probed.argument(thing)
    change = TransactionBuilder()
    probed.call(change, "set", [change.resolved(old), change.u64(8)])
    probed.succeed(change)
    probed.call(build, "value", [build.resolved(old)])
    result = simulate(probed, build, Mode.INSPECT)
    assert result.command_results[0].return_values == ((Primitive.U64, u64.encode(7)),)


def test_inspection_cannot_change_read_only_objects(probed, build):
    box = build.resolved(probed.argument(probed.box, mutable=False))
    probed.call(build, "bump", [box])
    error = simulate(probed, build, Mode.INSPECT).effects.status.error
    assert error.data == CommandArgumentError(0, ArgumentErrorKind.INVALID_OBJECT_BY_MUT_REF)
