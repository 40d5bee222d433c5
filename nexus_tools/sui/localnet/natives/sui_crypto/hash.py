"""The native functions of `sui::hash`, which are BLAKE2b-256 and Keccak-256."""

import hashlib

from nexus_tools.sui.localnet.crypto.keccak import keccak256 as keccak256_of
from nexus_tools.sui.localnet.natives.gas import block_cost, charge, priced
from nexus_tools.sui.localnet.natives.table import natives_of
from nexus_tools.sui.localnet.vm import HashNative
from nexus_tools.sui.types.address import SUI_FRAMEWORK

_COST_BASE = 10
_BLAKE2B_BLOCK, _KECCAK_BLOCK = 128, 136


def keccak256(data: bytearray) -> bytearray:
    """Return the Keccak-256 hash, as used by Ethereum."""
    return bytearray(keccak256_of(bytes(data)))


NATIVES = natives_of(
    SUI_FRAMEWORK,
    "hash",
    blake2b256=HashNative(
        hashlib.blake2b(digest_size=32),
        lambda size: block_cost(_COST_BASE, size, _BLAKE2B_BLOCK),
        charge,
    ),
    keccak256=priced(keccak256, lambda size: block_cost(_COST_BASE, size, _KECCAK_BLOCK)),
)
