"""The check whether a chain supports address balances, and the error if it does not.

Protocol version 106 added address balances, and version 124 enabled them on mainnet.
"""

from nexus_tools.sui.client.connection.connection import Connection, mask
from nexus_tools.sui.errors import RefusedOnChainError, WrongStateError
from nexus_tools.sui.types.address import SUI_FRAMEWORK

_FEATURE = "enable_address_balance_gas_payments"
_MODULES = ("accumulator", "balance", "funds_accumulator")


async def check_address_balances(connection: Connection) -> None:
    """Raise `address_balances_unsupported` if the chain does not support address balances."""
    fields = mask("protocol_config")
    response = await connection.call("LedgerService/GetEpoch", read_mask=fields)
    config = response.epoch.protocol_config
    if config.feature_flags.get(_FEATURE):
        return
    network = connection.network.name
    raise WrongStateError(
        "address_balances_unsupported",
        f"{network} does not support address balances because it runs protocol version"
        f" {config.protocol_version}",
        hint="Payments need address balances. Use mainnet with protocol version 124 or later,"
        " or a localnet.",
        details={"protocol_version": config.protocol_version},
    )


async def check_abort(connection: Connection, error: RefusedOnChainError) -> None:
    """Raise `address_balances_unsupported` if an abort shows that the chain lacks the feature."""
    details = error.details
    if details.get("package") == str(SUI_FRAMEWORK) and details.get("module") in _MODULES:
        await check_address_balances(connection)
