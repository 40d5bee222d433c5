"""The policy of `examples/remote_signer.py`, for transactions that no command sends."""

import importlib.util
import sys
from pathlib import Path

import msgspec
import pytest

from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import SUI_FRAMEWORK, Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.expiration import NoExpiration
from nexus_tools.sui.types.object import ObjectReference
from nexus_tools.sui.types.transaction import (
    GasCoin,
    GasData,
    InputArgument,
    NestedResult,
    OwnedObject,
    ProgrammableTransaction,
    SplitCoins,
    TransactionData,
    TransferObjects,
)
from nexus_tools.sui.types.type_tag import SUI

OWN, FRIEND, THIEF = Address.of(0xA11CE), Address.of(0xF0E), Address.of(0x7413F)
PACKAGE, OTHER = Address(b"\x11" * 32), Address(b"\x22" * 32)


@pytest.fixture(scope="module")
def example():
    file = Path(__file__).parents[2] / "examples" / "remote_signer.py"
    spec = importlib.util.spec_from_file_location("remote_signer_example", file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.fixture
def policy(example):
    calls = frozenset({str(PACKAGE), f"{OTHER}::m::f"})
    return example.Policy(calls, frozenset({FRIEND}), 1_000, 2_000)


def coin():
    return OwnedObject(ObjectReference(Address.of(0xC01), 1, Digest(bytes(32))))


def data(builder, *, sender=OWN, payer=OWN, budget=1_000):
    kind = builder.finish({Address.of(0xC01): coin()})
    return TransactionData(kind, sender, GasData((), payer, 1_000, budget), NoExpiration())


def calling(package, module="m", function="f", arguments=()):
    builder = TransactionBuilder()
    builder.move_call(package, module, function, list(arguments))
    return builder


def sending(recipient):
    builder = TransactionBuilder()
    builder.transfer_objects([GasCoin()], recipient)
    return builder


def depositing(recipient):
    builder = TransactionBuilder()
    builder.deposit(builder.split_coins(GasCoin(), [1])[0], recipient, SUI)
    return builder


ALLOWED = [
    calling(PACKAGE),
    calling(PACKAGE, "any", "function"),
    calling(OTHER),
    sending(FRIEND),
    sending(OWN),
    depositing(FRIEND),
    calling(SUI_FRAMEWORK, "coin", "redeem_funds"),
]


@pytest.mark.parametrize("number", range(len(ALLOWED)))
def test_policy_allows_listed_calls_and_recipients(example, policy, number):
    transaction = data(ALLOWED[number])
    assert example.decode(transaction.encode()) == transaction
    policy.check(transaction, OWN)


def test_policy_refuses_a_recipient_that_the_execution_determines(example, policy):
    builder = TransactionBuilder()
    recipient = builder.move_call(PACKAGE, "m", "recipient")
    builder.command(TransferObjects((GasCoin(),), recipient))
    transaction = data(builder)
    with pytest.raises(example.RefusedError, match="not an address in the transaction"):
        policy.check(transaction, OWN)


def merging(recipient):
    """Send a new coin of 1 MIST to which another coin was added."""
    builder = TransactionBuilder()
    small, large = builder.split_coins(GasCoin(), [1, 2])
    builder.merge_coins(small, [large])
    builder.transfer_objects([small], recipient)
    return builder


def changing(recipient):
    """Send a new coin whose amount a called function can change."""
    builder = TransactionBuilder()
    amount = builder.u64(1)
    builder.move_call(PACKAGE, "m", "f", [amount])
    coin = builder.command(SplitCoins(GasCoin(), (amount,)))
    builder.transfer_objects([coin], recipient)
    return builder


@pytest.mark.parametrize(
    ("builder", "amounts"),
    [
        (depositing(FRIEND), [1]),
        (sending(FRIEND), [None]),
        (merging(FRIEND), [None]),
        (changing(FRIEND), [None]),
    ],
)
def test_log_has_only_amounts_that_nothing_changes(example, builder, amounts):
    transfers = example.transfers_of(data(builder))
    assert transfers == [{"recipient": str(FRIEND), "amounts": amounts}]


@pytest.mark.parametrize("to", [NestedResult(0, 0), InputArgument(77), GasCoin()])
def test_log_has_no_recipient_that_the_execution_determines(example, to):
    transaction = data(TransactionBuilder())
    kind = ProgrammableTransaction((), (TransferObjects((GasCoin(),), to),))
    transfers = example.transfers_of(msgspec.structs.replace(transaction, kind=kind))
    assert transfers == [{"recipient": None, "amounts": [None]}]


def publishing():
    builder = TransactionBuilder()
    builder.publish([b""], [])
    return builder


@pytest.mark.parametrize(
    ("transaction", "reason"),
    [
        (data(calling(OTHER, "m", "g")), "m::g is not allowed"),
        (data(calling(OTHER, "m::f", "x")), "m::f::x is not a function"),
        (data(calling(SUI_FRAMEWORK, "transfer", "public_transfer")), "0x2::transfer::"),
        (data(calling(SUI_FRAMEWORK, "coin", "send_funds")), "send_funds is not allowed"),
        (data(sending(THIEF)), f"the recipient {THIEF} is not allowed"),
        (data(depositing(THIEF)), f"the recipient {THIEF} is not allowed"),
        (data(publishing()), "Publish is not allowed"),
        (data(sending(FRIEND), budget=1_001), "the gas budget exceeds 1000 MIST"),
        (data(sending(FRIEND), sender=THIEF), "the sender and the gas owner"),
        (data(sending(FRIEND), payer=THIEF), "the sender and the gas owner"),
    ],
)
def test_policy_refuses_everything_else(example, policy, transaction, reason):
    with pytest.raises(example.RefusedError) as caught:
        policy.check(transaction, OWN)
    assert reason in str(caught.value)


@pytest.mark.parametrize("change", [lambda raw: raw[:-1], lambda raw: raw + b"\0", lambda _: b""])
def test_bytes_that_are_no_whole_transaction_are_refused(example, change):
    with pytest.raises(example.RefusedError):
        example.decode(change(data(sending(FRIEND)).encode()))


def test_daily_total_ends_with_the_day_and_not_with_the_process(example, tmp_path):
    day = ["2026-11-28"]

    def budget():
        return example.DailyBudget(tmp_path / "total.json", 100, lambda: day[0])

    budget().spend(60)
    with pytest.raises(example.RefusedError, match="exceed 100 MIST"):
        budget().spend(41)
    budget().spend(40)
    day[0] = "2026-11-29"
    budget().spend(100)
    day[0] = "2026-11-28"
    with pytest.raises(example.RefusedError, match="the clock is wrong"):
        budget().spend(1)
    day[0] = "2026-11-29"
    with pytest.raises(example.RefusedError, match="exceed 100 MIST"):
        budget().spend(1)
