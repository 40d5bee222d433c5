"""The native functions of `std::hash`, which are SHA2-256 and SHA3-256."""

import hashlib

from nexus_tools.sui.localnet.natives.gas import charge
from nexus_tools.sui.localnet.natives.table import natives_of
from nexus_tools.sui.localnet.vm import HashNative
from nexus_tools.sui.types.address import MOVE_STDLIB

_COST_BASE, _COST_PER_BYTE = 52, 2


def _cost(size: int) -> int:
    return _COST_BASE + _COST_PER_BYTE * size


NATIVES = natives_of(
    MOVE_STDLIB,
    "hash",
    sha2_256=HashNative(hashlib.sha256(), _cost, charge),
    sha3_256=HashNative(hashlib.sha3_256(), _cost, charge),
)
