"""Who has to sign a transaction, and whether they did.

Source: `sui-types/src/signature_verification.rs`, whose order of checks and wording are followed.
"""

import json
from collections.abc import Sequence

from nexus_tools.errors import NotAllowedError
from nexus_tools.sui.address import Address
from nexus_tools.sui.signature import TRANSACTION_INTENT, UserSignature
from nexus_tools.sui.transaction import TransactionData


def required_signers(data: TransactionData) -> tuple[Address, ...]:
    """The sender, and whoever else pays."""
    if data.gas.owner == data.sender:
        return (data.sender,)
    return data.sender, data.gas.owner


def check_signatures(data: TransactionData, data_bytes: bytes, signatures: Sequence[bytes]) -> None:
    """Refuse a transaction unless each signer signed it, once, and nobody else.

    The order of the signatures is free. Raises `signature_malformed` and `signature_invalid`.
    """
    parsed = [UserSignature.parse(signature) for signature in signatures]
    signers = required_signers(data)
    if len(parsed) != len(signers):
        raise _refused(f"Expect {len(signers)} signer signatures but got {len(parsed)}")
    by_signer = {signature.address(): signature for signature in parsed}
    for signer in signers:
        if signer not in by_signer:
            found = json.dumps([str(address) for address in sorted(by_signer)])
            raise _refused(f"Required Signature from {signer} is absent {found}")
    for signer in sorted(by_signer):
        by_signer[signer].verify(TRANSACTION_INTENT + data_bytes)


def _refused(message: str) -> NotAllowedError:
    return NotAllowedError("signature_invalid", message)
