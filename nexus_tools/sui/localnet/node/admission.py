"""Checks of a transaction before its execution: size, chain and signatures.

The order of the checks and the wording of the errors follow
`sui-types/src/signature_verification.rs`.
"""

from collections.abc import Sequence

from nexus_tools.sui.localnet.execution import MAX_TX_SIZE_BYTES, TransactionRefused
from nexus_tools.sui.signature import check_signatures
from nexus_tools.sui.types.address_balance import (
    CoinReservation,
    accumulator_id,
    is_coin_reservation,
)
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.expiration import ValidDuring, Validity
from nexus_tools.sui.types.transaction import (
    TRANSACTION_DATA,
    ProgrammableTransaction,
    TransactionData,
)
from nexus_tools.sui.types.type_tag import SUI, balance_tag


def admit(
    data_bytes: bytes, signatures: Sequence[bytes], chain_id: Digest, epoch: int
) -> TransactionData:
    """Decode a user's transaction and check its size, its chain and its signatures.

    Raises:
        BcsError: the bytes are not a transaction.
        TransactionRefused: the transaction is too large, for another chain, or a system
            transaction.
        NotAllowedError: `signature_malformed`, `signature_invalid`.
    """
    check_size(data_bytes)  # this check is first, because large data is slow to decode
    data = TRANSACTION_DATA.decode(data_bytes)
    if not isinstance(data.kind, ProgrammableTransaction):
        raise TransactionRefused(
            "unsupported", "Feature is not supported: system transactions of users"
        )
    check_chain(data, chain_id, epoch)
    check_signatures(data, data_bytes, signatures)
    return data


def check_size(data_bytes: bytes) -> None:
    """Refuse a transaction that is too large."""
    if len(data_bytes) > MAX_TX_SIZE_BYTES:
        raise TransactionRefused(
            "size_limit_exceeded",
            f"Size limit exceeded: serialized transaction size is {MAX_TX_SIZE_BYTES}",
        )


def check_chain(data: TransactionData, chain_id: Digest, epoch: int) -> None:
    """Refuse a transaction that is meant for another chain.

    A gas coin may be a reservation of funds, which names a chain and an epoch. The reservation is
    valid in that epoch and in the next epoch.
    """
    expiration = data.expiration
    if isinstance(expiration, ValidDuring | Validity) and expiration.chain != chain_id:
        raise TransactionRefused(
            "invalid_chain_id",
            f"Invalid chain ID: {expiration.chain} was provided, {chain_id} is expected",
        )
    for reference in filter(is_coin_reservation, data.gas.payment):
        _check_reservation(CoinReservation.parse(reference, chain_id), data, epoch)


def _check_reservation(reservation: CoinReservation, data: TransactionData, epoch: int) -> None:
    """Refuse a gas reservation that is expired or does not reserve the sender's own SUI."""
    own = accumulator_id(data.sender, balance_tag(SUI))
    if reservation.accumulator != own or data.gas.owner != data.sender:
        raise TransactionRefused(
            "gas_object_not_owned_object",
            f"Gas object is not an owned object with owner: {data.gas.owner}",
        )
    if not reservation.epoch <= epoch <= reservation.epoch + 1:
        raise TransactionRefused("transaction_expired", "Transaction Expired")
