"""`sui::hash`: BLAKE2b-256 and Keccak-256."""

from nexus_tools.localnet.natives.keccak import keccak256 as keccak256_of
from nexus_tools.localnet.natives.table import charge_blocks, natives_of
from nexus_tools.localnet.vm import Context, Reference
from nexus_tools.sui.address import SUI_FRAMEWORK
from nexus_tools.sui.digest import blake2b256 as blake2b256_of
from nexus_tools.sui.type_tag import TypeTag

_COST_BASE = 10
_BLAKE2B_BLOCK, _KECCAK_BLOCK = 128, 136


def blake2b256(context: Context, _types: tuple[TypeTag, ...], data: Reference) -> bytearray:
    """BLAKE2b with 32 bytes of output."""
    message = data.read()
    charge_blocks(context, _COST_BASE, len(message), _BLAKE2B_BLOCK)
    return bytearray(blake2b256_of(message))


def keccak256(context: Context, _types: tuple[TypeTag, ...], data: Reference) -> bytearray:
    """Keccak-256 as Ethereum uses it."""
    message = data.read()
    charge_blocks(context, _COST_BASE, len(message), _KECCAK_BLOCK)
    return bytearray(keccak256_of(bytes(message)))


NATIVES = natives_of(SUI_FRAMEWORK, "hash", blake2b256=blake2b256, keccak256=keccak256)
