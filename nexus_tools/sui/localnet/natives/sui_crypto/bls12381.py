"""The native functions of `sui::bls12381`, which verify BLS signatures."""

from collections.abc import Callable

from nexus_tools.sui.localnet.crypto.curves.bls12381 import verify_min_pk, verify_min_sig
from nexus_tools.sui.localnet.natives.gas import charge_blocks
from nexus_tools.sui.localnet.natives.table import natives_of
from nexus_tools.sui.localnet.vm import Context, Native, Reference
from nexus_tools.sui.types.address import SUI_FRAMEWORK
from nexus_tools.sui.types.type_tag import TypeTag

_MIN_SIG_COST, _MIN_PK_COST, _BLOCK = 44_064, 49_282, 64


def _verifier(cost: int, verifies: Callable[[bytes, bytes, bytes], bool]) -> Native:
    def verify(
        context: Context,
        _types: tuple[TypeTag, ...],
        signature: Reference,
        public_key: Reference,
        message: Reference,
    ) -> bool:
        """Return whether a signature is valid. Malformed inputs are not valid."""
        data = bytes(message.read())
        charge_blocks(context, cost, len(data), _BLOCK)
        return verifies(bytes(public_key.read()), bytes(signature.read()), data)

    return verify


NATIVES = natives_of(
    SUI_FRAMEWORK,
    "bls12381",
    bls12381_min_sig_verify=_verifier(_MIN_SIG_COST, verify_min_sig),
    bls12381_min_pk_verify=_verifier(_MIN_PK_COST, verify_min_pk),
)
