"""The epoch (`sui.rpc.v2.Epoch`): this network has one, and no validators."""

from nexus_tools.localnet.execution import limits
from nexus_tools.localnet.natives.limits import MAX_NUM_TRANSFERRED_MOVE_OBJECT_IDS
from nexus_tools.localnet.node import Node
from nexus_tools.localnet.rpc.messages import Message
from nexus_tools.localnet.rpc.read_mask import Mask
from nexus_tools.localnet.rpc.rendering.bcs import render_time

PROTOCOL_VERSION = 105
"""That of the framework's release, whose functions and limits the network has."""

_SYSTEM_STATE_VERSION = 2

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


def render_epoch(message: Message, node: Node, mask: Mask) -> None:
    """The current epoch, which has not ended."""
    environment = node.environment
    message.epoch = environment.epoch
    message.first_checkpoint = 0
    render_time(message.start, environment.epoch_timestamp_ms)
    message.reference_gas_price = environment.reference_gas_price
    if "committee" in mask:
        message.committee.epoch = environment.epoch
    if "protocol_config" in mask:
        _render_protocol_config(message.protocol_config)
    if "system_state" in mask:
        _render_system_state(message.system_state, node)


def _render_protocol_config(message: Message) -> None:
    message.protocol_version = PROTOCOL_VERSION
    for name, value in _ATTRIBUTES.items():
        message.attributes[name] = str(value)
        message.configs[name].string_value = str(value)


def _render_system_state(message: Message, node: Node) -> None:
    """What there would be in the object 0x5, which needs validators to exist."""
    environment = node.environment
    message.version = _SYSTEM_STATE_VERSION
    message.epoch = environment.epoch
    message.protocol_version = PROTOCOL_VERSION
    message.reference_gas_price = environment.reference_gas_price
    message.epoch_start_timestamp_ms = environment.epoch_timestamp_ms
    message.safe_mode = False
    message.parameters.SetInParent()
    message.validators.total_stake = 0
