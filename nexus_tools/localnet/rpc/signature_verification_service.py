"""`sui.rpc.v2.SignatureVerificationService`: whether a signature fits a message."""

from nexus_tools.errors import NotAllowedError
from nexus_tools.localnet.rpc.backend import Backend, Unary
from nexus_tools.localnet.rpc.messages import Message
from nexus_tools.localnet.rpc.request_fields import address
from nexus_tools.localnet.rpc.status import invalid
from nexus_tools.sui.bcs import BcsError, byte_vector
from nexus_tools.sui.signature import PERSONAL_MESSAGE_INTENT, TRANSACTION_INTENT, UserSignature
from nexus_tools.sui.transaction import TRANSACTION_DATA


def _verify_signature(_: Backend, request: Message, response: Message) -> None:
    if not request.HasField("message"):
        raise invalid("missing message")
    signed = _signed_bytes(request.message)
    signature = _signature(request)
    if request.HasField("address"):
        claimed, derived = address(request, "address"), signature.address()
        if claimed != derived:
            response.is_valid = False
            response.reason = (
                f"provided address `{claimed}` does not match derived address `{derived}`"
            )
            return
    try:
        signature.verify(signed)
    except NotAllowedError as error:
        response.is_valid = False
        response.reason = error.message
    else:
        response.is_valid = True


def _signature(request: Message) -> UserSignature:
    if not request.HasField("signature"):
        raise invalid("missing signature")
    try:
        return UserSignature.parse(request.signature.bcs.value)
    except NotAllowedError as error:
        raise invalid(f"invalid signature: {error.message}") from None


def _signed_bytes(message: Message) -> bytes:
    """The message behind its intent; a message without a name is taken for what it can be."""
    value = bytes(message.value)
    known = (("PersonalMessage", byte_vector, PERSONAL_MESSAGE_INTENT),)
    kinds = (*known, ("TransactionData", TRANSACTION_DATA, TRANSACTION_INTENT))
    for name, codec, intent in kinds:
        if message.name not in ("", name):
            continue
        try:
            codec.decode(value)
        except BcsError:
            continue
        return intent + value
    raise invalid("invalid message")


UNARY: dict[str, Unary] = {"VerifySignature": _verify_signature}
