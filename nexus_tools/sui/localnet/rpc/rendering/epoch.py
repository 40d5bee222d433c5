"""The rendering of epochs (`sui.rpc.v2.Epoch`), including the system state.

Source: the conversions of `sui-types` system states in `sui-rpc-api`.
"""

from collections.abc import Iterable

from nexus_tools.sui.localnet.execution import limits, protocol_rules
from nexus_tools.sui.localnet.natives import ENABLED_FEATURES, MAX_NUM_TRANSFERRED_MOVE_OBJECT_IDS
from nexus_tools.sui.localnet.node import Epoch, committee_of
from nexus_tools.sui.localnet.rpc.interface import Mask
from nexus_tools.sui.localnet.rpc.rendering.common_messages import render_time
from nexus_tools.sui.rpc import Message
from nexus_tools.sui.types.object import MAX_MOVE_PACKAGE_SIZE
from nexus_tools.sui.types.system_state import (
    MoveTable,
    StakingPool,
    SystemState,
    Validator,
    ValidatorMetadata,
    ValidatorSet,
)

# The protocol limits with their names in `sui-protocol-config`. Clients read the limits in order to
# respect them.
_ATTRIBUTES = {
    "max_arguments": limits.MAX_ARGUMENTS,
    "max_gas_payment_objects": limits.MAX_GAS_PAYMENT_OBJECTS,
    "max_gas_price": limits.MAX_GAS_PRICE,
    "max_input_objects": limits.MAX_INPUT_OBJECTS,
    "max_move_identifier_len": limits.MAX_MOVE_IDENTIFIER_LENGTH,
    "max_move_object_size": limits.MAX_MOVE_OBJECT_SIZE,
    "max_move_package_size": MAX_MOVE_PACKAGE_SIZE,
    "max_modules_in_publish": limits.MAX_MODULES_IN_PUBLISH,
    "max_package_dependencies": limits.MAX_PACKAGE_DEPENDENCIES,
    "max_programmable_tx_commands": limits.MAX_PROGRAMMABLE_TX_COMMANDS,
    "max_publish_or_upgrade_per_ptb": limits.MAX_PUBLISH_OR_UPGRADE_PER_PTB,
    "max_pure_argument_size": limits.MAX_PURE_ARGUMENT_SIZE,
    "max_tx_gas": limits.MAX_TX_GAS,
    "max_tx_size_bytes": limits.MAX_TX_SIZE_BYTES,
    "max_type_argument_depth": limits.MAX_TYPE_ARGUMENT_DEPTH,
    "max_type_arguments": limits.MAX_TYPE_ARGUMENTS,
    "max_num_transferred_move_object_ids": MAX_NUM_TRANSFERRED_MOVE_OBJECT_IDS,
}
_STATE = (
    "epoch",
    "protocol_version",
    "reference_gas_price",
    "safe_mode",
    "safe_mode_storage_rewards",
    "safe_mode_computation_rewards",
    "safe_mode_storage_rebates",
    "safe_mode_non_refundable_storage_fee",
    "epoch_start_timestamp_ms",
)
_STORAGE_FUND = ("total_object_storage_rebates", "non_refundable_balance")
_PARAMETERS = (
    "epoch_duration_ms",
    "stake_subsidy_start_epoch",
    "min_validator_count",
    "max_validator_count",
    "min_validator_joining_stake",
    "validator_low_stake_threshold",
    "validator_very_low_stake_threshold",
    "validator_low_stake_grace_period",
)
_STAKE_SUBSIDY = (
    "balance",
    "distribution_counter",
    "current_distribution_amount",
    "stake_subsidy_period_length",
    "stake_subsidy_decrease_rate",
)
_METADATA = (
    "name",
    "description",
    "image_url",
    "project_url",
    "protocol_public_key",
    "proof_of_possession",
    "network_public_key",
    "worker_public_key",
    "network_address",
    "p2p_address",
    "primary_address",
    "worker_address",
    "next_epoch_protocol_public_key",
    "next_epoch_proof_of_possession",
    "next_epoch_network_public_key",
    "next_epoch_worker_public_key",
    "next_epoch_network_address",
    "next_epoch_p2p_address",
    "next_epoch_primary_address",
    "next_epoch_worker_address",
)
_VALIDATOR = (
    "voting_power",
    "gas_price",
    "commission_rate",
    "next_epoch_stake",
    "next_epoch_gas_price",
    "next_epoch_commission_rate",
)
_STAKING_POOL = (
    "activation_epoch",
    "deactivation_epoch",
    "sui_balance",
    "rewards_pool",
    "pool_token_balance",
    "pending_stake",
    "pending_total_sui_withdraw",
    "pending_pool_token_withdraw",
)
_TABLES = (
    "pending_active_validators",
    "staking_pool_mappings",
    "inactive_validators",
    "validator_candidates",
    "extra_fields",
)


