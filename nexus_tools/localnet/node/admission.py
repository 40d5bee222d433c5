"""What is checked of a transaction before anything of it is executed."""

from collections.abc import Sequence

from nexus_tools.localnet.execution import MAX_TX_SIZE_BYTES, TransactionRefused
from nexus_tools.localnet.node.signatures import check_signatures
from nexus_tools.sui.digest import Digest
from nexus_tools.sui.expiration import ValidDuring, Validity
from nexus_tools.sui.transaction import TRANSACTION_DATA, ProgrammableTransaction, TransactionData


def admit(data_bytes: bytes, signatures: Sequence[bytes], chain_id: Digest) -> TransactionData:
    """Read a transaction that users sent to this chain, signed by those who have to.

    Raises `BcsError`, `TransactionRefused`, `signature_malformed` and `signature_invalid`.
    """
    check_size(data_bytes)  # before work is done that grows with the size
    data = TRANSACTION_DATA.decode(data_bytes)
    if not isinstance(data.kind, ProgrammableTransaction):
        raise TransactionRefused(
            "unsupported", "Feature is not supported: system transactions of users"
        )
    check_chain(data, chain_id)
    check_signatures(data, data_bytes, signatures)
    return data


def check_size(data_bytes: bytes) -> None:
    """Refuse a transaction that is too large."""
    if len(data_bytes) > MAX_TX_SIZE_BYTES:
        raise TransactionRefused(
            "size_limit_exceeded",
            f"Size limit exceeded: serialized transaction size is {MAX_TX_SIZE_BYTES}",
        )


def check_chain(data: TransactionData, chain_id: Digest) -> None:
    """Refuse a transaction that names another chain as the one that it is meant for."""
    expiration = data.expiration
    if isinstance(expiration, ValidDuring | Validity) and expiration.chain != chain_id:
        raise TransactionRefused(
            "invalid_chain_id",
            f"Invalid chain ID: {expiration.chain} was provided, {chain_id} is expected",
        )
