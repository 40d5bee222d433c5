import pytest

from nexus_tools.sui.localnet.vm import PrimitiveError
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.effects import AccumulatorInteger, AccumulatorOperation, AccumulatorWrite
from nexus_tools.sui.types.type_tag import SUI, balance_tag

FUNDS = balance_tag(SUI)
MERGE, SPLIT = AccumulatorOperation.MERGE, AccumulatorOperation.SPLIT
BOB = Address.of(0xB0B)


def test_sent_and_redeemed_funds_are_recorded_in_order(call):
    call("balance", "send_funds", [5], bytes(BOB), types=(SUI,))
    assert call("balance", "redeem_funds", [bytes(call.SENDER), 3], types=(SUI,)) == [3]
    assert list(call.runtime.accumulators) == [
        AccumulatorWrite(BOB, FUNDS, MERGE, AccumulatorInteger(5)),
        AccumulatorWrite(call.SENDER, FUNDS, SPLIT, AccumulatorInteger(3)),
    ]


def test_accumulator_events_record_the_same_changes(call):
    call("accumulator", "emit_deposit_event", bytes(32), bytes(BOB), 5, types=(FUNDS,))
    call("accumulator", "emit_withdraw_event", bytes(32), bytes(BOB), 6, types=(FUNDS,))
    assert [write.operation for write in call.runtime.accumulators] == [MERGE, SPLIT]


def test_redeeming_more_than_64_bits_fails(call):
    assert call.aborts("balance", "redeem_funds", [bytes(BOB), 2**64], types=(SUI,)) == 0


def test_deposits_to_one_balance_are_limited_to_64_bits(call):
    most = 2**64 - 1
    call("balance", "send_funds", [most], bytes(BOB), types=(SUI,))
    call("balance", "send_funds", [1], bytes(call.SENDER), types=(SUI,))
    call("balance", "redeem_funds", [bytes(BOB), most], types=(SUI,))
    with pytest.raises(PrimitiveError, match="ARITHMETIC_ERROR"):
        call("balance", "send_funds", [1], bytes(BOB), types=(SUI,))
