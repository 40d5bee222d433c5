"""The native functions of `sui::zklogin_verified_id` and `sui::zklogin_verified_issuer`.

The functions check zkLogin addresses.
"""

from nexus_tools.sui.localnet.natives.gas import charge
from nexus_tools.sui.localnet.natives.table import NativeTable, natives_of
from nexus_tools.sui.localnet.vm import Context, NativeAbort, Reference
from nexus_tools.sui.types.address import SUI_FRAMEWORK
from nexus_tools.sui.types.type_tag import TypeTag

_INVALID_INPUT = 0
_COST = 200


def check_zklogin_id_internal(  # noqa: PLR0917 - the Move function has these
    context: Context,
    _types: tuple[TypeTag, ...],
    address: bytes,
    claim_name: Reference,
    claim_value: Reference,
    issuer: Reference,
    audience: Reference,
    pin_hash: int,
) -> bool:
    """Return whether a zkLogin address belongs to a claim. Abort for invalid or too long text."""
    from nexus_tools.sui.localnet.crypto import zklogin  # noqa: PLC0415 - seldom used

    charge(context, _COST)
    texts = (claim_name, claim_value, audience, issuer)
    try:
        name, value, application, provider = (bytes(text.read()).decode() for text in texts)
        seed = zklogin.zklogin_address_seed(name, value, application, pin_hash)
    except ValueError:
        raise NativeAbort(_INVALID_INPUT) from None
    return zklogin.zklogin_address(seed, provider) == address


def check_zklogin_issuer_internal(
    context: Context,
    _types: tuple[TypeTag, ...],
    address: bytes,
    address_seed: int,
    issuer: Reference,
) -> bool:
    """Return whether a zkLogin address has this seed and issuer. Abort for an invalid issuer."""
    from nexus_tools.sui.localnet.crypto import zklogin  # noqa: PLC0415 - seldom used

    charge(context, _COST)
    try:
        provider = bytes(issuer.read()).decode()
    except UnicodeDecodeError:
        raise NativeAbort(_INVALID_INPUT) from None
    return zklogin.zklogin_address(address_seed, provider) == address


NATIVES: NativeTable = {
    **natives_of(
        SUI_FRAMEWORK,
        "zklogin_verified_id",
        check_zklogin_id_internal=check_zklogin_id_internal,
    ),
    **natives_of(
        SUI_FRAMEWORK,
        "zklogin_verified_issuer",
        check_zklogin_issuer_internal=check_zklogin_issuer_internal,
    ),
}
