"""Signatures of users (`sui.rpc.v2.UserSignature`)."""

from contextlib import suppress

from nexus_tools.errors import NotAllowedError
from nexus_tools.localnet.rpc.messages import Message
from nexus_tools.localnet.rpc.read_mask import Mask
from nexus_tools.localnet.rpc.rendering.bcs import render_bcs
from nexus_tools.sui.signature import UserSignature


def render_signature(message: Message, signature: bytes, mask: Mask) -> None:
    """A serialized signature, and its parts if it is one of a single key."""
    if "bcs" in mask:
        render_bcs(message.bcs, "UserSignatureBytes", signature)
    if "scheme" in mask and signature:
        message.scheme = signature[0]
    if "simple" in mask:
        with suppress(NotAllowedError):
            parsed = UserSignature.parse(signature)
            message.simple.scheme = parsed.scheme
            message.simple.signature = parsed.signature
            message.simple.public_key = parsed.public_key
