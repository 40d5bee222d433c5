"""The service `sui.rpc.v2.SignatureVerificationService`, which verifies signatures."""

from typing import Any

from nexus_tools.sui.bcs import BcsError, Codec, byte_vector
from nexus_tools.sui.errors import NotAllowedError
from nexus_tools.sui.localnet.rpc.backend import Backend, UnaryHandler
from nexus_tools.sui.localnet.rpc.interface import RpcError, invalid
from nexus_tools.sui.localnet.rpc.requests import address, required, serialized_signature
from nexus_tools.sui.rpc import Message
from nexus_tools.sui.signature import (
    INVALID_SIGNATURE_PREFIX,
    PERSONAL_MESSAGE_INTENT,
    TRANSACTION_INTENT,
    MultiSig,
    UserSignature,
)
from nexus_tools.sui.types.transaction import TRANSACTION_DATA

_KINDS: dict[str, tuple[Codec[Any], bytes]] = {
    "PersonalMessage": (byte_vector, PERSONAL_MESSAGE_INTENT),
    "TransactionData": (TRANSACTION_DATA, TRANSACTION_INTENT),
}


def _verify_signature(_: Backend, request: Message, response: Message) -> None:
    if not request.HasField("signature"):
        raise invalid("missing signature")
    signature = UserSignature.parse(serialized_signature(request.signature))
    if not request.HasField("message"):
        raise invalid("missing message")
    signed_bytes = _signed_bytes(request.message)
    claimed_address = address(request, "address") if request.HasField("address") else None
    _check_jwks(request)
    try:
        if claimed_address is not None and claimed_address != (
            derived_address := signature.address()
        ):
            response.is_valid = False
            response.reason = (
                f"provided address `{claimed_address}` does not match derived address"
                f" `{derived_address}`"
            )
            return
        _check_bitmap(signature)
        signature.verify(signed_bytes)
    except NotAllowedError as error:
        response.is_valid = False
        response.reason = f"signature error: {error.message.removeprefix(INVALID_SIGNATURE_PREFIX)}"
    else:
        response.is_valid = True


def _check_bitmap(signature: UserSignature) -> None:
    """Refuse a multisig if its bitmap and its signatures have different numbers of members.

    The execution of a transaction does not make this check.
    """
    multisig = signature.authenticator
    if isinstance(multisig, MultiSig) and multisig.bitmap.bit_count() != len(multisig.signatures):
        raise NotAllowedError("signature_invalid", "number of signatures does not match bitmap")


def _check_jwks(request: Message) -> None:
    """Check that the keys of OpenID providers are complete.

    The keys are not used, because this network cannot verify zkLogin.
    """
    for index, key in enumerate(request.jwks):
        try:
            for name in ("iss", "kid"):
                required(key.id, name)
            for name in ("kty", "e", "n", "alg"):
                required(key.jwk, name)
        except RpcError as error:
            raise invalid(f"jwks[{index}]: {error.message}") from None


def _signed_bytes(message: Message) -> bytes:
    """Return the signed bytes: the intent and the message.

    If the kind of message is unknown, try each kind.
    """
    value = bytes(message.value)
    for name, (codec, intent) in _KINDS.items():
        if message.name in _KINDS and message.name != name:
            continue
        try:
            codec.decode(value)
        except BcsError:
            continue
        return intent + value
    raise invalid("invalid message")


UNARY: dict[str, UnaryHandler] = {"VerifySignature": _verify_signature}
