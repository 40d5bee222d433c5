"""A regulated coin: its users and its receivers."""

from typing import NamedTuple

import pytest

from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import DENY_LIST, SUI_FRAMEWORK, Address
from nexus_tools.sui.types.effects import PerEpochConfig
from nexus_tools.sui.types.execution_status import ErrorKind, ExecutionFailure, Success
from nexus_tools.sui.types.transaction import OwnedObject, ReceivingObject, SharedObject
from nexus_tools.sui.types.type_tag import StructTag, coin_tag

MANIFEST = '[package]\nname = "regulated"\nedition = "2024"\n\n[addresses]\nregulated = "0x0"\n'
SOURCE = """
module regulated::regulated;

use sui::coin;

public struct REGULATED has drop {}

fun init(witness: REGULATED, ctx: &mut TxContext) {
    let (cap, deny_cap, metadata) = coin::create_regulated_currency_v2(
        witness, 2, b"REG", b"Regulated", b"", option::none(), true, ctx,
    );
    transfer::public_transfer(cap, ctx.sender());
    transfer::public_transfer(deny_cap, ctx.sender());
    transfer::public_freeze_object(metadata);
}
"""
FIRST_VERSION = """
module regulated::old;

use sui::coin;

public struct OLD has drop {}

#[allow(deprecated_usage)]
fun init(witness: OLD, ctx: &mut TxContext) {
    let (mut cap, deny_cap, metadata) = coin::create_regulated_currency(
        witness, 2, b"OLD", b"Old", b"", option::none(), ctx,
    );
    cap.mint_and_transfer(7, ctx.sender(), ctx);
    transfer::public_transfer(cap, ctx.sender());
    transfer::public_transfer(deny_cap, ctx.sender());
    transfer::public_freeze_object(metadata);
}
"""
SUI = 1_000_000_000


class Currency(NamedTuple):
    tag: StructTag
    text: str


@pytest.fixture(scope="module")
def modules(move_builder):
    sources = {"regulated": SOURCE, "old": FIRST_VERSION}
    files = {f"sources/{name}.move": source for name, source in sources.items()}
    return move_builder.build({"Move.toml": MANIFEST, **files}).modules


@pytest.fixture
def currency(publish, alice, modules):
    """Return the coin's type and its name in deny lists. Alice is the issuer."""
    package = publish(alice, modules)
    tag = StructTag(package, "regulated", "REGULATED")
    return Currency(tag, f"{package.hex()}::regulated::REGULATED")


@pytest.fixture
def carol(node, accounts):
    account = accounts(seed=3)
    node.fund(account.address, 10 * SUI)
    return account


def owned_object(node, account, name, coin_type):
    """Return the account's only object of a type with the coin type as argument."""
    (found,) = node.ledger.owned_by(
        account.address, StructTag(SUI_FRAMEWORK, "coin", name, (coin_type,))
    )
    return OwnedObject(found.reference())


def run(node, account, builder):
    return account.send(node, account.transaction(node, builder)).effects.status


def mint(node, alice, currency, recipient, amount=100):
    builder = TransactionBuilder()
    cap = builder.resolved(owned_object(node, alice, "TreasuryCap", currency.tag))
    arguments = [cap, builder.u64(amount)]
    coin = builder.move_call(SUI_FRAMEWORK, "coin", "mint", arguments, [currency.tag])
    builder.transfer_objects([coin], recipient)
    return run(node, alice, builder)


def regulate(node, alice, currency, function, *addresses, cap_name="DenyCapV2"):
    """Change the deny list as the issuer."""
    builder = TransactionBuilder()
    deny_list = builder.resolved(SharedObject(DENY_LIST, 1, mutable=True))
    cap = builder.resolved(owned_object(node, alice, cap_name, currency.tag))
    arguments = [deny_list, cap, *map(builder.address, addresses)]
    builder.move_call(SUI_FRAMEWORK, "coin", function, arguments, [currency.tag])
    assert run(node, alice, builder) == Success()


