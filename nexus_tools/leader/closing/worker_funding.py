"""The money of workers: how much one needs, how much of its balance it can use, how to send it."""

from nexus_tools.leader.closing.closing_batch import floor_mist
from nexus_tools.sui.client import Balance, faucet_command, how_to_fund
from nexus_tools.sui.network import Network
from nexus_tools.sui.support.units import rounded_up
from nexus_tools.sui.types.address import Address

_SUI_MIST = 1_000_000_000

DEPOSIT_GAS_MIST = 10_000_000
"""Stays in coins, for the gas of what puts the others into the address balance."""


def least_mist(price: int) -> int:
    """Return the address balance that one closing may take at a gas price."""
    return floor_mist(1, price)


def usable_mist(balance: Balance) -> int:
    """Return what a worker can pay closings with, once its coins are in its address balance."""
    return balance.in_address + max(0, balance.in_coins - DEPOSIT_GAS_MIST)


def amount_to_send(lacking_mist: int) -> int:
    """Return an amount in whole SUI that is enough for a worker who lacks so much."""
    return -(-(lacking_mist + DEPOSIT_GAS_MIST) // _SUI_MIST) * _SUI_MIST


def command_to_send(network: Network, worker: Address, lacking_mist: int) -> str:
    """Return the command by which an operator sends enough to a worker."""
    mist = amount_to_send(lacking_mist)
    transfer = f"nexus-tools wallet transfer {worker} {rounded_up(mist)} -n {network.quoted_name}"
    command = faucet_command(network, worker, mist) or transfer
    return command if network.has_profile else how_to_fund(network, worker, mist)
