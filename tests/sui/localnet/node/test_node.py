import pytest
from msgspec.structs import replace

from nexus_tools.errors import NexusError, NotAllowedError
from nexus_tools.sui.bcs import BcsError
from nexus_tools.sui.localnet.execution import (
    Executor,
    Mode,
    TransactionRefused,
    machine_for,
    system_data,
)
from nexus_tools.sui.localnet.framework import load_framework
from nexus_tools.sui.localnet.ledger import BalanceChange, Ledger
from nexus_tools.sui.localnet.node import Node
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import CLOCK, MOVE_STDLIB, Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.execution_status import ErrorKind, ExecutionFailure, Success
from nexus_tools.sui.types.expiration import ValidDuring
from nexus_tools.sui.types.object import MovePackage
from nexus_tools.sui.types.system_transaction import ConsensusCommitPrologue
from nexus_tools.sui.types.transaction import TRANSACTION_DATA
from nexus_tools.sui.types.type_tag import SUI

MIST = 1_000_000_000


def test_payment_moves_sui_and_charges_gas(node, alice, bob):
    executed = alice.pay(node, bob, MIST)
    gas = executed.effects.gas_used.net
    assert executed.effects.status == Success()
    assert node.ledger.balance(bob, SUI).amount == MIST
    assert node.ledger.balance(alice.address, SUI).amount == 9 * MIST - gas
    assert set(executed.balance_changes) == {
        BalanceChange(bob, SUI, MIST),
        BalanceChange(alice.address, SUI, -MIST - gas),
    }


def test_each_transaction_has_its_own_checkpoint(node, alice, bob):
    before = node.ledger.latest
    executed = alice.pay(node, bob, 1)
    checkpoint = node.ledger.latest
    assert checkpoint.number == executed.checkpoint == before.number + 1
    assert checkpoint.contents.transactions == ((executed.digest, executed.effects.digest()),)
    assert checkpoint.contents.signatures == (executed.signatures,)
    assert checkpoint.summary.previous_digest == before.digest
    assert node.ledger.transaction(executed.digest) == executed


def test_repeated_transaction_returns_the_first_result(node, alice, bob):
    encoded = alice.payment(node, bob, 5).encode()
    first = node.execute(encoded, [alice.sign(encoded)])
    latest = node.ledger.latest
    assert node.execute(encoded, [alice.sign(encoded)]) == first
    assert node.ledger.latest == latest
    assert node.ledger.balance(bob, SUI).amount == 5


@pytest.mark.parametrize("scheme", ["ed25519", "secp256k1", "secp256r1"])
def test_accounts_of_each_scheme_can_pay(node, accounts, scheme, bob):
    account = accounts(scheme)
    node.fund(account.address, MIST)
    account.pay(node, bob, 3)
    assert node.ledger.balance(bob, SUI).amount == 3


# --- Signatures


def test_sponsored_transaction_needs_both_signatures_in_any_order(node, accounts, alice, bob):
    sender = accounts("secp256k1", 5)
    builder = TransactionBuilder()
    coin = builder.move_call(Address.of(2), "coin", "zero", type_arguments=[SUI])
    builder.transfer_objects([coin], bob)
    for order in (1, -1):
        data = sender.transaction(node, builder, sponsor=alice)
        encoded = data.encode()
        both = [sender.sign(encoded), alice.sign(encoded)]
        assert node.execute(encoded, both[::order]).effects.status == Success()


@pytest.mark.parametrize("who", [[], ["alice", "alice"], ["mallory"], ["alice", "mallory"]])
def test_signatures_of_other_accounts_are_refused(node, accounts, alice, bob, who):
    by_name = {"alice": alice, "mallory": accounts(seed=66)}
    expect_refusal(node, alice.payment(node, bob, 1).encode(), [by_name[name] for name in who])


def test_sponsor_without_a_signature_does_not_pay(node, accounts, alice, bob):
    sender = accounts(seed=5)
    encoded = sender.payment(node, bob, 1, sponsor=alice).encode()
    expect_refusal(node, encoded, [sender])
    expect_refusal(node, encoded, [alice])


def test_signature_of_another_transaction_is_refused(node, alice, bob):
    encoded, other = (alice.payment(node, bob, amount).encode() for amount in (1, 2))
    latest = node.ledger.latest
    with pytest.raises(NotAllowedError) as caught:
        node.execute(encoded, [alice.sign(other)])
    assert caught.value.code == "signature_invalid"
    assert node.ledger.latest == latest


def expect_refusal(node, encoded, signers):
    latest = node.ledger.latest
    with pytest.raises(NotAllowedError) as caught:
        node.execute(encoded, [account.sign(encoded) for account in signers])
    assert caught.value.code == "signature_invalid"
    assert node.ledger.latest == latest


# --- Refused


