import pytest

from nexus_tools.sui.types.address import ZERO, Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.object import MoveObject, Shared
from nexus_tools.sui.types.system_transaction import (
    AuthenticatorStateUpdate,
    CancelledTransactions,
    CancelledTransactionsV2,
    ChangeEpoch,
    ConsensusCommitPrologue,
    ConsensusCommitPrologueV2,
    ConsensusCommitPrologueV3,
    ConsensusCommitPrologueV4,
    EndOfEpoch,
    Genesis,
    GenesisObject,
    RandomnessStateUpdate,
)
from nexus_tools.sui.types.transaction import TRANSACTION_KIND
from nexus_tools.sui.types.type_tag import SUI

DIGEST = Digest(bytes(range(32)))
CHANGE = ChangeEpoch(1, 2, 3, 4, 5, 6, 7, ((1, (b"\1",), (ZERO,)),))
CANCELLED = CancelledTransactions(((DIGEST, ((ZERO, 5),)),))
CANCELLED_V2 = CancelledTransactionsV2(((DIGEST, (((ZERO, 5), 6),)),))
GENESIS_OBJECT = GenesisObject(MoveObject(SUI, False, 0, bytes(32)), Shared(0))

# The numbers are indices in `TransactionKind`, `sui-types/src/transaction.rs`.
KINDS = [
    (1, CHANGE),
    (2, Genesis((GENESIS_OBJECT,))),
    (3, ConsensusCommitPrologue(1, 2, 3)),
    (4, AuthenticatorStateUpdate(1, 2, ((("iss", "kid"), ("a", "b", "c", "d"), 9),), 4)),
    (5, EndOfEpoch((CHANGE,))),
    (6, RandomnessStateUpdate(1, 2, b"\1\2", 3)),
    (7, ConsensusCommitPrologueV2(1, 2, 3, DIGEST)),
    (8, ConsensusCommitPrologueV3(1, 2, None, 3, DIGEST, CANCELLED)),
    (9, ConsensusCommitPrologueV4(1, 2, 8, 3, DIGEST, CANCELLED_V2, DIGEST)),
]


@pytest.mark.parametrize(("number", "kind"), KINDS)
def test_system_transactions_have_their_numbers_and_round_trip(number, kind):
    encoded = TRANSACTION_KIND.encode(kind)
    assert encoded[0] == number
    assert TRANSACTION_KIND.decode(encoded) == kind


def test_commit_prologue_has_its_fields_in_order():
    prologue = ConsensusCommitPrologueV4(1, 2, None, 3, DIGEST, CancelledTransactions(()), DIGEST)
    numbers = [value.to_bytes(8, "little") for value in range(4)]
    digest = b"\x20" + DIGEST
    expected = b"\x09" + b"".join(
        [numbers[1], numbers[2], b"\0", numbers[3], digest, b"\0\0", digest]
    )
    assert TRANSACTION_KIND.encode(prologue) == expected


def test_genesis_object_is_raw():
    encoded = TRANSACTION_KIND.encode(Genesis((GENESIS_OBJECT,)))
    assert encoded[:4] == bytes([2, 1, 0, 0])  # Genesis, one object, RawObject, Move
    assert encoded.endswith(b"\2" + bytes(8))  # Shared at version 0
    assert GENESIS_OBJECT.data.id == Address.of(0)
