"""Epochs (`sui.rpc.v2.Epoch`)."""

from nexus_tools.localnet.execution import limits
from nexus_tools.localnet.framework import PROTOCOL_VERSION
from nexus_tools.localnet.natives import ENABLED_FEATURES
from nexus_tools.localnet.natives.limits import MAX_NUM_TRANSFERRED_MOVE_OBJECT_IDS
from nexus_tools.localnet.node import Epoch, committee_of
from nexus_tools.localnet.rpc.messages import Message
from nexus_tools.localnet.rpc.read_mask import Mask
from nexus_tools.localnet.rpc.rendering.bcs import render_time
from nexus_tools.localnet.rpc.rendering.system_state import render_system_state

# Names and values of `sui-protocol-config`; clients read them to keep within them.
_ATTRIBUTES = {
    "max_arguments": limits.MAX_ARGUMENTS,
    "max_gas_payment_objects": limits.MAX_GAS_PAYMENT_OBJECTS,
    "max_gas_price": limits.MAX_GAS_PRICE,
    "max_input_objects": limits.MAX_INPUT_OBJECTS,
    "max_move_identifier_len": limits.MAX_MOVE_IDENTIFIER_LENGTH,
    "max_move_object_size": limits.MAX_MOVE_OBJECT_SIZE,
    "max_move_package_size": limits.MAX_MOVE_PACKAGE_SIZE,
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


def render_epoch(message: Message, epoch: Epoch, mask: Mask) -> None:
    """An epoch that has begun."""
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
        _render_protocol_config(message.protocol_config)
    if "system_state" in mask:
        render_system_state(message.system_state, epoch.state)


def _render_protocol_config(message: Message) -> None:
    message.protocol_version = PROTOCOL_VERSION
    for name, value in _ATTRIBUTES.items():
        message.attributes[name] = str(value)
        message.configs[name].string_value = str(value)
    for feature in ENABLED_FEATURES:
        message.feature_flags[feature.decode()] = True
        message.configs[feature.decode()].bool_value = True
