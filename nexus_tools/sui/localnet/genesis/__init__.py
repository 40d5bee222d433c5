"""Genesis: checkpoint 0 of a new network with the framework, system objects and coins.

Start reading with `genesis.py`.
"""

from nexus_tools.sui.localnet.genesis.genesis import (
    COINS,
    DEFAULT_GENESIS_CONFIG,
    FAUCET_MIST,
    TOTAL_SUPPLY_MIST,
    Origin,
    check_genesis_config,
    create_network,
    framework_digests,
    framework_packages,
)
from nexus_tools.sui.localnet.genesis.validators import VALIDATORS, GenesisValidator

__all__ = [
    "COINS",
    "DEFAULT_GENESIS_CONFIG",
    "FAUCET_MIST",
    "TOTAL_SUPPLY_MIST",
    "VALIDATORS",
    "GenesisValidator",
    "Origin",
    "check_genesis_config",
    "create_network",
    "framework_digests",
    "framework_packages",
]
