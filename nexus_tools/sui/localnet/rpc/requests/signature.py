"""The parsing of signatures in requests, which are bytes or messages with all parts."""

from nexus_tools.sui.bcs import BcsError, byte_vector, record, string
from nexus_tools.sui.errors import NotAllowedError
from nexus_tools.sui.localnet.rpc.interface import invalid
from nexus_tools.sui.rpc import Message
from nexus_tools.sui.signature import (
    MemberSignature,
    MultiSig,
    MultiSigMember,
    MultiSigPublicKey,
    SignatureScheme,
    UserSignature,
)

_PASSKEY = record((byte_vector, string, byte_vector))


def serialized_signature(message: Message) -> bytes:
    """Return the serialized form of a signature, which starts with the flag of its scheme.

    Raises:
        RpcError: INVALID_ARGUMENT.
    """
    try:
        data = _serialized(message)
        UserSignature.parse(data)
    except (NotAllowedError, BcsError) as error:
        raise invalid(f"invalid signature: {error.message}") from None
    return data


def _serialized(message: Message) -> bytes:
    if message.HasField("bcs"):
        return _from_bytes(bytes(message.bcs.value))
    part = message.WhichOneof("signature")
    if part == "simple":
        return _simple(message.simple)
    if part == "passkey":
        return _passkey(message.passkey)
    if part == "multisig":
        return _multisig(message.multisig)
    raise invalid("invalid signature: expected bcs, simple, multisig or passkey")


def _from_bytes(data: bytes) -> bytes:
    """Return a signature from bytes, which may have a BCS length prefix."""
    try:
        UserSignature.parse(data)
    except NotAllowedError as error:
        try:
            return byte_vector.decode(data)
        except BcsError:
            raise error from None
    return data


def _simple(message: Message) -> bytes:
    return bytes([_scheme(message)]) + bytes(message.signature) + bytes(message.public_key)


def _passkey(message: Message) -> bytes:
    parts = (
        bytes(message.authenticator_data),
        str(message.client_data_json),
        _simple(message.signature),
    )
    return bytes([SignatureScheme.PASSKEY]) + _PASSKEY.encode(parts)


def _multisig(message: Message) -> bytes:
    committee = message.committee
    members = tuple(_member(entry) for entry in committee.members)
    signatures = tuple(_member_signature(entry) for entry in message.signatures)
    public_key = MultiSigPublicKey(members, committee.threshold)
    return MultiSig(signatures, message.bitmap, public_key).encode()


def _member(message: Message) -> MultiSigMember:
    key = message.public_key
    return MultiSigMember(_scheme(key), bytes(key.public_key), message.weight)


def _member_signature(message: Message) -> MemberSignature:
    scheme = _scheme(message)
    if scheme is SignatureScheme.PASSKEY:
        return MemberSignature(scheme, _passkey(message.passkey))
    return MemberSignature(scheme, bytes(message.signature))


def _scheme(message: Message) -> SignatureScheme:
    try:
        return SignatureScheme(message.scheme)
    except ValueError:
        raise invalid(f"invalid signature: the scheme {message.scheme} does not exist") from None
