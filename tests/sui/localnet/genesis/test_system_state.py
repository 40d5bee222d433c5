"""The system state created by `0x3::genesis::create`."""

import pytest

from nexus_tools.sui.localnet.execution import Executor, machine_for
from nexus_tools.sui.localnet.genesis import VALIDATORS, create_network
from nexus_tools.sui.localnet.ledger import Ledger
from nexus_tools.sui.types.address import SYSTEM_STATE, Address
from nexus_tools.sui.types.object import ObjectOwner
from nexus_tools.sui.types.system_state import (
    SYSTEM_STATES,
    decode_system_state,
    system_state_field,
)
from nexus_tools.sui.types.type_tag import parse_struct_tag

MIST = 1_000_000_000
START_MS = 1_800_000_000_000
STAKE = 20_000_000 * MIST


@pytest.fixture(scope="module")
def ledger():
    ledger = Ledger()
    create_network(ledger, Executor(machine_for(ledger)), Address.of(0xFA), START_MS)
    yield ledger
    ledger.close()


@pytest.fixture(scope="module")
def field(ledger):
    """Return the dynamic field that holds the state."""
    return ledger.get(system_state_field(ledger.get(SYSTEM_STATE).data.contents))


@pytest.fixture(scope="module")
def state(ledger, field):
    return decode_system_state(ledger.get(SYSTEM_STATE).data.contents, field.data.contents)


def test_system_state_object_names_the_version_of_its_field(ledger, field):
    assert ledger.get(SYSTEM_STATE).data.contents == SYSTEM_STATE + (1).to_bytes(8, "little")
    assert ledger.children_of(SYSTEM_STATE) == [field]
    assert field.owner == ObjectOwner(SYSTEM_STATE)
    inner = "0x3::sui_system_state_inner::SuiSystemStateInner"
    assert field.type == parse_struct_tag(f"0x2::dynamic_field::Field<u64, {inner}>")


def test_codec_reads_the_whole_system_state(field, state):
    assert SYSTEM_STATES[1].encode(state) == field.data.contents[40:]


def test_network_starts_with_epoch_0_and_the_frameworks_protocol_version(state):
    assert (state.epoch, state.protocol_version, state.system_state_version) == (0, 105, 1)
    assert state.epoch_start_timestamp_ms == START_MS
    assert state.reference_gas_price == 1_000
    assert not state.safe_mode


def test_validator_has_all_voting_power(state):
    (validator,) = state.validators.active_validators
    (genesis,) = VALIDATORS
    assert state.validators.total_stake == STAKE
    assert validator.voting_power == 10_000
    assert validator.metadata.address == genesis.address
    assert validator.metadata.protocol_public_key == genesis.protocol_public_key
    assert validator.metadata.name == "validator-0"
    assert validator.staking_pool.sui_balance == validator.next_epoch_stake == STAKE
    assert validator.staking_pool.activation_epoch == 0
    assert state.validators.staking_pool_mappings.size == 1


def test_parameters_are_those_of_a_new_network(state):
    parameters, subsidy = state.parameters, state.stake_subsidy
    assert parameters.epoch_duration_ms == 86_400_000
    assert parameters.max_validator_count == 150
    assert parameters.min_validator_count is None
    assert parameters.validator_low_stake_grace_period == 7
    assert subsidy.balance == 1_000_000_000 * MIST
    assert subsidy.current_distribution_amount == 1_000_000 * MIST
    assert (subsidy.stake_subsidy_period_length, subsidy.stake_subsidy_decrease_rate) == (10, 1_000)


def test_stake_belongs_to_the_validator(ledger):
    owned = ledger.owned_by(VALIDATORS[0].address)
    names = sorted(value.type.name for value in owned)
    assert names == ["StakedSui", "UnverifiedValidatorOperationCap"]
    (staked,) = [value for value in owned if value.type.name == "StakedSui"]
    assert staked.data.contents[-8:] == STAKE.to_bytes(8, "little")


def test_fields_of_the_validator_tables_exist(ledger, state):
    (validator,) = state.validators.active_validators
    for table in (validator.staking_pool.exchange_rates, state.validators.staking_pool_mappings):
        assert len(ledger.children_of(table.id)) == table.size == 1
