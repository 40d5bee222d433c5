"""Genesis: the world at checkpoint 0."""

from nexus_tools.localnet.genesis.genesis import (
    COINS,
    FAUCET_MIST,
    TOTAL_SUPPLY_MIST,
    found_network,
    framework_packages,
)
from nexus_tools.localnet.genesis.validators import VALIDATORS, GenesisValidator

__all__ = [
    "COINS",
    "FAUCET_MIST",
    "TOTAL_SUPPLY_MIST",
    "VALIDATORS",
    "GenesisValidator",
    "found_network",
    "framework_packages",
]