@pytest.mark.parametrize("change", [lambda data: data[:-1], lambda data: data + b"\0", bytes.upper])
def test_bytes_that_are_not_a_transaction_are_refused(node, alice, bob, change):
    encoded = change(b"\xff" + alice.payment(node, bob, 1).encode()[1:])
    with pytest.raises(BcsError):
        node.execute(encoded, [alice.sign(encoded)])


def test_transaction_above_the_size_limit_is_refused(node, alice):
    encoded = bytes(128 * 1024 + 1)
    with pytest.raises(TransactionRefused) as caught:
        node.execute(encoded, [alice.sign(encoded)])
    assert caught.value.code == "size_limit_exceeded"


def test_system_transaction_from_a_user_is_refused(node, alice):
    data = system_data(ConsensusCommitPrologue(0, 99, 2**60))
    encoded = data.encode()
    with pytest.raises(TransactionRefused) as caught:
        node.execute(encoded, [alice.sign(encoded)])
    assert caught.value.code == "unsupported"


def test_transaction_for_another_chain_is_refused(node, alice, bob):
    for chain, number in ((node.chain_id, 1), (node.ledger.latest.digest, 2)):
        window = ValidDuring(0, 0, None, None, chain, number)
        data = replace(alice.payment(node, bob, 1), expiration=window)
        if chain == node.chain_id:
            assert alice.send(node, data).effects.status == Success()
    with pytest.raises(TransactionRefused) as caught:
        alice.send(node, data)
    assert caught.value.code == "invalid_chain_id"


def test_simulation_for_another_chain_is_refused_except_in_mode_inspect(node, alice, bob):
    window = ValidDuring(0, 0, None, None, Digest(bytes(32)), 1)
    data = replace(alice.payment(node, bob, 1), expiration=window)
    with pytest.raises(TransactionRefused, match="Invalid chain ID"):
        node.simulate(data)
    assert node.simulate(data, Mode.INSPECT)[0].effects.status == Success()


def test_transaction_with_an_old_version_is_refused_without_changes(node, alice, bob):
    stale = alice.payment(node, bob, 2)
    alice.pay(node, bob, 1)
    latest = node.ledger.latest
    with pytest.raises(TransactionRefused):
        alice.send(node, stale)
    assert node.ledger.latest == latest
    assert node.ledger.transaction(stale.digest()) is None
    assert node.ledger.balance(bob, SUI).amount == 1


def test_failed_transaction_only_pays_gas(node, alice, bob):
    executed = alice.pay(node, bob, 1000 * MIST)
    assert isinstance(executed.effects.status, ExecutionFailure)
    assert executed.effects.status.error.kind == ErrorKind.INSUFFICIENT_COIN_BALANCE
    assert node.ledger.balance(bob, SUI).coins == 0
    spent = 10 * MIST - node.ledger.balance(alice.address, SUI).amount
    assert spent == executed.effects.gas_used.net > 0


# --- Faults of our own


class FailingExecutor(Executor):
    """An executor that raises an unexpected error on request."""

    failing = False

    def execute(self, transaction, *arguments):
        if self.failing and transaction.sender != Address.of(0):
            raise ZeroDivisionError
        return super().execute(transaction, *arguments)


def test_executor_fault_leaves_the_ledger_unchanged(wall_clock, accounts):
    ledger = Ledger()
    executor = FailingExecutor(machine_for(ledger))
    node = Node(ledger, executor, wall_clock=wall_clock)
    account = accounts()
    node.fund(account.address, MIST)
    wall_clock.now_ms += 1
    latest = ledger.latest
    builder = TransactionBuilder()
    builder.move_call(Address.of(2), "clock", "timestamp_ms", [builder.object(CLOCK)])
    data = account.transaction(node, builder)
    executor.failing = True
    with pytest.raises(ZeroDivisionError):
        account.send(node, data)
    assert ledger.latest == latest
    executor.failing = False
    assert account.send(node, data).effects.status == Success()
    ledger.close()


def test_full_disk_leaves_the_node_unchanged(wall_clock, accounts):
    node, alice = Node.open(wall_clock=wall_clock), accounts()
    node.fund(alice.address, 10 * MIST)
    published = alice.send(node, publish_transaction(node, alice))
    ((pages,),) = node.ledger._state.rows("PRAGMA page_count")
    node.ledger._state.rows(f"PRAGMA max_page_count = {pages}")
    data = fill_disk(node, alice)
    node.ledger._state.rows("PRAGMA max_page_count = 1000000")
    again = alice.send(node, data)
    assert again.effects.status == Success()
    assert node.machine.types.package(published_package(published)) is not None
    node.close()


def fill_disk(node, account):
    """Publish until the disk is full, and return the first transaction that failed."""
    for _ in range(40):
        before, data = node.snapshot(), publish_transaction(node, account)
        try:
            account.send(node, data)
        except NexusError as error:
            caught = error
            break
    assert caught.code == "state_write_failed"
    assert node.snapshot() == before
    return data


