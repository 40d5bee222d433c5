"""The system state of mainnet's genesis: its first validator, and the later fields."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from nexus_tools.sui.bcs import u64
from nexus_tools.sui.types.address import SYSTEM_STATE
from nexus_tools.sui.types.system_state import (
    SYSTEM_STATES,
    VALIDATOR,
    StakeSubsidy,
    StorageFund,
    SystemParameters,
    decode_system_state,
    system_state_field,
)

MIST = 1_000_000_000
VALIDATOR_BYTES = bytes.fromhex(Path(__file__).with_name("mainnet_validator.hex").read_text())
TABLE = bytes(40)
# Its list of validators, cut to the first one; the tables around it are omitted.
VALIDATORS = u64.encode(20_000_000 * MIST) + b"\1" + VALIDATOR_BYTES + TABLE + b"\0" + 3 * TABLE
BEHIND_VALIDATORS = bytes.fromhex(
    "00000000000000000000000000000000005c2605000000000d0000000000000096000000000000000000434fd7946a"
    "00000082dfe40d47000080a1a76b4a35000700000000000000ac3bd6df3a5c997b2843b35ddd89e4e5fe7eec776d37"
    "52541dcf6a0b9bf8913c0000000000000000e80300000000000000000064a7b3b6e00d0000000000000000c77115b7"
    "8cf203005a00000000000000e80308e1fdfb424a41a2e68a2415dd28121b04cf08668e68a3b3a35f8cd35f4a232200"
    "0000000000000000000000000000000000000000000000000000000000000000000000000000000080ea6876870100"
    "0028c3cd90303457314c76863b60916f7236aaa8596999ff26bf0b5ba3abfcbd9c0000000000000000"
)
STATE_BYTES = (
    u64.encode(0) + u64.encode(4) + u64.encode(1) + VALIDATORS + b"\0" + TABLE + BEHIND_VALIDATORS
)
WRAPPER = SYSTEM_STATE + u64.encode(1)


@pytest.fixture(scope="module")
def state():
    return decode_system_state(WRAPPER, bytes(40) + STATE_BYTES)


def test_system_state_field_has_the_id_of_mainnet():
    expected = "6af2a2b7ca60bf76174adfd3e9c4957f8e937759603182f9b46c7f6c5f19c6d2"
    assert system_state_field(WRAPPER).hex() == expected


def test_validator_of_mainnet_is_decoded(state):
    validator = VALIDATOR.decode(VALIDATOR_BYTES)
    assert validator in state.validators.active_validators
    metadata, pool = validator.metadata, validator.staking_pool
    assert metadata.name == "ComingChat"
    assert metadata.project_url == "https://coming.chat/"
    assert metadata.network_address == "/dns/sui-mainnet-validator.coming.chat/tcp/8080/http"
    assert metadata.worker_address == "/dns/sui-mainnet-validator.coming.chat/udp/8082"
    assert (len(metadata.protocol_public_key), len(metadata.proof_of_possession)) == (96, 48)
    assert metadata.next_epoch_protocol_public_key is None
    assert (validator.voting_power, validator.gas_price) == (42, 1_000)
    assert validator.commission_rate == validator.next_epoch_commission_rate == 200
    assert (pool.activation_epoch, pool.deactivation_epoch) == (0, None)
    assert pool.sui_balance == pool.pool_token_balance == 20_000_000 * MIST
    assert pool.exchange_rates.size == 1


def test_fields_after_the_validators_are_decoded(state):
    assert state.storage_fund == StorageFund(0, 0)
    assert state.parameters == SystemParameters(
        epoch_duration_ms=86_400_000,
        stake_subsidy_start_epoch=13,
        min_validator_count=None,
        max_validator_count=150,
        min_validator_joining_stake=30_000_000 * MIST,
        validator_low_stake_threshold=20_000_000 * MIST,
        validator_very_low_stake_threshold=15_000_000 * MIST,
        validator_low_stake_grace_period=7,
        extra_fields=state.parameters.extra_fields,
    )
    assert state.reference_gas_price == 1_000
    assert state.stake_subsidy == StakeSubsidy(
        balance=1_000_000_000 * MIST,
        distribution_counter=0,
        current_distribution_amount=1_111_111_111_111_111,
        stake_subsidy_period_length=90,
        stake_subsidy_decrease_rate=1_000,
        extra_fields=state.stake_subsidy.extra_fields,
    )
    assert not state.safe_mode
    assert state.epoch_start_timestamp_ms == 1_681_318_800_000  # April 12, 2023, 17:00 UTC


def test_state_round_trips(state):
    assert SYSTEM_STATES[1].encode(state) == STATE_BYTES


def test_version_2_has_the_minimum_number_of_validators_before_the_maximum(state):
    later = replace(state, parameters=replace(state.parameters, min_validator_count=4))
    encoded = SYSTEM_STATES[2].encode(later)
    place = STATE_BYTES.index(u64.encode(13) + u64.encode(150)) + 8
    assert encoded == STATE_BYTES[:place] + u64.encode(4) + STATE_BYTES[place:]
    assert decode_system_state(SYSTEM_STATE + u64.encode(2), bytes(40) + encoded) == later


def test_unknown_version_is_refused():
    with pytest.raises(KeyError):
        decode_system_state(SYSTEM_STATE + u64.encode(3), bytes(40) + STATE_BYTES)
