"""Information about coins from the registry and about older coins."""

from pathlib import Path

import grpc
import pytest

from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import SUI_FRAMEWORK, Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.object import ObjectReference
from nexus_tools.sui.types.transaction import ReceivingObject, SharedObject
from nexus_tools.sui.types.type_tag import StructTag

BYTECODE = Path(__file__).parent / "coins" / "bytecode"
INFO = "StateService/GetCoinInfo"
REGISTRY = Address.of(0xC)
CREATED = 2
FIXED = 1
REGULATED, UNREGULATED = 1, 2
CLAIMED = 1


@pytest.fixture
def coins(client, alice):
    """Publish a coin, and return its type and the IDs of its objects by type name."""

    def publish(name):
        builder = TransactionBuilder()
        modules = [(BYTECODE / f"{name}.mv").read_bytes()]
        cap = builder.publish(modules, [Address.of(1), Address.of(2)])
        builder.transfer_objects([cap], alice.address)
        executed = alice.execute(client, builder)
        assert executed.effects.status.success, executed.effects.status
        created = {
            change.object_type.partition("<")[0].rpartition("::")[2]: change
            for change in executed.effects.changed_objects
            if change.id_operation == CREATED
        }
        package = Address.parse(created["package"].object_id)
        return StructTag(package, name, name.upper(), ()), created

    return publish


def test_old_regulated_coin_has_its_deny_cap(client, coins):
    tag, created = coins("lead")
    info = client.call(INFO, coin_type=str(tag))
    assert (info.metadata.decimals, info.metadata.symbol) == (3, "PB")
    assert info.metadata.id == created["CoinMetadata"].object_id
    assert not info.metadata.HasField("icon_url")
    assert info.treasury.id == created["TreasuryCap"].object_id
    regulated = info.regulated_metadata
    assert regulated.coin_regulated_state == REGULATED
    assert regulated.id == created["RegulatedCoinMetadata"].object_id
    assert regulated.coin_metadata_object == created["CoinMetadata"].object_id
    assert regulated.deny_cap_object == created["DenyCapV2"].object_id


def register(client, account, tag, currency):
    builder = TransactionBuilder()
    registry = builder.resolved(SharedObject(REGISTRY, 1, mutable=True))
    reference = ObjectReference(
        Address.parse(currency.object_id),
        currency.output_version,
        Digest.parse(currency.output_digest),
    )
    received = builder.resolved(ReceivingObject(reference))
    arguments = [registry, received]
    builder.move_call(SUI_FRAMEWORK, "coin_registry", "finalize_registration", arguments, (tag,))
    executed = account.execute(client, builder)
    assert executed.effects.status.success, executed.effects.status


def test_registered_coin_has_all_information_in_one_object(client, alice, coins):
    tag, created = coins("tin")
    with pytest.raises(grpc.RpcError) as caught:
        client.call(INFO, coin_type=str(tag))
    assert caught.value.code() is grpc.StatusCode.NOT_FOUND
    register(client, alice, tag, created["Currency"])
    info = client.call(INFO, coin_type=str(tag))
    assert (info.metadata.name, info.metadata.description) == ("Tin", "Light")
    assert info.metadata.icon_url == "https://tin.example/icon"
    assert info.metadata.metadata_cap_state == CLAIMED
    assert info.metadata.metadata_cap_id == created["MetadataCap"].object_id
    assert (info.treasury.total_supply, info.treasury.supply_state) == (500, FIXED)
    assert Address.parse(info.treasury.id)
    regulated = info.regulated_metadata
    assert regulated.coin_regulated_state == REGULATED
    assert regulated.deny_cap_object == created["DenyCapV2"].object_id
    assert regulated.allow_global_pause is False


def test_sui_is_not_regulated(client):
    info = client.call(INFO, coin_type="0x2::sui::SUI")
    assert info.regulated_metadata.coin_regulated_state == UNREGULATED
