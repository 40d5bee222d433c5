"""The native functions of `sui::ecvrf`, a verifiable random function.

A public key verifies outputs of the secret key.
"""

from nexus_tools.sui.localnet.natives.gas import charge_blocks
from nexus_tools.sui.localnet.natives.table import natives_of
from nexus_tools.sui.localnet.vm import Context, NativeAbort, Reference
from nexus_tools.sui.types.address import SUI_FRAMEWORK
from nexus_tools.sui.types.type_tag import TypeTag

_INVALID_HASH_LENGTH, _INVALID_PUBLIC_KEY, _INVALID_PROOF = 1, 2, 3
_COST_BASE, _BLOCK = 4_848, 128


def ecvrf_verify(
    context: Context,
    _types: tuple[TypeTag, ...],
    output: Reference,
    alpha: Reference,
    public_key: Reference,
    proof: Reference,
) -> bool:
    """Return whether a proof shows that `output` is the output for `alpha`.

    Abort if the proof is malformed.
    """
    from nexus_tools.sui.localnet.crypto import ecvrf  # noqa: PLC0415 - seldom used
    from nexus_tools.sui.localnet.crypto.curves import ristretto255  # noqa: PLC0415

    data = bytes(alpha.read())
    charge_blocks(context, _COST_BASE, len(data), _BLOCK)
    if len(output.read()) != ecvrf.OUTPUT_LENGTH:
        raise NativeAbort(_INVALID_HASH_LENGTH)
    try:
        key = ristretto255.decode(bytes(public_key.read()))
    except ValueError:
        raise NativeAbort(_INVALID_PUBLIC_KEY) from None
    try:
        parsed_proof = ecvrf.EcvrfProof.parse(bytes(proof.read()))
    except ValueError:
        raise NativeAbort(_INVALID_PROOF) from None
    return parsed_proof.verifies(key, data) and parsed_proof.output() == output.read()


NATIVES = natives_of(SUI_FRAMEWORK, "ecvrf", ecvrf_verify=ecvrf_verify)
