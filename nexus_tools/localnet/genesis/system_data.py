"""Transactions that nobody sends.

Source: `TransactionData::new_system_transaction` and `VerifiedTransaction` in
`sui-types/src/transaction.rs`.
"""

from nexus_tools.sui.address import ZERO
from nexus_tools.sui.digest import Digest
from nexus_tools.sui.expiration import NoExpiration
from nexus_tools.sui.object import ObjectReference
from nexus_tools.sui.transaction import GasData, TransactionData, TransactionKind

SYSTEM_SIGNATURE = bytes(97)
"""Stands where others have a signature: Ed25519, all zeros."""

_NO_PAYMENT = (ObjectReference(ZERO, 0, Digest(bytes(32))),)


def system_data(kind: TransactionKind) -> TransactionData:
    """A transaction of the network itself: sent by 0x0, at no cost."""
    return TransactionData(kind, ZERO, GasData(_NO_PAYMENT, ZERO, 1, 0), NoExpiration())
