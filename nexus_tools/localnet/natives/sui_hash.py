"""`sui::hash`: BLAKE2b-256 and Keccak-256."""

from nexus_tools.localnet.natives.keccak import keccak256 as keccak256_of
from nexus_tools.localnet.natives.table import charge, natives_of
from nexus_tools.localnet.vm import Context, Reference
from nexus_tools.sui.address import SUI_FRAMEWORK
from nexus_tools.sui.digest import blake2b256 as blake2b256_of
from nexus_tools.sui.type_tag import TypeTag

_COST_BASE, _COST_PER_BYTE = 52, 2


def blake2b256(context: Context, _types: tuple[TypeTag, ...], data: Reference) -> bytearray:
    """BLAKE2b with 32 bytes of output."""
    message = data.read()
    charge(context, _COST_BASE, _COST_PER_BYTE, len(message))
    return bytearray(blake2b256_of(message))


def keccak256(context: Context, _types: tuple[TypeTag, ...], data: Reference) -> bytearray:
    """Keccak-256 as Ethereum uses it."""
    message = data.read()
    charge(context, _COST_BASE, _COST_PER_BYTE, len(message))
    return bytearray(keccak256_of(bytes(message)))


NATIVES = natives_of(SUI_FRAMEWORK, "hash", blake2b256=blake2b256, keccak256=keccak256)
