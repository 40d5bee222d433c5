"""The system state: validators, stakes, the storage fund, and epoch parameters.

The object 0x5 contains a version number. The state itself is a dynamic field of 0x5, whose key is
that number. A network starts with version 1. At the first change of the state, version 2 replaces
it. Version 2 adds the minimum number of validators. Source: `sui-types/src/sui_system_state`.
"""

from typing import Any

from msgspec import Struct

from nexus_tools.sui.bcs import (
    Codec,
    boolean,
    byte_vector,
    option,
    record,
    string,
    struct,
    u16,
    u64,
    vector,
)
from nexus_tools.sui.types.address import ADDRESS, SYSTEM_STATE, Address
from nexus_tools.sui.types.digest import dynamic_field_id
from nexus_tools.sui.types.type_tag import TYPE_TAG, Primitive


class MoveTable(Struct, frozen=True):
    """A `Table`, `TableVec` or `Bag`. The entries are dynamic fields of the object `id`."""

    id: Address
    size: int


class ValidatorMetadata(Struct, frozen=True):
    """A validator's identity. Network addresses are multiaddrs.

    The fields `next_epoch_…` contain new values for the next epoch, or None. The proof of
    possession shows that the validator has the private key of `protocol_public_key`.
    """

    address: Address
    protocol_public_key: bytes
    network_public_key: bytes
    worker_public_key: bytes
    proof_of_possession: bytes
    name: str
    description: str
    image_url: str
    project_url: str
    network_address: str
    p2p_address: str
    primary_address: str
    worker_address: str
    next_epoch_protocol_public_key: bytes | None
    next_epoch_proof_of_possession: bytes | None
    next_epoch_network_public_key: bytes | None
    next_epoch_worker_public_key: bytes | None
    next_epoch_network_address: str | None
    next_epoch_p2p_address: str | None
    next_epoch_primary_address: str | None
    next_epoch_worker_address: str | None
    extra_fields: MoveTable


class StakingPool(Struct, frozen=True):
    """The staking pool of one validator. Amounts are in MIST or in pool tokens."""

    id: Address
    activation_epoch: int | None
    deactivation_epoch: int | None
    sui_balance: int
    rewards_pool: int
    pool_token_balance: int
    exchange_rates: MoveTable
    pending_stake: int
    pending_total_sui_withdraw: int
    pending_pool_token_withdraw: int
    extra_fields: MoveTable


class Validator(Struct, frozen=True):
    """A validator in an epoch.

    Prices are in MIST per unit. Rates and voting power are in units of 1/10 000.
    """

    metadata: ValidatorMetadata
    voting_power: int
    operation_cap_id: Address
    gas_price: int
    staking_pool: StakingPool
    commission_rate: int
    next_epoch_stake: int
    next_epoch_gas_price: int
    next_epoch_commission_rate: int
    extra_fields: MoveTable


class ValidatorSet(Struct, frozen=True):
    """The set of all validators.

    `at_risk_validators` are pairs of an address and a number of epochs with low stake.
    """

    total_stake: int
    active_validators: tuple[Validator, ...]
    pending_active_validators: MoveTable
    pending_removals: tuple[int, ...]
    staking_pool_mappings: MoveTable
    inactive_validators: MoveTable
    validator_candidates: MoveTable
    at_risk_validators: tuple[tuple[Address, int], ...]
    extra_fields: MoveTable


class StorageFund(Struct, frozen=True):
    """The refundable and the non-refundable part of the storage fund, in MIST."""

    total_object_storage_rebates: int
    non_refundable_balance: int


class SystemParameters(Struct, frozen=True):
    """The rules for epochs and validators. Stakes are in MIST.

    In version 1 of the state, `min_validator_count` is None.
    """

    epoch_duration_ms: int
    stake_subsidy_start_epoch: int
    min_validator_count: int | None
    max_validator_count: int
    min_validator_joining_stake: int
    validator_low_stake_threshold: int
    validator_very_low_stake_threshold: int
    validator_low_stake_grace_period: int
    extra_fields: MoveTable


class StakeSubsidy(Struct, frozen=True):
    """The subsidy for an epoch's rewards, in MIST. The subsidy decreases after each period."""

    balance: int
    distribution_counter: int
    current_distribution_amount: int
    stake_subsidy_period_length: int
    stake_subsidy_decrease_rate: int
    extra_fields: MoveTable


class SystemState(Struct, frozen=True):
    """The state of a network in an epoch. Prices and balances are in MIST.

    `validator_report_records` are pairs of a validator and the validators that have reported it.
    """

    epoch: int
    protocol_version: int
    system_state_version: int
    validators: ValidatorSet
    storage_fund: StorageFund
    parameters: SystemParameters
    reference_gas_price: int
    validator_report_records: tuple[tuple[Address, tuple[Address, ...]], ...]
    stake_subsidy: StakeSubsidy
    safe_mode: bool
    safe_mode_storage_rewards: int
    safe_mode_computation_rewards: int
    safe_mode_storage_rebates: int
    safe_mode_non_refundable_storage_fee: int
    epoch_start_timestamp_ms: int
    extra_fields: MoveTable


_TABLE = struct(MoveTable, ADDRESS, u64)
_ABSENT: Codec[None] = Codec(lambda _data, position: (None, position), lambda _value, _out: None)

VALIDATOR_METADATA = struct(
    ValidatorMetadata,
    ADDRESS,
    *(byte_vector,) * 4,
    *(string,) * 8,
    *(option(byte_vector),) * 4,
    *(option(string),) * 4,
    _TABLE,
)
_STAKING_POOL = struct(
    StakingPool, ADDRESS, option(u64), option(u64), u64, u64, u64, _TABLE, u64, u64, u64, _TABLE
)
VALIDATOR = struct(
    Validator, VALIDATOR_METADATA, u64, ADDRESS, u64, _STAKING_POOL, u64, u64, u64, u64, _TABLE
)
_VALIDATOR_SET = struct(
    ValidatorSet,
    u64,
    vector(VALIDATOR),
    _TABLE,
    vector(u64),
    *(_TABLE,) * 3,
    vector(record((ADDRESS, u64))),
    _TABLE,
)


def _system_state(min_validator_count: Codec[Any]) -> Codec[SystemState]:
    return struct(
        SystemState,
        *(u64,) * 3,
        _VALIDATOR_SET,
        struct(StorageFund, u64, u64),
        struct(SystemParameters, u64, u64, min_validator_count, *(u64,) * 5, _TABLE),
        u64,
        vector(record((ADDRESS, vector(ADDRESS)))),
        struct(StakeSubsidy, u64, u64, u64, u64, u16, _TABLE),
        boolean,
        *(u64,) * 5,
        _TABLE,
    )


SYSTEM_STATES = {1: _system_state(_ABSENT), 2: _system_state(u64)}
"""The codecs of the system state by its version."""

_KEY_LENGTH = 32 + 8  # the ID and the name precede the value in a dynamic field


def system_state_field(wrapper: bytes) -> Address:
    """Return the ID of the dynamic field with the system state.

    `wrapper` are the BCS bytes of the object 0x5.
    """
    return dynamic_field_id(SYSTEM_STATE, TYPE_TAG.encode(Primitive.U64), wrapper[32:])


def decode_system_state(wrapper: bytes, field: bytes) -> SystemState:
    """Decode the system state from the contents of 0x5 and of its dynamic field.

    Raises `BcsError`, or `KeyError` if the version is unknown.
    """
    return SYSTEM_STATES[u64.decode(wrapper[32:])].decode(field[_KEY_LENGTH:])
