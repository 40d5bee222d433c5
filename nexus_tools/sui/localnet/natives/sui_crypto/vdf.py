"""The native functions of `sui::vdf`, a verifiable delay function.

The function is slow to compute and fast to verify.
"""

from nexus_tools.sui.bcs import BcsError
from nexus_tools.sui.localnet.natives.gas import charge
from nexus_tools.sui.localnet.natives.table import natives_of
from nexus_tools.sui.localnet.vm import Context, NativeAbort, Reference
from nexus_tools.sui.types.address import SUI_FRAMEWORK
from nexus_tools.sui.types.type_tag import TypeTag

_INVALID_INPUT = 0
_COST_VERIFY, _COST_HASH = 1_500, 100


def hash_to_input_internal(
    context: Context, _types: tuple[TypeTag, ...], message: Reference
) -> bytearray:
    """Hash a message to an element of the class group."""
    from nexus_tools.sui.localnet.crypto.vdf import hash_to_form  # noqa: PLC0415 - seldom used

    charge(context, _COST_HASH)
    return bytearray(hash_to_form(bytes(message.read())).encode())


def vdf_verify_internal(
    context: Context,
    _types: tuple[TypeTag, ...],
    source: Reference,
    result: Reference,
    proof: Reference,
    iterations: int,
) -> bool:
    """Return whether a proof is valid. Abort if an input is not a quadratic form."""
    from nexus_tools.sui.localnet.crypto.class_group import QuadraticForm  # noqa: PLC0415
    from nexus_tools.sui.localnet.crypto.vdf import verifies  # noqa: PLC0415

    charge(context, _COST_VERIFY)
    try:
        forms = [QuadraticForm.decode(bytes(form.read())) for form in (source, result, proof)]
    except BcsError:
        raise NativeAbort(_INVALID_INPUT) from None
    return verifies(forms[0], forms[1], forms[2], iterations)


NATIVES = natives_of(
    SUI_FRAMEWORK,
    "vdf",
    hash_to_input_internal=hash_to_input_internal,
    vdf_verify_internal=vdf_verify_internal,
)
