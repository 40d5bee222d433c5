"""The native functions of `sui::protocol_config`, for the enabled protocol features."""

from nexus_tools.sui.localnet.natives.gas import charge
from nexus_tools.sui.localnet.natives.table import natives_of
from nexus_tools.sui.localnet.vm import Context
from nexus_tools.sui.types.address import SUI_FRAMEWORK
from nexus_tools.sui.types.type_tag import TypeTag

_COST = 100

ENABLED_FEATURES = frozenset(
    {
        b"enable_accumulators",
        b"enable_address_balance_gas_payments",
        b"enable_authenticated_event_streams",
        b"enable_party_transfer",
    }
)
"""The enabled features of the protocol, by the names of their flags."""


def is_feature_enabled(context: Context, _types: tuple[TypeTag, ...], flag: bytearray) -> bool:
    """Return whether a feature of the protocol is enabled."""
    charge(context, _COST)
    return bytes(flag) in ENABLED_FEATURES


NATIVES = natives_of(SUI_FRAMEWORK, "protocol_config", is_feature_enabled=is_feature_enabled)