def coin_transfer(node, account, currency, recipient):
    """Return a transaction that transfers the account's coin."""
    (coin,) = node.ledger.owned_by(account.address, coin_tag(currency.tag))
    builder = TransactionBuilder()
    builder.transfer_objects([builder.resolved(OwnedObject(coin.reference()))], recipient)
    return account.transaction(node, builder)


def test_effects_contain_the_deny_list_when_it_was_read(node, alice, currency, bob):
    assert mint(node, alice, currency, bob) == Success()
    effects = node.ledger.latest.transactions[-1].effects
    assert effects.unchanged_consensus_objects == ((DENY_LIST, PerEpochConfig()),)


def test_effects_omit_the_deny_list_for_sui(node, alice, bob):
    assert alice.pay(node, bob, 5).effects.unchanged_consensus_objects == ()


def test_denied_sender_cannot_use_the_coin_immediately(
    node, alice, carol, currency, bob, refused_code
):
    assert mint(node, alice, currency, carol.address) == Success()
    data = coin_transfer(node, carol, currency, bob)
    regulate(node, alice, currency, "deny_list_v2_add", carol.address)
    assert refused_code(carol, data) == "address_denied_for_coin"


def test_denied_sender_can_use_other_coins(node, alice, carol, currency, bob):
    regulate(node, alice, currency, "deny_list_v2_add", carol.address)
    assert carol.pay(node, bob, 5).effects.status == Success()


def test_denied_address_cannot_receive_from_the_next_epoch_on(node, alice, currency, bob):
    regulate(node, alice, currency, "deny_list_v2_add", bob)
    assert mint(node, alice, currency, bob) == Success()
    node.advance_epoch()
    status = mint(node, alice, currency, bob)
    assert isinstance(status, ExecutionFailure)
    assert status.error.kind is ErrorKind.ADDRESS_DENIED_FOR_COIN
    assert status.error.data == (bob, currency.text)
    assert status.command is None


def test_removed_address_can_send_immediately_and_receive_in_the_next_epoch(
    node, alice, carol, currency, bob
):
    assert mint(node, alice, currency, carol.address) == Success()
    regulate(node, alice, currency, "deny_list_v2_add", carol.address)
    node.advance_epoch()
    regulate(node, alice, currency, "deny_list_v2_remove", carol.address)
    data = coin_transfer(node, carol, currency, bob)
    assert carol.send(node, data).effects.status == Success()
    assert isinstance(mint(node, alice, currency, carol.address), ExecutionFailure)
    node.advance_epoch()
    assert mint(node, alice, currency, carol.address) == Success()


def test_paused_coin_cannot_be_used(node, alice, carol, currency, bob, refused_code):
    assert mint(node, alice, currency, carol.address) == Success()
    data = coin_transfer(node, carol, currency, bob)
    regulate(node, alice, currency, "deny_list_v2_enable_global_pause")
    assert refused_code(carol, data) == "coin_type_global_pause"
    regulate(node, alice, currency, "deny_list_v2_disable_global_pause")
    assert carol.send(node, data).effects.status == Success()


def test_paused_coin_cannot_be_received_from_the_next_epoch_on(node, alice, currency, bob):
    regulate(node, alice, currency, "deny_list_v2_enable_global_pause")
    assert mint(node, alice, currency, bob) == Success()
    node.advance_epoch()
    status = mint(node, alice, currency, bob)
    assert isinstance(status, ExecutionFailure)
    assert status.error.kind is ErrorKind.COIN_TYPE_GLOBAL_PAUSE
    assert status.error.data == currency.text


def test_receiving_a_coin_counts_as_an_input(node, alice, carol, currency, refused_code):
    parent = node.ledger.owned_by(carol.address)[0]
    assert mint(node, alice, currency, Address(parent.id)) == Success()
    (coin,) = node.ledger.owned_by(Address(parent.id), coin_tag(currency.tag))
    regulate(node, alice, currency, "deny_list_v2_add", carol.address)
    builder = TransactionBuilder()
    builder.resolved(ReceivingObject(coin.reference()))
    data = carol.transaction(node, builder)
    assert refused_code(carol, data) == "address_denied_for_coin"


