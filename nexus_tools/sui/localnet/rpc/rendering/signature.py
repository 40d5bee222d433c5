"""The rendering of user signatures (`sui.rpc.v2.UserSignature`)."""

from contextlib import suppress

from nexus_tools.sui.errors import NotAllowedError
from nexus_tools.sui.localnet.rpc.interface import Mask
from nexus_tools.sui.localnet.rpc.rendering.common_messages import render_bcs
from nexus_tools.sui.rpc import Message
from nexus_tools.sui.signature import (
    KeySignature,
    MultiSig,
    MultiSigMember,
    Passkey,
    SignatureScheme,
    UserSignature,
)

_PARTS = ("simple", "multisig", "passkey")
_SEED_LENGTH = 32


def render_signature(message: Message, signature: bytes, mask: Mask) -> None:
    """Fill the requested fields of a serialized signature."""
    if "bcs" in mask:
        render_bcs(message.bcs, "UserSignatureBytes", signature)
    if "scheme" in mask and signature:
        message.scheme = signature[0]
    if not any(part in mask for part in _PARTS):
        return
    with suppress(NotAllowedError):
        parsed = UserSignature.parse(signature).authenticator
        if isinstance(parsed, KeySignature) and "simple" in mask:
            _render_simple(message.simple, parsed)
        elif isinstance(parsed, MultiSig) and "multisig" in mask:
            _render_multisig(message.multisig, parsed)
        elif isinstance(parsed, Passkey) and "passkey" in mask:
            _render_passkey(message.passkey, parsed)


def _render_simple(message: Message, signature: KeySignature) -> None:
    message.scheme = signature.scheme
    message.signature = signature.signature
    message.public_key = signature.public_key


def _render_passkey(message: Message, passkey: Passkey) -> None:
    message.authenticator_data = passkey.authenticator_data
    message.client_data_json = passkey.client_data_json
    scheme = SignatureScheme.SECP256R1
    signature = KeySignature(scheme, passkey.signature, passkey.public_key)
    _render_simple(message.signature, signature)


def _render_multisig(message: Message, multisig: MultiSig) -> None:
    for signature in multisig.signatures:
        target = message.signatures.add(scheme=signature.scheme)
        if signature.scheme is SignatureScheme.PASSKEY:
            with suppress(NotAllowedError):
                _render_passkey(target.passkey, Passkey.parse(signature.signature))
        elif signature.scheme is not SignatureScheme.ZK_LOGIN:
            target.signature = signature.signature
    message.bitmap = multisig.bitmap
    message.committee.threshold = multisig.public_key.threshold
    for member in multisig.public_key.members:
        _render_member(message.committee.members.add(), member)


def _render_member(message: Message, member: MultiSigMember) -> None:
    message.weight = member.weight
    message.public_key.scheme = member.scheme
    if member.scheme is not SignatureScheme.ZK_LOGIN:
        message.public_key.public_key = member.public_key
        return
    # The bytes are the length of the issuer, the issuer, and the address seed. The bytes may be
    # malformed.
    data = member.public_key
    end = 1 + data[0] if data else 0
    if len(data) - end <= _SEED_LENGTH:
        message.public_key.zklogin.iss = data[1:end].decode(errors="replace")
        message.public_key.zklogin.address_seed = str(int.from_bytes(data[end:], "big"))