def render_epoch(message: Message, epoch: Epoch, mask: Mask) -> None:
    """Fill the requested fields of an epoch that has started."""
    message.epoch = epoch.number
    message.first_checkpoint = epoch.first_checkpoint
    render_time(message.start, epoch.start_ms)
    if epoch.last_checkpoint is not None and epoch.end_ms is not None:
        message.last_checkpoint = epoch.last_checkpoint
        render_time(message.end, epoch.end_ms)
    message.reference_gas_price = epoch.state.reference_gas_price
    if "committee" in mask:
        message.committee.epoch = epoch.number
        for public_key, weight in committee_of(epoch.state):
            message.committee.members.add(public_key=public_key, weight=weight)
    if "protocol_config" in mask:
        _render_protocol_config(message.protocol_config, epoch.state.protocol_version)
    if "system_state" in mask:
        _render_system_state(message.system_state, epoch.state)


def _render_protocol_config(message: Message, version: int) -> None:
    message.protocol_version = version
    for name, value in {**_ATTRIBUTES, **protocol_rules(version).attributes}.items():
        message.attributes[name] = str(value)
        message.configs[name].string_value = str(value)
    for feature in ENABLED_FEATURES:
        message.feature_flags[feature.decode()] = True
        message.configs[feature.decode()].bool_value = True


# --- The system state


def _render_system_state(message: Message, state: SystemState) -> None:
    """Fill a `sui.rpc.v2.SystemState`."""
    message.version = state.system_state_version
    _copy(message, state, _STATE)
    _render_validators(message.validators, state.validators)
    _copy(message.storage_fund, state.storage_fund, _STORAGE_FUND)
    _copy(message.parameters, state.parameters, _PARAMETERS)
    _render_table(message.parameters.extra_fields, state.parameters.extra_fields)
    for reported, reporters in state.validator_report_records:
        record = message.validator_report_records.add(reported=str(reported))
        record.reporters.extend(str(reporter) for reporter in reporters)
    _copy(message.stake_subsidy, state.stake_subsidy, _STAKE_SUBSIDY)
    _render_table(message.stake_subsidy.extra_fields, state.stake_subsidy.extra_fields)
    _render_table(message.extra_fields, state.extra_fields)


def _copy(message: Message, value: object, names: Iterable[str]) -> None:
    """Copy the named fields of a value to a message. A field that is None stays unset."""
    for name in names:
        field = getattr(value, name)
        if field is not None:
            setattr(message, name, field)


def _render_table(message: Message, table: MoveTable) -> None:
    message.id = str(table.id)
    message.size = table.size


def _render_validators(message: Message, validators: ValidatorSet) -> None:
    message.total_stake = validators.total_stake
    for validator in validators.active_validators:
        _render_validator(message.active_validators.add(), validator)
    message.pending_removals.extend(validators.pending_removals)
    for address, epochs in validators.at_risk_validators:
        message.at_risk_validators[str(address)] = epochs
    for name in _TABLES:
        _render_table(getattr(message, name), getattr(validators, name))


def _render_validator(message: Message, validator: Validator) -> None:
    metadata: ValidatorMetadata = validator.metadata
    message.address = str(metadata.address)
    _copy(message, metadata, _METADATA)
    _render_table(message.metadata_extra_fields, metadata.extra_fields)
    message.operation_cap_id = str(validator.operation_cap_id)
    _copy(message, validator, _VALIDATOR)
    _render_staking_pool(message.staking_pool, validator.staking_pool)
    _render_table(message.extra_fields, validator.extra_fields)


def _render_staking_pool(message: Message, pool: StakingPool) -> None:
    message.id = str(pool.id)
    _copy(message, pool, _STAKING_POOL)
    _render_table(message.exchange_rates, pool.exchange_rates)
    _render_table(message.extra_fields, pool.extra_fields)