def test_simulation_of_a_denied_sender_is_not_refused(node, alice, carol, currency, bob):
    assert mint(node, alice, currency, carol.address) == Success()
    data = coin_transfer(node, carol, currency, bob)
    regulate(node, alice, currency, "deny_list_v2_add", carol.address)
    executed, _ = node.simulate(data)
    assert executed.effects.status == Success()


def test_move_code_reads_the_list_of_this_epoch_and_the_next(node, alice, currency, bob):
    seen = []
    for _ in range(2):
        seen.append([contains(node, alice, currency, bob, when) for when in ("current", "next")])
        regulate(node, alice, currency, "deny_list_v2_add", bob)
    seen.append([contains(node, alice, currency, bob, when) for when in ("current", "next")])
    node.advance_epoch()
    seen.append([contains(node, alice, currency, bob, when) for when in ("current", "next")])
    assert seen == [[False, False], [False, True], [False, True], [True, True]]


def contains(node, account, currency, address, when):
    builder = TransactionBuilder()
    deny_list = builder.resolved(SharedObject(DENY_LIST, 1, mutable=False))
    function = f"deny_list_v2_contains_{when}_epoch"
    arguments = [deny_list, builder.address(address)]
    builder.move_call(SUI_FRAMEWORK, "coin", function, arguments, [currency.tag])
    _, result = node.simulate(account.transaction(node, builder))
    ((_, value),) = result.command_results[0].return_values
    return value == b"\1"


def test_lookup_of_each_new_owner_costs_150_gas_units(node, alice, currency, bob):
    """Source: `charge_coin_transfers`, 1000 bytes at 10 per child object, at 15 internal units."""
    costs = []
    for owners in (1, 101):
        builder = TransactionBuilder()
        cap = builder.resolved(owned_object(node, alice, "TreasuryCap", currency.tag))
        for number in range(101):
            arguments = [cap, builder.u64(1)]
            coin = builder.move_call(SUI_FRAMEWORK, "coin", "mint", arguments, [currency.tag])
            builder.transfer_objects([coin], Address.of(0xB00 + number % owners))
        executed = alice.send(node, alice.transaction(node, builder, budget=2 * SUI))
        costs.append(executed.effects.gas_used.computation_cost // 1000)
    # Everything else is within the 1000 units that every transaction pays, with one lookup.
    assert costs[0] == 1_000
    assert 101 * 150 <= costs[1] <= 100 * 150 + 1_000


# --- Lists of the first version


@pytest.fixture
def version_1_coin(currency):
    """Return a coin with a version 1 deny list. Alice owns all of it."""
    package = currency.tag.address
    return Currency(StructTag(package, "old", "OLD"), f"{package.hex()}::old::OLD")


def test_version_1_list_denies_only_senders(node, alice, version_1_coin, bob, refused_code):
    regulate(node, alice, version_1_coin, "deny_list_add", bob, cap_name="DenyCap")
    node.advance_epoch()
    assert mint(node, alice, version_1_coin, bob) == Success()
    regulate(node, alice, version_1_coin, "deny_list_add", alice.address, cap_name="DenyCap")
    assert (
        refused_code(alice, coin_transfer(node, alice, version_1_coin, bob))
        == "address_denied_for_coin"
    )
    regulate(node, alice, version_1_coin, "deny_list_remove", alice.address, cap_name="DenyCap")
    assert (
        alice.send(node, coin_transfer(node, alice, version_1_coin, bob)).effects.status
        == Success()
    )


def test_deny_lists_of_different_coins_are_separate(node, alice, currency, version_1_coin, bob):
    regulate(node, alice, version_1_coin, "deny_list_add", alice.address, cap_name="DenyCap")
    assert mint(node, alice, currency, alice.address) == Success()
    data = coin_transfer(node, alice, currency, bob)
    assert alice.send(node, data).effects.status == Success()
