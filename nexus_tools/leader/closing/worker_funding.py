"""Amounts and commands for funding workers."""

from nexus_tools.leader.closing.closing_batch import full_batch_mist
from nexus_tools.sui.client import Balance, faucet_command, funding_hint
from nexus_tools.sui.network import Network
from nexus_tools.sui.support.units import format_sui_argument
from nexus_tools.sui.types.address import Address

_SUI_MIST = 1_000_000_000

DEPOSIT_GAS_MIST = 10_000_000
"""The MIST that workers keep as coins, to pay the gas of deposits into the address balance."""


def minimum_balance_mist(price: int) -> int:
    """Return the maximum cost of one closing at a gas price, in MIST."""
    return full_batch_mist(1, price)


def spendable_mist(balance: Balance) -> int:
    """Return the MIST that a worker can spend after it has deposited its coins."""
    return balance.in_address + max(0, balance.in_coins - DEPOSIT_GAS_MIST)


def funding_amount_mist(lacking_mist: int) -> int:
    """Return an amount in MIST that covers a worker's shortfall, rounded up to whole SUI."""
    return -(-(lacking_mist + DEPOSIT_GAS_MIST) // _SUI_MIST) * _SUI_MIST


def funding_command(network: Network, worker: Address, lacking_mist: int) -> str:
    """Return the command with which an operator funds a worker."""
    mist = funding_amount_mist(lacking_mist)
    transfer = (
        f"nexus-tools wallet transfer {worker} {format_sui_argument(mist)} -n {network.quoted_name}"
    )
    command = faucet_command(network, worker, mist) or transfer
    return command if network.has_profile else funding_hint(network, worker, mist)
