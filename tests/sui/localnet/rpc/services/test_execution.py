import grpc
import pytest

from nexus_tools.sui.bcs import byte_vector, string, u8
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.type_tag import STRING, Primitive, VectorTag

EXECUTE = "TransactionExecutionService/ExecuteTransaction"
SIMULATE = "TransactionExecutionService/SimulateTransaction"
SUI = 1_000_000_000
DISABLED = 1


def expect_refusal(call, /, *arguments, **fields):
    with pytest.raises(grpc.RpcError) as caught:
        call(*arguments, **fields)
    return caught.value.code(), caught.value.details()


def transfer(amount=5):
    builder = TransactionBuilder()
    coin = builder.split_coins(builder.gas, [amount])[0]
    builder.transfer_objects([coin], Address.of(0xB0B))
    return builder


def signed_request(account, data):
    return {
        "transaction": {"bcs": {"value": data}},
        "signatures": [{"bcs": {"value": account.sign(data)}}],
    }


# --- Execution


def test_transfer_reaches_its_recipient(client, alice):
    executed = alice.execute(client, transfer(7), "effects", "checkpoint")
    assert executed.effects.status.success
    assert executed.HasField("checkpoint")
    assert not executed.HasField("digest")
    balance = client.call("StateService/GetBalance", owner="0xb0b", coin_type="0x2::sui::SUI")
    assert balance.balance.balance == 7


def test_default_mask_contains_the_effects(client, alice):
    data = alice.transaction(client, transfer())
    executed = client.call(EXECUTE, **signed_request(alice, data)).transaction
    assert executed.effects.status.success
    assert not executed.HasField("transaction")


def test_repeated_transaction_gives_the_same_response(client, alice):
    data = alice.transaction(client, transfer())
    first = client.call(EXECUTE, "*", **signed_request(alice, data))
    assert client.call(EXECUTE, "*", **signed_request(alice, data)) == first


def test_transaction_may_be_a_message_instead_of_bytes(client, alice):
    data = alice.transaction(client, transfer())
    shown = client.call(
        SIMULATE, "transaction.transaction", transaction={"bcs": {"value": data}}
    ).transaction.transaction
    shown.ClearField("bcs")
    executed = client.call(
        EXECUTE, "digest", transaction=shown, signatures=signed_request(alice, data)["signatures"]
    ).transaction
    assert executed.digest == shown.digest


def test_signature_may_be_a_message(client, alice):
    data = alice.transaction(client, transfer())
    whole = alice.sign(data)
    parts = {"scheme": 0, "signature": whole[1:65], "public_key": whole[65:]}
    fields = signed_request(alice, data) | {"signatures": [{"simple": parts}]}
    assert client.call(EXECUTE, **fields).transaction.effects.status.success


def test_failed_transaction_is_executed_and_has_an_error(client, alice):
    executed = alice.execute(client, transfer(10**18))
    assert not executed.effects.status.success
    error = executed.effects.status.error
    assert (error.kind, error.command) == (8, 0)
    assert error.description == "InsufficientCoinBalance in command 0"
    assert executed.effects.gas_used.computation_cost > 0


def test_abort_contains_location_and_code(client, alice):
    builder = TransactionBuilder()
    made = builder.move_call(Address.of(1), "option", "none", type_arguments=(Primitive.U8,))
    builder.move_call(
        Address.of(1), "option", "destroy_some", [made], type_arguments=(Primitive.U8,)
    )
    error = alice.execute(client, builder).effects.status.error
    assert (error.kind, error.command) == (13, 1)
    assert error.abort.abort_code == 0x40001  # EOPTION_NOT_SET of std::option
    assert error.abort.location.package == str(Address.of(1))
    assert error.abort.location.module == "option"
    assert error.abort.location.function_name == "destroy_some"
    assert error.description.startswith("MoveAbort(MoveLocation { module: ModuleId { address: 00")
    assert error.description.endswith('function_name: Some("destroy_some") }, 262145) in command 1')


