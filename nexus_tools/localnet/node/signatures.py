"""Who has to sign a transaction, and whether they did."""

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

    Raises `signature_invalid`.
    """
    parsed = [UserSignature.parse(signature) for signature in signatures]
    signers = required_signers(data)
    found = [signature.address() for signature in parsed]
    if sorted(found) != sorted(signers):
        raise NotAllowedError(
            "signature_invalid",
            f"the transaction is to be signed by {_names(signers)}, and is by {_names(found)}",
        )
    message = TRANSACTION_INTENT + data_bytes
    for signature in parsed:
        signature.verify(message)


def _names(addresses: Sequence[Address]) -> str:
    return ", ".join(map(str, addresses[:10])) or "nobody"
