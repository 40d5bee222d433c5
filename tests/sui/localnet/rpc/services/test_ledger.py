import grpc
import pytest

from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import (
    checkpoint_contents_digest,
    checkpoint_digest,
    effects_digest,
    events_digest,
    object_digest,
    transaction_digest,
)

SUI = 1_000_000_000
CLOCK = str(Address.of(6))
NOWHERE = str(Address.of(0xDEAD))


def expect_refusal(call, /, *arguments, **fields):
    with pytest.raises(grpc.RpcError) as caught:
        call(*arguments, **fields)
    return caught.value.code(), caught.value.details()


def send(account, client, *paths):
    builder = TransactionBuilder()
    (coin,) = [builder.split_coins(builder.gas, [5])[0]]
    builder.transfer_objects([coin], Address.of(0xB0B))
    return account.execute(client, builder, *paths)


# --- Objects


def test_object_is_found_by_an_unpadded_id(client):
    found = client.call("LedgerService/GetObject", object_id="0x6").object
    assert found.object_id == CLOCK
    assert found.HasField("version")
    assert found.HasField("digest")
    assert not found.HasField("owner")


def test_clock_is_shared_since_version_1(client):
    found = client.call("LedgerService/GetObject", "owner", object_id="0x6").object
    assert (found.owner.kind, found.owner.version) == (3, 1)
    assert not found.HasField("object_id")


def test_object_is_rendered_with_all_fields(client, published):
    found = client.call("LedgerService/GetObject", "*", object_id=str(published.registry)).object
    name = f"{published.package}::tool_registry::ToolRegistry"
    assert found.object_type == found.contents.name == name
    assert found.contents.value[:32] == published.registry
    assert not found.has_public_transfer
    assert found.previous_transaction == published.digest
    assert found.storage_rebate > 0
    assert str(object_digest(found.bcs.value)) == found.digest
    assert found.contents.value in found.bcs.value
    assert not found.HasField("balance")


def test_object_value_is_rendered_as_json(client, published):
    found = client.call("LedgerService/GetObject", "json", object_id=str(published.registry))
    fields = found.object.json.struct_value.fields
    assert fields["id"].string_value == str(published.registry)
    assert fields["version"].struct_value.fields["number"].string_value == "1"
    settings = dict(fields["settings"].struct_value.fields)
    assert settings.pop("accepting").bool_value is True
    assert {name: value.string_value for name, value in settings.items()} == {
        "collateral_mist": "1000000000",
        "unregister_delay_ms": "604800000",
        "min_timeout_ms": "1000",
        "max_timeout_ms": "120000",
        "max_schema_bytes": "49152",
    }
    assert fields["fqns"].struct_value.fields["size"].string_value == "0"


def test_package_is_an_object_with_modules(client, published):
    found = client.call("LedgerService/GetObject", "*", object_id=str(published.package)).object
    assert found.object_type == "package"
    assert found.owner.kind == 4
    assert not found.HasField("contents")
    assert found.package.storage_id == found.package.original_id == str(published.package)
    assert {module.name for module in found.package.modules} > {"tool", "tool_registry"}
    assert {link.original_id for link in found.package.linkage} == {
        str(Address.of(1)),
        str(Address.of(2)),
    }


def test_object_is_found_at_a_past_version(client, alice, published):
    before = client.call("LedgerService/GetObject", "*", object_id=str(published.registry)).object
    published.configure(client, alice, 7)
    past = client.call(
        "LedgerService/GetObject", "*", object_id=str(published.registry), version=before.version
    )
    assert past.object == before
    now = client.call("LedgerService/GetObject", "*", object_id=str(published.registry)).object
    assert now.version > before.version
    assert now.digest != before.digest


def test_missing_object_is_not_found(client):
    code, details = expect_refusal(client.call, "LedgerService/GetObject", object_id=NOWHERE)
    assert code is grpc.StatusCode.NOT_FOUND
    assert details == f"Object {NOWHERE} not found"
    code, details = expect_refusal(
        client.call, "LedgerService/GetObject", object_id="0x6", version=999
    )
    assert code is grpc.StatusCode.NOT_FOUND
    assert details == f"Object {CLOCK} with version 999 not found"


@pytest.mark.parametrize("object_id", ["", "6", "0x", "0xgg", "0x" + "0" * 65])
def test_invalid_id_is_refused(client, object_id):
    code, details = expect_refusal(client.call, "LedgerService/GetObject", object_id=object_id)
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert details.startswith("invalid object_id")


def test_mask_with_an_unknown_path_is_refused(client):
    code, details = expect_refusal(
        client.call, "LedgerService/GetObject", "nonsense", object_id="0x6"
    )
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert details == "invalid read_mask path: nonsense"


def test_batch_contains_a_result_or_an_error_for_each_object(client):
    response = client.call(
        "LedgerService/BatchGetObjects",
        "object_id",
        requests=[{"object_id": "0x6"}, {"object_id": NOWHERE}, {"object_id": "?"}],
    )
    first, second, third = response.objects
    assert first.object.object_id == CLOCK
    assert (second.error.code, second.error.message) == (5, f"Object {NOWHERE} not found")
    assert third.error.code == 3


def test_batch_has_at_most_1000_items(client):
    code, _ = expect_refusal(
        client.call, "LedgerService/BatchGetObjects", requests=[{"object_id": "0x6"}] * 1001
    )
    assert code is grpc.StatusCode.INVALID_ARGUMENT


# --- Transactions


def test_transaction_is_found_as_executed(client, alice):
    executed = send(alice, client)
    found = client.call("LedgerService/GetTransaction", "*", digest=executed.digest).transaction
    assert found == executed


