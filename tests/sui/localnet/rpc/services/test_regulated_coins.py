"""A regulated coin with a denied sender or receiver, from the clients' point of view."""

import grpc
import pytest

from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import DENY_LIST, SUI_FRAMEWORK, Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.object import ObjectReference
from nexus_tools.sui.types.transaction import OwnedObject, SharedObject
from nexus_tools.sui.types.type_tag import StructTag

MANIFEST = '[package]\nname = "money"\nedition = "2024"\n\n[addresses]\nmoney = "0x0"\n'
SOURCE = """
module money::money;

use sui::coin;

public struct MONEY has drop {}

fun init(witness: MONEY, ctx: &mut TxContext) {
    let (cap, deny_cap, metadata) = coin::create_regulated_currency_v2(
        witness, 2, b"MON", b"Money", b"", option::none(), false, ctx,
    );
    transfer::public_transfer(cap, ctx.sender());
    transfer::public_transfer(deny_cap, ctx.sender());
    transfer::public_freeze_object(metadata);
}
"""


@pytest.fixture(scope="module")
def modules(move_builder):
    return move_builder.build({"Move.toml": MANIFEST, "sources/money.move": SOURCE}).modules


class Money:
    """The coin on the network, its issuer, and the issuer's objects."""

    def __init__(self, client, issuer, modules):
        self.client, self.issuer = client, issuer
        builder = TransactionBuilder()
        cap = builder.publish(modules, [Address.of(1), SUI_FRAMEWORK])
        builder.transfer_objects([cap], issuer.address)
        executed = issuer.execute(client, builder)
        self.ids = {
            change.object_type.partition("<")[0].rpartition("::")[2]: change.object_id
            for change in executed.effects.changed_objects
        }
        package = Address.parse(self.ids["package"])
        self.tag = StructTag(package, "money", "MONEY")
        self.text = f"{package.hex()}::money::MONEY"

    def owned(self, name):
        found = self.client.call("LedgerService/GetObject", object_id=self.ids[name]).object
        digest = Digest.parse(found.digest)
        return OwnedObject(ObjectReference(Address.parse(found.object_id), found.version, digest))

    def deny(self, address):
        builder = TransactionBuilder()
        deny_list = builder.resolved(SharedObject(DENY_LIST, 1, mutable=True))
        cap = builder.resolved(self.owned("DenyCapV2"))
        arguments = [deny_list, cap, builder.address(address)]
        builder.move_call(SUI_FRAMEWORK, "coin", "deny_list_v2_add", arguments, [self.tag])
        assert self.issuer.execute(self.client, builder).effects.status.success

    def mint(self, recipient):
        builder = TransactionBuilder()
        arguments = [builder.resolved(self.owned("TreasuryCap")), builder.u64(5)]
        coin = builder.move_call(SUI_FRAMEWORK, "coin", "mint", arguments, [self.tag])
        builder.transfer_objects([coin], recipient)
        return self.issuer.execute(self.client, builder)


@pytest.fixture
def money(client, alice, modules):
    return Money(client, alice, modules)


def test_coin_info_shows_that_a_coin_is_regulated(client, money):
    info = client.call("StateService/GetCoinInfo", coin_type=str(money.tag))
    regulated = info.regulated_metadata
    assert regulated.coin_regulated_state == 1  # REGULATED
    assert regulated.id == money.ids["RegulatedCoinMetadata"]
    assert regulated.coin_metadata_object == money.ids["CoinMetadata"]
    assert regulated.deny_cap_object == money.ids["DenyCapV2"]


def test_transaction_of_a_denied_sender_is_refused_with_address_and_coin(client, alice, money):
    money.mint(alice.address)
    (coin,) = client.call(
        "StateService/ListOwnedObjects",
        "object_id",
        "version",
        "digest",
        owner=str(alice.address),
        object_type=f"0x2::coin::Coin<{money.tag}>",
    ).objects
    money.deny(alice.address)
    builder = TransactionBuilder()
    digest = Digest.parse(coin.digest)
    reference = ObjectReference(Address.parse(coin.object_id), coin.version, digest)
    builder.transfer_objects([builder.resolved(OwnedObject(reference))], Address.of(7))
    with pytest.raises(grpc.RpcError) as caught:
        alice.execute(client, builder)
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    expected = f"Address {alice.address} is denied for coin {money.text}"
    assert expected in caught.value.details()


def test_transaction_with_a_denied_receiver_fails_in_the_next_epoch(localnet, client, money):
    money.deny(Address.of(7))
    assert money.mint(Address.of(7)).effects.status.success
    localnet.advance_epoch()
    error = money.mint(Address.of(7)).effects.status.error
    assert error.kind == 35  # ADDRESS_DENIED_FOR_COIN
    assert error.coin_deny_list_error.address == str(Address.of(7))
    assert error.coin_deny_list_error.coin_type == money.text
    assert not error.HasField("command")
