import pytest

from nexus_tools.sui.localnet.execution.outcome.accumulators import net_changes, sui_change
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.effects import AccumulatorInteger, AccumulatorOperation, AccumulatorWrite
from nexus_tools.sui.types.type_tag import SUI, balance_tag, parse_struct_tag

MERGE, SPLIT = AccumulatorOperation.MERGE, AccumulatorOperation.SPLIT
ALICE, BOB = Address.of(0xA), Address.of(0xB)
FUNDS = balance_tag(SUI)


def write(operation, amount, owner=ALICE, funds=FUNDS):
    return AccumulatorWrite(owner, funds, operation, AccumulatorInteger(amount))


# The cases of the unit tests of `AccumulatorWriteV1::merge`.
@pytest.mark.parametrize(
    ("changes", "net"),
    [
        ([(MERGE, 100)], (MERGE, 100)),
        ([(MERGE, 100), (MERGE, 50), (SPLIT, 30)], (MERGE, 120)),
        ([(MERGE, 50), (SPLIT, 100), (SPLIT, 30)], (SPLIT, 80)),
        ([(MERGE, 100), (SPLIT, 100)], (MERGE, 0)),
        ([(MERGE, 100), (MERGE, 200), (MERGE, 300)], (MERGE, 600)),
        ([(SPLIT, 100), (SPLIT, 200), (SPLIT, 50)], (SPLIT, 350)),
    ],
)
def test_effects_contain_the_sum_of_all_changes_of_a_balance(changes, net):
    assert net_changes([write(*change) for change in changes]) == (write(*net),)


def test_balances_of_each_owner_and_type_are_separate():
    usd = balance_tag(parse_struct_tag("0x7::usd::USD"))
    changes = [write(MERGE, 1), write(MERGE, 2, BOB), write(SPLIT, 3, funds=usd)]
    assert net_changes(changes) == tuple(changes)


def test_sign_of_a_sui_change_selects_deposit_or_withdrawal():
    assert sui_change(BOB, 5) == write(MERGE, 5, BOB)
    assert sui_change(BOB, -5) == write(SPLIT, 5, BOB)
