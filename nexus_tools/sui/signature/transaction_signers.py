"""The accounts that must sign a transaction, and the check of their signatures.

Source: `sui-types/src/{transaction,signature_verification}.rs`.
"""

import json
from collections.abc import Sequence

from nexus_tools.sui.errors import NotAllowedError
from nexus_tools.sui.signature.scheme import TRANSACTION_INTENT
from nexus_tools.sui.signature.user_signature import UserSignature
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.transaction import TransactionData


def required_signers(data: TransactionData) -> tuple[Address, ...]:
    """Return the sender and, if different, the gas owner."""
    if data.gas.owner == data.sender:
        return (data.sender,)
    return data.sender, data.gas.owner


def check_signatures(data: TransactionData, data_bytes: bytes, signatures: Sequence[bytes]) -> None:
    """Refuse a transaction unless each required signer, and no one else, signed it once.

    The signatures may be in any order.

    Raises:
        NotAllowedError: `signature_malformed`, `signature_invalid`.
    """
    user_signatures = [UserSignature.parse(signature) for signature in signatures]
    signers = required_signers(data)
    if len(user_signatures) != len(signers):
        raise _refused(f"Expect {len(signers)} signer signatures but got {len(user_signatures)}")
    by_signer = {signature.address(): signature for signature in user_signatures}
    for signer in signers:
        if signer not in by_signer:
            addresses = json.dumps([str(address) for address in sorted(by_signer)])
            raise _refused(f"Required Signature from {signer} is absent {addresses}")
    for signer in sorted(by_signer):
        by_signer[signer].verify(TRANSACTION_INTENT + data_bytes)


def _refused(message: str) -> NotAllowedError:
    return NotAllowedError("signature_invalid", message)