def test_at_most_two_signatures_are_allowed(client, alice):
    data = alice.transaction(client, transfer())
    fields = signed_request(alice, data)
    code, details = expect_refusal(
        client.call, EXECUTE, **fields | {"signatures": fields["signatures"] * 3}
    )
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert details == "3 provided signatures exceeds the maximum allowed of 2"


def test_wrong_signature_is_refused(client, alice, bob):
    data = alice.transaction(client, transfer())
    code, details = expect_refusal(client.call, EXECUTE, **signed_request(bob, data))
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert details.startswith("Invalid user signature")


@pytest.mark.parametrize("signature", [b"", b"\0", b"\x09" * 97, b"\0" * 97])
def test_malformed_signature_is_refused(client, alice, signature):
    data = alice.transaction(client, transfer())
    fields = {"transaction": {"bcs": {"value": data}}}
    code, _ = expect_refusal(
        client.call, EXECUTE, **fields, signatures=[{"bcs": {"value": signature}}]
    )
    assert code is grpc.StatusCode.INVALID_ARGUMENT


def test_transaction_without_a_signature_is_refused(client, alice):
    data = alice.transaction(client, transfer())
    code, _ = expect_refusal(client.call, EXECUTE, transaction={"bcs": {"value": data}})
    assert code is grpc.StatusCode.INVALID_ARGUMENT


@pytest.mark.parametrize("data", [b"", b"\0", b"\xff" * 200, b"\0\0\xff\xff\xff\xff\x0f"])
def test_bytes_that_are_not_a_transaction_are_refused(client, alice, data):
    code, details = expect_refusal(client.call, EXECUTE, **signed_request(alice, data))
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert "invalid transaction" in details


def test_request_without_a_transaction_is_refused(client):
    for name in (EXECUTE, SIMULATE):
        code, details = expect_refusal(client.call, name)
        assert (code, details) == (grpc.StatusCode.INVALID_ARGUMENT, "missing transaction")


def test_spent_coin_cannot_pay_again(client, alice):
    payment = alice.coins(client)[:1]
    alice.execute(client, transfer(), payment=payment)
    code, details = expect_refusal(lambda: alice.execute(client, transfer(9), payment=payment))
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert str(payment[0].object_id) in details


def test_refused_transaction_changes_nothing(client, alice, bob):
    before = client.call("LedgerService/GetServiceInfo").checkpoint_height
    data = alice.transaction(client, transfer())
    expect_refusal(client.call, EXECUTE, **signed_request(bob, data))
    digest = client.call(
        SIMULATE, "transaction.digest", transaction={"bcs": {"value": data}}
    ).transaction.digest
    code, _ = expect_refusal(client.call, "LedgerService/GetTransaction", digest=digest)
    assert code is grpc.StatusCode.NOT_FOUND
    assert client.call("LedgerService/GetServiceInfo").checkpoint_height <= before + 1


# --- Simulation


def test_simulation_has_the_result_of_the_execution_and_changes_nothing(client, alice):
    data = alice.transaction(client, transfer())
    simulated = client.call(SIMULATE, transaction={"bcs": {"value": data}}).transaction
    assert simulated.effects.status.success
    assert not simulated.HasField("checkpoint")
    balance = client.call("StateService/GetBalance", owner="0xb0b", coin_type="0x2::sui::SUI")
    assert balance.balance.balance == 0
    executed = client.call(EXECUTE, "*", **signed_request(alice, data)).transaction
    assert simulated.effects == executed.effects
    assert simulated.balance_changes == executed.balance_changes


def unresolved_transaction(client, alice, builder):
    """Return a request of a client that leaves payment and budget to the node."""
    data = alice.transaction(client, builder)
    shown = client.call(
        SIMULATE, "transaction.transaction.kind", transaction={"bcs": {"value": data}}
    )
    return {"kind": shown.transaction.transaction.kind, "sender": str(alice.address)}


