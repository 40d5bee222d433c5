"""The world at checkpoint 0."""

from nexus_tools.localnet.genesis.genesis import (
    COINS,
    FAUCET_MIST,
    TOTAL_SUPPLY_MIST,
    found_network,
)
from nexus_tools.localnet.genesis.system_data import SYSTEM_SIGNATURE, system_data

__all__ = [
    "COINS",
    "FAUCET_MIST",
    "SYSTEM_SIGNATURE",
    "TOTAL_SUPPLY_MIST",
    "found_network",
    "system_data",
]
