"""Changes as in effects, built by hand."""

import pytest

from nexus_tools.sui.localnet.trace.changed_object import ChangeKind, _kind
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.effects import (
    Absent,
    AccumulatorInteger,
    AccumulatorOperation,
    AccumulatorWrite,
    IdOperation,
    InputState,
    ObjectChange,
    ObjectWrite,
    PackageWrite,
)
from nexus_tools.sui.types.object import AddressOwner, Shared
from nexus_tools.sui.types.type_tag import GAS_COIN

DIGEST = Digest(bytes(32))
ANN, BOB = AddressOwner(Address.of(0xA)), AddressOwner(Address.of(0xB))
BEFORE, AFTER, NOTHING = InputState(3, DIGEST, ANN), ObjectWrite(DIGEST, ANN), Absent()
PACKAGE = PackageWrite(1, DIGEST)
BALANCE = AccumulatorWrite(ANN.address, GAS_COIN, AccumulatorOperation.MERGE, AccumulatorInteger(1))
NONE, CREATED, DELETED = IdOperation.NONE, IdOperation.CREATED, IdOperation.DELETED


@pytest.mark.parametrize(
    ("before", "after", "operation", "kind"),
    [
        (NOTHING, AFTER, CREATED, ChangeKind.CREATED),
        (NOTHING, AFTER, NONE, ChangeKind.UNWRAPPED),
        (NOTHING, PACKAGE, CREATED, ChangeKind.PUBLISHED),
        (BEFORE, PACKAGE, NONE, ChangeKind.PUBLISHED),
        (BEFORE, AFTER, NONE, ChangeKind.MUTATED),
        (BEFORE, ObjectWrite(DIGEST, BOB), NONE, ChangeKind.TRANSFERRED),
        (BEFORE, ObjectWrite(DIGEST, Shared(4)), NONE, ChangeKind.TRANSFERRED),
        (BEFORE, NOTHING, DELETED, ChangeKind.DELETED),
        (BEFORE, NOTHING, NONE, ChangeKind.WRAPPED),
        (NOTHING, NOTHING, DELETED, ChangeKind.UNWRAPPED_THEN_DELETED),
        (NOTHING, NOTHING, CREATED, ChangeKind.CREATED_THEN_WRAPPED),
        (NOTHING, BALANCE, NONE, ChangeKind.ACCUMULATED),
    ],
)
def test_change_kind_follows_from_the_states_before_and_after(before, after, operation, kind):
    assert _kind(ObjectChange(before, after, operation)) is kind
