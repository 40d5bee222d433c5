"""Whether a chain has address balances, and what it refuses that needs them.

They came with protocol 106, to mainnet with 124.
"""

from nexus_tools.sui.client.connection.connection import Connection, mask
from nexus_tools.sui.errors import NotNowError, RefusedOnChainError
from nexus_tools.sui.types.address import SUI_FRAMEWORK

_FEATURE = "enable_address_balance_gas_payments"
_MODULES = ("accumulator", "balance", "funds_accumulator")


async def check_address_balances(connection: Connection) -> None:
    """Raise `address_balances_off` if the chain has none."""
    fields = mask("protocol_config")
    response = await connection.call("LedgerService/GetEpoch", read_mask=fields)
    config = response.epoch.protocol_config
    if config.feature_flags.get(_FEATURE):
        return
    network = connection.network.name
    raise NotNowError(
        "address_balances_off",
        f"{network} has no address balances yet: it follows version {config.protocol_version} of"
        " the protocol",
        hint="payments go into address balances, so that this works where the protocol has them: on"
        " mainnet from version 124 on, on localnets in every version",
        details={"protocol_version": config.protocol_version},
    )


async def check_abort(connection: Connection, error: RefusedOnChainError) -> None:
    """Raise `address_balances_off` if the framework aborted for want of them."""
    details = error.details
    if details.get("package") == str(SUI_FRAMEWORK) and details.get("module") in _MODULES:
        await check_address_balances(connection)
