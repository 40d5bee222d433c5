"""Amounts and commands for funding workers."""

from nexus_tools.leader.closing.closing_batch import floor_mist
from nexus_tools.sui.client import Balance, faucet_command, how_to_fund
from nexus_tools.sui.network import Network
from nexus_tools.sui.support.units import rounded_up
from nexus_tools.sui.types.address import Address

_SUI_MIST = 1_000_000_000

DEPOSIT_GAS_MIST = 10_000_000
"""Remains in coins, to pay the gas of deposits into the address balance."""


def least_mist(price: int) -> int:
    """Return the most that one closing costs at a gas price, in MIST."""
    return floor_mist(1, price)


def usable_mist(balance: Balance) -> int:
    """Return the MIST a worker can spend after depositing its coins."""
    return balance.in_address + max(0, balance.in_coins - DEPOSIT_GAS_MIST)


def amount_to_send(lacking_mist: int) -> int:
    """Return an amount in whole SUI, in MIST, that covers a worker's shortfall."""
    return -(-(lacking_mist + DEPOSIT_GAS_MIST) // _SUI_MIST) * _SUI_MIST


def command_to_send(network: Network, worker: Address, lacking_mist: int) -> str:
    """Return the command with which an operator funds a worker."""
    mist = amount_to_send(lacking_mist)
    transfer = f"nexus-tools wallet transfer {worker} {rounded_up(mist)} -n {network.quoted_name}"
    command = faucet_command(network, worker, mist) or transfer
    return command if network.has_profile else how_to_fund(network, worker, mist)