def test_gas_selection_fills_in_budget_price_and_coins(client, alice):
    wanted = unresolved_transaction(client, alice, transfer())
    simulated = client.call(SIMULATE, transaction=wanted, do_gas_selection=True).transaction
    payment = simulated.transaction.gas_payment
    assert payment.price == 1000
    assert payment.owner == str(alice.address)
    assert {entry.object_id for entry in payment.objects} == {
        str(coin.object_id) for coin in alice.coins(client)
    }
    used = simulated.effects.gas_used
    assert payment.budget >= used.computation_cost + used.storage_cost - used.storage_rebate
    assert payment.budget < SUI


def test_transaction_with_selected_gas_is_executed(client, alice):
    wanted = unresolved_transaction(client, alice, transfer())
    simulated = client.call(SIMULATE, transaction=wanted, do_gas_selection=True).transaction
    data = simulated.transaction.bcs.value
    executed = client.call(EXECUTE, "effects.status", **signed_request(alice, data)).transaction
    assert executed.effects.status.success


def test_gas_selection_fails_without_funds(client, alice, bob):
    wanted = unresolved_transaction(client, alice, transfer()) | {"sender": str(bob.address)}
    code, details = expect_refusal(client.call, SIMULATE, transaction=wanted, do_gas_selection=True)
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert "insufficient SUI balance" in details


def test_simulation_without_gas_selection_uses_a_mock_coin(client, alice, bob):
    builder = TransactionBuilder()
    builder.move_call(Address.of(2), "clock", "timestamp_ms", [builder.object(Address.of(6))])
    wanted = unresolved_transaction(client, alice, builder) | {"sender": str(bob.address)}
    simulated = client.call(SIMULATE, transaction=wanted)
    assert simulated.transaction.effects.status.success
    assert len(simulated.command_outputs[0].return_values[0].value.value) == 8


def json_of(client, alice, function, codec, value, *types, module="option"):
    """Return the JSON of a standard library function's result."""
    builder = TransactionBuilder()
    builder.move_call(
        Address.of(1), module, function, [builder.pure(codec, value)], type_arguments=types
    )
    wanted = unresolved_transaction(client, alice, builder)
    response = client.call(SIMULATE, "command_outputs", transaction=wanted)
    (output,) = response.command_outputs[0].return_values
    return output


def test_command_results_are_rendered_as_bytes_and_json(client, alice):
    output = json_of(client, alice, "some", u8, 42, Primitive.U8)
    assert output.value.name == f"{Address.of(1)}::option::Option<u8>"
    assert output.value.value == b"\1\x2a"
    assert output.json.number_value == 42


def test_bytes_are_base64_and_strings_are_strings(client, alice):
    octets = VectorTag(Primitive.U8)
    output = json_of(client, alice, "some", byte_vector, b"\0\xff", octets)
    assert output.json.string_value == "AP8="
    output = json_of(client, alice, "some", string, "grün", STRING)
    assert output.json.string_value == "grün"


def test_missing_option_is_null(client, alice):
    builder = TransactionBuilder()
    builder.move_call(Address.of(1), "option", "none", type_arguments=(Primitive.U64,))
    wanted = unresolved_transaction(client, alice, builder)
    response = client.call(SIMULATE, "command_outputs", transaction=wanted)
    json = response.command_outputs[0].return_values[0].json
    assert json.WhichOneof("kind") == "null_value"


def test_checks_can_be_disabled(client, alice, bob):
    """Without checks, functions that are not public can be called."""
    builder = TransactionBuilder()
    builder.move_call(Address.of(2), "clock", "create")
    wanted = unresolved_transaction(client, alice, transfer()) | {"sender": str(bob.address)}
    simulated = client.call(SIMULATE, transaction=wanted, checks=DISABLED)
    assert simulated.transaction.effects.status.success


def test_system_transactions_cannot_be_simulated(client):
    genesis = client.call("LedgerService/GetCheckpoint", "transactions", sequence_number=0)
    data = genesis.checkpoint.transactions[0].transaction.bcs
    code, details = expect_refusal(
        client.call, SIMULATE, transaction={"bcs": data}, do_gas_selection=True
    )
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert details == "simulate does not support system transactions"
