"""The native functions of `sui::poseidon`, which testnet and devnet enable.

The functions compute the hash function Poseidon over BN254.
"""

from nexus_tools.sui.localnet.natives.gas import charge
from nexus_tools.sui.localnet.natives.table import natives_of
from nexus_tools.sui.localnet.vm import Context, NativeAbort, Reference
from nexus_tools.sui.types.address import SUI_FRAMEWORK
from nexus_tools.sui.types.type_tag import TypeTag

_NON_CANONICAL_INPUT = 0
_COST_BASE, _COST_PER_INPUT = 260, 388
_ELEMENT_LENGTH = 32


def poseidon_bn254_internal(
    context: Context, _types: tuple[TypeTag, ...], inputs: Reference
) -> bytearray:
    """Return the hash of 1 to 16 field elements. Inputs and result are 32 bytes, little-endian.

    Abort for a different number of inputs and for inputs that are not field elements.
    """
    from nexus_tools.sui.localnet.crypto import poseidon  # noqa: PLC0415 - seldom used

    data = inputs.read()
    charge(context, _COST_BASE, _COST_PER_INPUT, len(data))
    elements = [int.from_bytes(element, "little") for element in data]
    if (
        not 1 <= len(elements) <= poseidon.MAX_INPUTS
        or any(len(element) != _ELEMENT_LENGTH for element in data)
        or any(element >= poseidon.BN254_ORDER for element in elements)
    ):
        raise NativeAbort(_NON_CANONICAL_INPUT)
    return bytearray(poseidon.poseidon(elements).to_bytes(_ELEMENT_LENGTH, "little"))


NATIVES = natives_of(SUI_FRAMEWORK, "poseidon", poseidon_bn254_internal=poseidon_bn254_internal)