def test_digests_are_those_of_the_bytes(client, alice, published):
    executed = published.configure(client, alice, 7)
    assert executed.digest == str(transaction_digest(executed.transaction.bcs.value))
    assert executed.effects.digest == str(effects_digest(executed.effects.bcs.value))
    assert executed.events.digest == str(events_digest(executed.events.bcs.value))
    assert executed.effects.events_digest == executed.events.digest


def test_transaction_is_rendered_with_all_fields(client, alice):
    executed = send(alice, client)
    assert executed.transaction.sender == str(alice.address)
    assert executed.transaction.gas_payment.price == 1000
    assert executed.transaction.expiration.kind == 1
    split, transfer = executed.transaction.kind.programmable_transaction.commands
    assert split.split_coins.coin.kind == 1
    assert transfer.transfer_objects.objects[0].kind == 3
    assert transfer.transfer_objects.objects[0].subresult == 0
    amount, recipient = executed.transaction.kind.programmable_transaction.inputs
    assert (amount.kind, amount.pure) == (1, (5).to_bytes(8, "little"))
    assert recipient.pure == Address.of(0xB0B)
    (signature,) = executed.signatures
    assert signature.simple.public_key == alice.public_key
    assert executed.effects.status.success
    assert executed.effects.gas_object.output_owner.address == str(alice.address)


def test_balance_changes_add_up(client, alice):
    executed = send(alice, client)
    gas = executed.effects.gas_used
    paid = gas.computation_cost + gas.storage_cost - gas.storage_rebate
    changes = {change.address: int(change.amount) for change in executed.balance_changes}
    assert changes == {str(alice.address): -5 - paid, str(Address.of(0xB0B)): 5}


def test_unknown_transaction_is_not_found(client):
    digest = "1" * 32
    code, details = expect_refusal(client.call, "LedgerService/GetTransaction", digest=digest)
    assert (code, details) == (grpc.StatusCode.NOT_FOUND, f"Transaction {digest} not found")
    code, _ = expect_refusal(client.call, "LedgerService/GetTransaction", digest="0OIl")
    assert code is grpc.StatusCode.INVALID_ARGUMENT


def test_batch_contains_a_result_or_an_error_for_each_transaction(client, alice):
    executed = send(alice, client)
    found, missing, bad = client.call(
        "LedgerService/BatchGetTransactions", digests=[executed.digest, "1" * 32, "?"]
    ).transactions
    assert found.transaction.digest == executed.digest
    assert (missing.error.code, bad.error.code) == (5, 3)


# --- Checkpoints and epochs


def test_checkpoint_contains_its_transaction(client, alice):
    executed = send(alice, client)
    by_number = client.call(
        "LedgerService/GetCheckpoint", "*", sequence_number=executed.checkpoint
    ).checkpoint
    by_digest = client.call("LedgerService/GetCheckpoint", "*", digest=by_number.digest).checkpoint
    assert by_number == by_digest
    assert executed.digest in [transaction.digest for transaction in by_number.transactions]
    assert executed.digest in [
        transaction.transaction for transaction in by_number.contents.transactions
    ]
    assert by_number.digest == str(checkpoint_digest(by_number.summary.bcs.value))
    contents = str(checkpoint_contents_digest(by_number.contents.bcs.value))
    assert by_number.contents.digest == by_number.summary.content_digest == contents


def test_checkpoints_form_a_chain_back_to_genesis(client, alice):
    send(alice, client)
    checkpoint = client.call("LedgerService/GetCheckpoint", "summary").checkpoint
    while checkpoint.summary.sequence_number:
        before = client.call(
            "LedgerService/GetCheckpoint", "summary", digest=checkpoint.summary.previous_digest
        ).checkpoint
        assert before.summary.sequence_number == checkpoint.summary.sequence_number - 1
        checkpoint = before
    info = client.call("LedgerService/GetServiceInfo")
    assert checkpoint.summary.digest == info.chain_id


def test_missing_checkpoint_is_not_found(client):
    code, details = expect_refusal(
        client.call, "LedgerService/GetCheckpoint", sequence_number=10**9
    )
    assert (code, details) == (grpc.StatusCode.NOT_FOUND, "Checkpoint 1000000000 not found")


def test_epoch_contains_gas_price_and_limits(client):
    epoch = client.call(
        "LedgerService/GetEpoch", "reference_gas_price", "protocol_config", "start"
    ).epoch
    assert epoch.reference_gas_price == 1000
    assert epoch.protocol_config.attributes["max_tx_gas"] == "50000000000000"
    assert epoch.protocol_config.attributes["max_programmable_tx_commands"] == "1024"
    assert epoch.start.seconds > 0
    assert not epoch.HasField("epoch")


def test_epoch_contains_the_enabled_features(client):
    config = client.call("LedgerService/GetEpoch", "protocol_config").epoch.protocol_config
    for name in ("enable_accumulators", "enable_address_balance_gas_payments"):
        assert config.feature_flags[name]
        assert config.configs[name].bool_value
    assert "enable_allowances" not in config.feature_flags


def test_system_state_has_a_start(client):
    state = client.call("LedgerService/GetEpoch", "system_state").epoch.system_state
    assert state.epoch_start_timestamp_ms > 0
    assert state.reference_gas_price == 1000


def test_future_epoch_has_only_its_number(client):
    epoch = client.call("LedgerService/GetEpoch", epoch=7_000).epoch
    assert [(field.name, value) for field, value in epoch.ListFields()] == [("epoch", 7_000)]


def test_future_epoch_has_no_committee(client):
    code, details = expect_refusal(client.call, "LedgerService/GetEpoch", "committee", epoch=7_000)
    assert (code, details) == (grpc.StatusCode.NOT_FOUND, "Committee for epoch 7000 not found")
