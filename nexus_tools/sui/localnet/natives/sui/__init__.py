"""The native functions of 0x2 and 0x3 for objects, events and state, with one file per module."""

from nexus_tools.sui.localnet.natives.sui.accumulator import NATIVES as ACCUMULATOR_NATIVES
from nexus_tools.sui.localnet.natives.sui.address import NATIVES as ADDRESS_NATIVES
from nexus_tools.sui.localnet.natives.sui.config import NATIVES as CONFIG_NATIVES
from nexus_tools.sui.localnet.natives.sui.dynamic_field import NATIVES as DYNAMIC_FIELD_NATIVES
from nexus_tools.sui.localnet.natives.sui.event import NATIVES as EVENT_NATIVES
from nexus_tools.sui.localnet.natives.sui.object import NATIVES as OBJECT_NATIVES
from nexus_tools.sui.localnet.natives.sui.protocol_config import NATIVES as PROTOCOL_CONFIG_NATIVES
from nexus_tools.sui.localnet.natives.sui.system_validator import (
    NATIVES as SYSTEM_VALIDATOR_NATIVES,
)
from nexus_tools.sui.localnet.natives.sui.transfer import NATIVES as TRANSFER_NATIVES
from nexus_tools.sui.localnet.natives.sui.tx_context import NATIVES as TX_CONTEXT_NATIVES
from nexus_tools.sui.localnet.natives.sui.types import NATIVES as TYPES_NATIVES
from nexus_tools.sui.localnet.natives.table import NativeTable

NATIVES: NativeTable = {
    **ACCUMULATOR_NATIVES,
    **ADDRESS_NATIVES,
    **CONFIG_NATIVES,
    **DYNAMIC_FIELD_NATIVES,
    **EVENT_NATIVES,
    **OBJECT_NATIVES,
    **PROTOCOL_CONFIG_NATIVES,
    **SYSTEM_VALIDATOR_NATIVES,
    **TRANSFER_NATIVES,
    **TX_CONTEXT_NATIVES,
    **TYPES_NATIVES,
}
"""The native functions by address, module name and function name."""

__all__ = ["NATIVES"]