# --- Packages


def bit_vector_module():
    """Return the real `0x1::bit_vector`, which uses no other module, as an unpublished module."""
    for data in load_framework()[MOVE_STDLIB].modules:
        if b"BitVector" in data and data.count(MOVE_STDLIB) == 1:
            return data.replace(MOVE_STDLIB, bytes(32))
    raise LookupError


def publish_transaction(node, account):
    builder = TransactionBuilder()
    cap = builder.publish([bit_vector_module()], [])
    builder.transfer_objects([cap], account.address)
    return account.transaction(node, builder)


def published_package(executed):
    (package,) = [
        output.id for output in executed.output_objects if isinstance(output.data, MovePackage)
    ]
    return package


def test_published_package_can_be_called_and_read(node, alice):
    package = published_package(alice.send(node, publish_transaction(node, alice)))
    assert [version.id for version in node.ledger.package_versions(package)] == [package]
    builder = TransactionBuilder()
    builder.move_call(package, "bit_vector", "new", [builder.u64(8)])
    executed = alice.send(node, alice.transaction(node, builder))
    assert executed.effects.status == Success()


def test_machine_forgets_published_packages_after_a_revert(node, alice):
    snapshot = node.snapshot()
    package = published_package(alice.send(node, publish_transaction(node, alice)))
    node.revert(snapshot)
    assert node.machine.types.package(package) is None
    assert node.ledger.get(package) is None


def test_reverted_publication_can_be_repeated(node, alice):
    snapshot = node.snapshot()
    data = publish_transaction(node, alice)
    alice.send(node, data)
    node.revert(snapshot)
    package = published_package(alice.send(node, data))
    assert node.machine.types.function(package, "bit_vector", "new") is not None


# --- Simulation


def test_simulation_returns_effects_without_changes(node, alice, bob):
    latest = node.ledger.latest
    data = alice.payment(node, bob, 5)
    simulated, result = node.simulate(data, Mode.SIMULATE)
    assert node.ledger.latest == latest
    assert node.ledger.balance(bob, SUI).coins == 0
    assert result.effects.status == Success()
    assert alice.send(node, data).effects == simulated.effects


def test_simulated_publication_is_forgotten(node, alice):
    simulated, _ = node.simulate(publish_transaction(node, alice))
    package = published_package(simulated)
    assert node.machine.types.package(package) is None


def test_simulation_sees_the_current_time(node, alice, wall_clock):
    wall_clock.now_ms += 1234
    builder = TransactionBuilder()
    builder.move_call(Address.of(2), "clock", "timestamp_ms", [builder.object(CLOCK)])
    _, result = node.simulate(alice.transaction(node, builder))
    ((_, value),) = result.command_results[0].return_values
    assert int.from_bytes(value, "little") == wall_clock.now_ms


# --- Watching


def test_subscribers_are_called_after_the_ledger_has_the_checkpoint(node, alice, bob):
    seen = []
    unsubscribe = node.subscribe(
        lambda checkpoint: seen.append((checkpoint.number, node.ledger.latest.number))
    )
    number = node.ledger.latest.number
    alice.pay(node, bob, 1)
    node.advance_clock(1)
    unsubscribe()
    unsubscribe()
    alice.pay(node, bob, 1)
    assert seen == [(number + 1, number + 1), (number + 2, number + 2)]


def test_subscriber_can_unsubscribe_during_its_call(node, alice, bob):
    seen = []

    def once(checkpoint):
        seen.append(checkpoint.number)
        unsubscribe()

    unsubscribe = node.subscribe(once)
    unsubscribe_other = node.subscribe(lambda checkpoint: seen.append(checkpoint.number))
    alice.pay(node, bob, 1)
    alice.pay(node, bob, 1)
    unsubscribe_other()
    first, second = node.ledger.latest.number - 1, node.ledger.latest.number
    assert seen == [first, first, second]


# --- Going back


def test_revert_restores_balances_versions_and_chain(node, alice, bob):
    snapshot = node.snapshot()
    latest, coins = node.ledger.latest, alice.coins(node)
    alice.pay(node, bob, 1)
    alice.pay(node, bob, 2)
    node.revert(snapshot)
    assert node.ledger.latest == latest
    assert alice.coins(node) == coins
    assert node.ledger.balance(bob, SUI).coins == 0


def test_transactions_continue_after_a_revert(node, alice, bob):
    snapshot = node.snapshot()
    data = alice.payment(node, bob, 1)
    first = alice.send(node, data)
    node.revert(snapshot)
    again = alice.send(node, data)
    assert again.effects == first.effects
    assert TRANSACTION_DATA.decode(again.data_bytes) == data
