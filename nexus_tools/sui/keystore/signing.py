"""The one function that signs transactions, with signers inside and outside this process."""

import asyncio
from collections.abc import Awaitable

from nexus_tools.sui.errors import NotAllowedError, UnreachableError, ValidationError
from nexus_tools.sui.keystore.keys import KeyPair, Signer
from nexus_tools.sui.signature import (
    TRANSACTION_INTENT,
    MultiSig,
    SignatureScheme,
    UserSignature,
)
from nexus_tools.sui.types.address import Address

SIGNING_TIMEOUT_S = 10.0
"""The time limit for a signer that signs outside this process."""


async def sign_transaction(
    signer: Signer, transaction: bytes, *, timeout_s: float | None = None
) -> bytes:
    """Return the verified signature of a transaction's BCS bytes.

    If `signer.sign` returns an awaitable, the function awaits it for at most `timeout_s`. The
    default is the signer's attribute `timeout_s`, which may be None for no limit, or else
    `SIGNING_TIMEOUT_S`. The signatures of a `KeyPair` are not verified, because a key in memory
    signs exactly what it gets, and the verification of each closing would slow a Leader. Only the
    network can verify zkLogin.

    Raises:
        NexusError: `signer_timeout`; `signature_malformed`, `signature_of_other_key` or
            `signature_invalid` if the result is not the signature of these bytes by the signer.
        Exception: An error of the signer itself.
    """
    result = signer.sign(transaction)
    if isinstance(result, Awaitable):
        if timeout_s is None:
            timeout_s = getattr(signer, "timeout_s", SIGNING_TIMEOUT_S)
        result = await _within_limit(result, signer.address, timeout_s)
    if not isinstance(signer, KeyPair):
        verify_signature(result, transaction, signer.address)
    return result


def verify_signature(signature: bytes, transaction: bytes, address: Address) -> None:
    """Check that a signature is valid for a transaction, and made by an address.

    Raises `signature_malformed`, `signature_of_other_key` or `signature_invalid`.
    """
    if not isinstance(signature, bytes):
        message = f"the signer of {address} returned {type(signature).__name__}, expected bytes"
        raise ValidationError("signature_malformed", message, hint=_HINT)
    parsed = UserSignature.parse(signature)
    if _uses_zklogin(parsed):
        return
    if parsed.address() != address:
        message = f"the signer of {address} returned a signature of {parsed.address()}"
        raise NotAllowedError("signature_of_other_key", message, hint=_HINT)
    try:
        parsed.verify(TRANSACTION_INTENT + transaction)
    except NotAllowedError as error:
        message = f"the signer of {address} returned a signature that is not valid for these bytes"
        raise NotAllowedError("signature_invalid", message, hint=_HINT) from error


_HINT = "Nothing was sent. Check which key the signer uses, and that it signs the bytes unchanged."


async def _within_limit(
    result: Awaitable[bytes], address: Address, timeout_s: float | None
) -> bytes:
    limit = asyncio.timeout(timeout_s)
    try:
        async with limit:
            return await result
    except TimeoutError:
        if not limit.expired():  # the signer's own error
            raise
        raise UnreachableError(
            "signer_timeout",
            f"the signer of {address} did not sign within {timeout_s:g} s",
            hint="Nothing was sent. Check that the signer is running, and try again.",
            details={"timeout_s": timeout_s},
        ) from None


def _uses_zklogin(signature: UserSignature) -> bool:
    schemes = [signature.scheme]
    if isinstance(signature.authenticator, MultiSig):
        schemes += [part.scheme for part in signature.authenticator.signatures]
    return SignatureScheme.ZK_LOGIN in schemes
