"""Epochs, the system state and epoch changes from the clients' point of view."""

import httpx
import pytest

from nexus_tools.sui.localnet.genesis import VALIDATORS
from nexus_tools.sui.types.address import RANDOM, SUI_FRAMEWORK
from nexus_tools.sui.types.transaction import SharedObject

SUI = 1_000_000_000
(VALIDATOR,) = VALIDATORS


def advance(localnet):
    answer = httpx.post(f"{localnet.url}/advance-epoch", json={})
    assert answer.status_code == 200
    return answer.json()


def epoch(client, *paths, **fields):
    return client.call("LedgerService/GetEpoch", *paths, **fields).epoch


def test_epoch_is_advanced_over_http(localnet, client):
    answer = advance(localnet)
    latest = client.call("LedgerService/GetCheckpoint", "summary").checkpoint.summary
    assert answer["epoch"] == latest.epoch == 1
    assert answer["checkpoint"] == latest.sequence_number
    assert answer["timestamp_ms"] == latest.timestamp.ToMilliseconds()


def test_all_responses_contain_the_new_epoch(localnet, client):
    advance(localnet)
    info, headers = client.call_with_headers("LedgerService/GetServiceInfo")
    assert info.epoch == 1
    assert headers["x-sui-epoch"] == "1"
    assert client.call("ForkingService/GetStatus").epoch == 1
    assert epoch(client).epoch == 1


def test_past_epoch_has_an_end(localnet, client):
    advance(localnet)
    first, second = epoch(client, epoch=0), epoch(client)
    assert first.first_checkpoint == 0
    assert first.last_checkpoint == second.first_checkpoint - 1
    assert first.end == second.start
    assert first.protocol_config.protocol_version == 105
    assert not second.HasField("last_checkpoint")
    assert not second.HasField("end")


def test_default_mask_excludes_committee_and_state(client):
    found = epoch(client)
    names = {field.name for field, _ in found.ListFields()}
    assert names == {
        "epoch",
        "first_checkpoint",
        "start",
        "reference_gas_price",
        "protocol_config",
    }


@pytest.mark.parametrize("number", [0, 1])
def test_committee_is_the_validator(localnet, client, number):
    advance(localnet)
    committee = epoch(client, "committee", epoch=number).committee
    assert committee.epoch == number
    (member,) = committee.members
    assert (member.public_key, member.weight) == (VALIDATOR.protocol_public_key, 10_000)


def test_system_state_is_complete(client):
    state = epoch(client, "system_state").system_state
    assert (state.version, state.epoch, state.protocol_version) == (1, 0, 105)
    assert state.validators.total_stake == 20_000_000 * SUI
    assert state.stake_subsidy.balance == 1_000_000_000 * SUI
    assert state.stake_subsidy.stake_subsidy_decrease_rate == 1_000
    assert state.parameters.epoch_duration_ms == 86_400_000
    assert not state.parameters.HasField("min_validator_count")
    assert state.HasField("safe_mode")
    assert state.safe_mode_storage_rewards == 0
    assert state.validators.staking_pool_mappings.size == 1
    assert state.validators.staking_pool_mappings.id.startswith("0x")
    assert state.extra_fields.id != state.parameters.extra_fields.id


def test_validator_is_rendered_with_its_pool(client):
    (validator,) = epoch(client, "system_state").system_state.validators.active_validators
    assert validator.address == str(VALIDATOR.address)
    assert validator.proof_of_possession == VALIDATOR.proof_of_possession
    assert validator.network_address == "/ip4/127.0.0.1/tcp/8080/http"
    assert (validator.voting_power, validator.commission_rate) == (10_000, 200)
    assert validator.gas_price == validator.next_epoch_gas_price == 1_000
    assert validator.staking_pool.sui_balance == 20_000_000 * SUI
    assert validator.staking_pool.activation_epoch == 0
    assert not validator.staking_pool.HasField("deactivation_epoch")
    assert not validator.HasField("next_epoch_network_address")


def test_state_of_a_past_epoch_is_that_of_its_start(localnet, client):
    for _ in range(2):
        advance(localnet)
    states = [epoch(client, "system_state", epoch=number).system_state for number in range(3)]
    assert [state.epoch for state in states] == [0, 1, 2]
    assert [state.version for state in states] == [1, 2, 2]
    assert states[2].parameters.min_validator_count == 4


def test_last_checkpoint_contains_the_next_committee(localnet, client):
    advance(localnet)
    number = epoch(client, epoch=0).last_checkpoint
    response = client.call("LedgerService/GetCheckpoint", "*", sequence_number=number)
    data = response.checkpoint.summary.end_of_epoch_data
    (member,) = data.next_epoch_committee
    assert (member.public_key, member.weight) == (VALIDATOR.protocol_public_key, 10_000)
    assert data.next_epoch_protocol_version == 105
    latest = client.call("LedgerService/GetCheckpoint", "summary").checkpoint.summary
    assert not latest.HasField("end_of_epoch_data")


def test_epoch_change_is_rendered_step_by_step(localnet, client):
    advance(localnet)
    number = epoch(client, epoch=0).last_checkpoint
    response = client.call("LedgerService/GetCheckpoint", "*", sequence_number=number)
    kind = response.checkpoint.transactions[-1].transaction.kind
    assert kind.kind == 6  # END_OF_EPOCH
    (step,) = kind.end_of_epoch.transactions
    assert step.kind == 1  # CHANGE_EPOCH
    costs = response.checkpoint.summary.epoch_rolling_gas_cost_summary
    change = step.change_epoch
    assert (change.epoch, change.protocol_version) == (1, 105)
    assert change.storage_charge == costs.storage_cost
    assert change.computation_charge == costs.computation_cost
    assert change.storage_rebate == costs.storage_rebate
    assert change.non_refundable_storage_fee == costs.non_refundable_storage_fee
    assert change.epoch_start_timestamp == response.checkpoint.summary.timestamp


def test_epoch_change_event_can_be_read_as_json(localnet, client):
    advance(localnet)
    number = epoch(client, epoch=0).last_checkpoint
    response = client.call("LedgerService/GetCheckpoint", "*", sequence_number=number)
    events = response.checkpoint.transactions[-1].events.events
    names = [event.event_type.rpartition("::")[2] for event in events]
    assert names[-1] == "SystemEpochInfoEvent"
    assert events[-1].json.struct_value.fields["epoch"].string_value == "1"


def test_randomness_update_is_rendered(localnet, client, alice, builder):
    localnet.seed_randomness(b"seed")
    random = builder.resolved(SharedObject(RANDOM, 1, mutable=False))
    builder.move_call(SUI_FRAMEWORK, "random", "new_generator", [random])
    executed = alice.execute(client, builder)
    number = executed.checkpoint
    response = client.call("LedgerService/GetCheckpoint", "*", sequence_number=number)
    kind = response.checkpoint.transactions[-2].transaction.kind
    assert kind.kind == 7  # RANDOMNESS_STATE_UPDATE
    update = kind.randomness_state_update
    assert (update.epoch, update.randomness_round) == (0, 0)
    assert update.randomness_object_initial_shared_version == 1
    assert len(update.random_bytes) == 48
