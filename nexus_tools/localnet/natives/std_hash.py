"""`std::hash`: SHA-2 and SHA-3 with 256 bits."""

import hashlib

from nexus_tools.localnet.natives.table import charge, natives_of
from nexus_tools.localnet.vm import Context
from nexus_tools.sui.address import MOVE_STDLIB
from nexus_tools.sui.type_tag import TypeTag

_COST_BASE, _COST_PER_BYTE = 52, 2


def sha2_256(context: Context, _types: tuple[TypeTag, ...], data: bytearray) -> bytearray:
    """SHA-256."""
    charge(context, _COST_BASE, _COST_PER_BYTE, len(data))
    return bytearray(hashlib.sha256(data).digest())


def sha3_256(context: Context, _types: tuple[TypeTag, ...], data: bytearray) -> bytearray:
    """SHA3-256."""
    charge(context, _COST_BASE, _COST_PER_BYTE, len(data))
    return bytearray(hashlib.sha3_256(data).digest())


NATIVES = natives_of(MOVE_STDLIB, "hash", sha2_256=sha2_256, sha3_256=sha3_256)
