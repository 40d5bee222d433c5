from nexus_tools.sui.localnet.ledger import BalanceChange, balance_changes
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.effects import (
    AccumulatorEvents,
    AccumulatorInteger,
    AccumulatorOperation,
    AccumulatorWrite,
)
from nexus_tools.sui.types.object import ConsensusAddressOwner, Immutable, ObjectOwner, Shared
from nexus_tools.sui.types.type_tag import SUI, StructTag, balance_tag, coin_tag

ALICE, BOB = Address.of(0xA), Address.of(0xB)
USD = StructTag(Address.of(0x77), "usd", "USD")


def test_transfer_decreases_one_balance_and_increases_the_other(chain):
    before = [chain.coin(1, 100, ALICE)]
    after = [chain.coin(1, 60, ALICE), chain.coin(2, 30, BOB)]
    assert balance_changes(before, after) == (
        BalanceChange(ALICE, SUI, -40),
        BalanceChange(BOB, SUI, 30),
    )


def test_transferred_coins_count_for_both_owners(chain):
    before, after = [chain.coin(1, 100, BOB)], [chain.coin(1, 100, ALICE)]
    assert balance_changes(before, after) == (
        BalanceChange(ALICE, SUI, 100),
        BalanceChange(BOB, SUI, -100),
    )


def test_sums_of_zero_are_omitted(chain):
    before = [chain.coin(1, 100, ALICE)]
    after = [chain.coin(1, 10, ALICE), chain.coin(2, 90, ALICE)]
    assert balance_changes(before, after) == ()


def test_coin_types_are_counted_separately(chain):
    before = [chain.coin(1, 100, ALICE), chain.coin(2, 7, ALICE, coin_tag(USD))]
    assert balance_changes(before, []) == (
        BalanceChange(ALICE, SUI, -100),
        BalanceChange(ALICE, USD, -7),
    )


def test_coins_of_objects_and_consensus_addresses_count_but_not_ownerless_ones(chain):
    after = [
        chain.coin(1, 1, ObjectOwner(ALICE)),
        chain.coin(2, 10, ConsensusAddressOwner(3, BOB)),
        chain.coin(3, 100, Shared(1)),
        chain.coin(4, 1000, Immutable()),
    ]
    assert balance_changes([], after) == (BalanceChange(ALICE, SUI, 1), BalanceChange(BOB, SUI, 10))


def test_coin_struct_of_another_package_is_not_counted(chain):
    impostor = StructTag(Address.of(0x77), "coin", "Coin", (SUI,))
    assert balance_changes([], [chain.coin(1, 5, ALICE, impostor)]) == ()


def test_read_only_coin_does_not_change_a_balance(chain):
    chain.commit(chain.coin(1, 100, ALICE), chain.coin(2, 50, ALICE))
    executed = chain.transaction([chain.coin(1, 90, ALICE)])
    only_read = chain.ledger.get(Address.of(2))
    with_read = type(executed)(
        **{
            **{name: getattr(executed, name) for name in executed.__slots__},
            "input_objects": (*executed.input_objects, only_read),
        }
    )
    assert with_read.balance_changes == (BalanceChange(ALICE, SUI, -10),)


def test_address_balances_count_with_coins(chain):
    changes = [
        accumulator(ALICE, SUI, AccumulatorOperation.SPLIT, 70),
        accumulator(BOB, SUI, AccumulatorOperation.MERGE, 5),
        accumulator(BOB, USD, AccumulatorOperation.MERGE, 9),
        accumulator(BOB, USD, AccumulatorOperation.MERGE, 0),
    ]
    assert balance_changes([], [chain.coin(1, 70, ALICE)], changes) == (
        BalanceChange(BOB, SUI, 5),
        BalanceChange(BOB, USD, 9),
    )


def test_other_accumulators_do_not_count():
    stream = StructTag(Address.of(2), "accumulator_settlement", "EventStreamHead")
    events = AccumulatorEvents(((0, Digest(bytes(32))),))
    write = AccumulatorWrite(ALICE, stream, AccumulatorOperation.MERGE, events)
    assert balance_changes([], [], [write]) == ()


def accumulator(owner, coin_type, operation, amount):
    return AccumulatorWrite(owner, balance_tag(coin_type), operation, AccumulatorInteger(amount))
