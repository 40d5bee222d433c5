"""Writing down what a transaction did: objects, and effects of version 2.

Source: `update_version_and_previous_tx` and `into_effects` in `sui-adapter/src/temporary_store.rs`,
`sui-types/src/effects/effects_v2.rs`.
"""

from collections.abc import Iterable, Iterator, Mapping
from operator import itemgetter

from nexus_tools.dataclass import dataclass
from nexus_tools.localnet.execution.balance_changes import net_changes
from nexus_tools.localnet.execution.changes import Changes, Write
from nexus_tools.localnet.execution.digests import DigestCache
from nexus_tools.localnet.execution.inputs import TransactionInputs
from nexus_tools.localnet.natives import UNASSIGNED_VERSION
from nexus_tools.sui.address import DENY_LIST, Address
from nexus_tools.sui.address_balance import accumulator_id
from nexus_tools.sui.digest import Digest, events_digest
from nexus_tools.sui.effects import (
    Absent,
    GasCostSummary,
    IdOperation,
    InputState,
    ObjectChange,
    ObjectWrite,
    PackageWrite,
    PerEpochConfig,
    ReadOnlyRoot,
    TransactionEffects,
    Unchanged,
)
from nexus_tools.sui.event import EVENTS, Event
from nexus_tools.sui.execution_status import ExecutionStatus
from nexus_tools.sui.object import ConsensusAddressOwner, MovePackage, Object, Owner, Shared

_GENESIS_MARKER = bytes(32)
_ABSENT = Absent()


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a transaction ended, what it costs and what it leaves behind.

    `gas_coin` is the coin that paid; None if nobody pays. `asked_deny_list` says that the deny list
    was looked at, whatever came of it.
    """

    transaction: Digest
    epoch: int
    status: ExecutionStatus
    changes: Changes
    costs: GasCostSummary
    events: tuple[Event, ...]
    gas_coin: Address | None
    asked_deny_list: bool = False


def written_objects(
    changes: Changes,
    rebates: Mapping[Address, int],
    transaction: Digest,
    version: int,
) -> dict[Address, Object]:
    """The objects as the ledger keeps them; `rebates` are in MIST."""
    objects = {}
    for object_id, write in changes.written.items():
        before = changes.modified.get(object_id)
        owner = _with_version(write, before, version)
        objects[object_id] = Object(write.data, owner, transaction, rebates.get(object_id, 0))
    return objects


def _with_version(write: Write, before: Object | None, version: int) -> Owner:
    """The owner, with the version at which an object came under the order of consensus."""
    owner = write.owner
    if isinstance(owner, Shared) and owner.initial_version == UNASSIGNED_VERSION:
        return before.owner if before and isinstance(before.owner, Shared) else Shared(version)
    if isinstance(owner, ConsensusAddressOwner) and owner.start_version == UNASSIGNED_VERSION:
        earlier = before.owner if before else None
        if isinstance(earlier, ConsensusAddressOwner) and earlier.address == owner.address:
            return earlier
        return ConsensusAddressOwner(version, owner.address)
    return owner


def build_effects(
    outcome: Outcome,
    inputs: TransactionInputs,
    written: Mapping[Address, Object],
    digests: DigestCache,
) -> TransactionEffects:
    """The effects of a transaction."""
    changed = _changed_objects(outcome.changes, written, digests)
    gas_index = None
    if outcome.gas_coin is not None:
        gas_index = next(
            index for index, (object_id, _) in enumerate(changed) if object_id == outcome.gas_coin
        )
    return TransactionEffects(
        status=outcome.status,
        epoch=outcome.epoch,
        gas_used=outcome.costs,
        transaction_digest=outcome.transaction,
        gas_object_index=gas_index,
        events_digest=events_digest(EVENTS.encode(outcome.events)) if outcome.events else None,
        dependencies=_dependencies(inputs, outcome.changes.received),
        lamport_version=inputs.lamport_version,
        changed_objects=changed,
        unchanged_consensus_objects=tuple(
            _unchanged(inputs, digests, asked_deny_list=outcome.asked_deny_list)
        ),
        aux_data_digest=None,
    )


def _changed_objects(
    changes: Changes, written: Mapping[Address, Object], digests: DigestCache
) -> tuple[tuple[Address, ObjectChange], ...]:
    object_ids = (
        changes.written.keys() | changes.modified.keys() | changes.created_ids | changes.deleted_ids
    )
    changed = [
        (object_id, _object_change(object_id, changes, written, digests))
        for object_id in object_ids
    ]
    changed.extend(
        (accumulator_id(write.address, write.type), ObjectChange(_ABSENT, write, IdOperation.NONE))
        for write in (*net_changes(changes.balances), *changes.streams)
    )
    return tuple(sorted(changed, key=itemgetter(0)))


def _object_change(
    object_id: Address, changes: Changes, written: Mapping[Address, Object], digests: DigestCache
) -> ObjectChange:
    before, after = changes.modified.get(object_id), written.get(object_id)
    input_state: Absent | InputState = _ABSENT
    if before is not None:
        input_state = InputState(before.version, digests.of(before), before.owner)
    output: Absent | ObjectWrite | PackageWrite = _ABSENT
    if after is not None and isinstance(after.data, MovePackage):
        output = PackageWrite(after.version, digests.of(after))
    elif after is not None:
        output = ObjectWrite(digests.of(after), after.owner)
    operation = IdOperation.NONE
    if object_id in changes.created_ids:
        operation = IdOperation.CREATED
    elif object_id in changes.deleted_ids:
        operation = IdOperation.DELETED
    return ObjectChange(input_state, output, operation)


def _dependencies(inputs: TransactionInputs, received: Iterable[Object]) -> tuple[Digest, ...]:
    """The transactions that made what this one uses, sorted, without the one before all."""
    makers = {value.object.previous_transaction for value in inputs.objects.values()}
    makers.update(package.previous_transaction for package in inputs.packages)
    makers.update(value.previous_transaction for value in received)
    return tuple(sorted(maker for maker in makers if maker != _GENESIS_MARKER))


def _unchanged(
    inputs: TransactionInputs, digests: DigestCache, *, asked_deny_list: bool
) -> Iterator[tuple[Address, Unchanged]]:
    """What consensus orders and was only read; at last the deny list, unless it is an input."""
    for object_id, value in sorted(inputs.objects.items()):
        if value.is_consensus_object and not value.is_written:
            yield object_id, ReadOnlyRoot(value.object.version, digests.of(value.object))
    if asked_deny_list and DENY_LIST not in inputs.objects:
        yield DENY_LIST, PerEpochConfig()
