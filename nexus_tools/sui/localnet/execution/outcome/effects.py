"""The written objects of a transaction, and its effects of version 2.

The effects list each object that existed before or exists after the transaction, with version and
digest, and the operation on its ID. For example, a transaction that splits a new coin off the gas
coin has these rows:

    id      before              after             operation
    0x3a…   version 7, digest   digest, owner     NONE       the gas coin
    0xb2…   absent              digest, owner     CREATED    the new coin

All written objects have the same version, which is one more than the highest input version (the
Lamport version). The effects store this version once. A wrapped object exists before the
transaction, is absent after the transaction, and has the operation NONE. A deleted object has the
operation DELETED. Address balances are not objects yet, but they have rows with the ID of the
object that the settlement writes.

Source: `update_version_and_previous_tx` and `into_effects` in `sui-adapter/src/temporary_store.rs`,
`sui-types/src/effects/effects_v2.rs`.
"""

from collections.abc import Iterable, Iterator, Mapping
from operator import itemgetter

from msgspec import Struct

from nexus_tools.sui.localnet.execution.commands import CommandResult
from nexus_tools.sui.localnet.execution.environment import DigestCache
from nexus_tools.sui.localnet.execution.inputs import TransactionInputs
from nexus_tools.sui.localnet.execution.outcome.accumulators import net_changes
from nexus_tools.sui.localnet.execution.outcome.changes import Changes, CommandsRun, Write
from nexus_tools.sui.localnet.natives import UNASSIGNED_VERSION
from nexus_tools.sui.types.address import DENY_LIST, Address
from nexus_tools.sui.types.address_balance import accumulator_id
from nexus_tools.sui.types.digest import Digest, events_digest
from nexus_tools.sui.types.effects import (
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
from nexus_tools.sui.types.event import EVENTS, Event
from nexus_tools.sui.types.object import ConsensusAddressOwner, MovePackage, Object, Owner, Shared

_GENESIS_MARKER = bytes(32)
_ABSENT = Absent()


class ExecutionResult(Struct, frozen=True):
    """The result of an execution: the effects and the objects to which they refer.

    `written` are the written objects, and `written_bytes` are the BCS of these objects. `removed`
    are deleted or wrapped objects in their last versions. `input_objects` are all read or changed
    objects in their versions before the transaction. `command_results` is empty in mode COMMIT. In
    other modes, `command_results` ends before a command that failed. `failure` is a message for
    users, or "" after success.
    """

    effects: TransactionEffects
    events: tuple[Event, ...]
    written: Mapping[Address, Object]
    written_bytes: Mapping[Address, bytes]
    removed: Mapping[Address, Object]
    input_objects: tuple[Object, ...]
    command_results: tuple[CommandResult, ...]
    failure: str = ""


# --- Objects


def written_objects(
    changes: Changes,
    rebates: Mapping[Address, int],
    transaction: Digest,
    version: int,
) -> dict[Address, Object]:
    """Return the written objects in the form that the ledger stores. `rebates` are in MIST."""
    objects = {}
    for object_id, write in changes.written.items():
        before = changes.modified.get(object_id)
        owner = _with_version(write, before, version)
        objects[object_id] = Object(write.data, owner, transaction, rebates.get(object_id, 0))
    return objects


def encoded_objects(
    written: Mapping[Address, Object], digests: DigestCache
) -> dict[Address, bytes]:
    """Return the BCS bytes of objects by ID, and cache the digests of the objects."""
    encoded = {}
    for object_id, value in written.items():
        encoded[object_id] = data = value.encode()
        digests.take_in(value, data)
    return encoded


def _with_version(write: Write, before: Object | None, version: int) -> Owner:
    """Return the owner with the version from which consensus orders the object.

    Transactions refer to a shared object by its ID and this version, so the version never changes.
    The version does not change even if commands take the object by value and share it again.
    """
    owner = write.owner
    if isinstance(owner, Shared) and owner.initial_version == UNASSIGNED_VERSION:
        return before.owner if before and isinstance(before.owner, Shared) else Shared(version)
    if isinstance(owner, ConsensusAddressOwner) and owner.start_version == UNASSIGNED_VERSION:
        earlier = before.owner if before else None
        if isinstance(earlier, ConsensusAddressOwner) and earlier.address == owner.address:
            return earlier
        return ConsensusAddressOwner(version, owner.address)
    return owner


# --- Effects


def build_effects(
    run: CommandsRun,
    inputs: TransactionInputs,
    written: Mapping[Address, Object],
    digests: DigestCache,
    *,
    transaction: Digest,
    epoch: int,
    version: int,
    costs: GasCostSummary,
    gas_coin: Address | None = None,
) -> TransactionEffects:
    """Return the effects of a transaction whose writes all have this version.

    `gas_coin` is the coin that paid, or None.
    """
    changes = _changed_objects(run.changes, written, digests)
    gas_index = None
    if gas_coin is not None:
        gas_index = next(
            index for index, (object_id, _) in enumerate(changes) if object_id == gas_coin
        )
    return TransactionEffects(
        status=run.status,
        epoch=epoch,
        gas_used=costs,
        transaction_digest=transaction,
        gas_object_index=gas_index,
        events_digest=events_digest(EVENTS.encode(run.events)) if run.events else None,
        dependencies=_dependencies(inputs, run.changes.received),
        lamport_version=version,
        changed_objects=changes,
        unchanged_consensus_objects=tuple(
            _unchanged(inputs, digests, asked_deny_list=run.asked_deny_list)
        ),
        aux_data_digest=None,
    )


def _changed_objects(
    changes: Changes, written: Mapping[Address, Object], digests: DigestCache
) -> tuple[tuple[Address, ObjectChange], ...]:
    object_ids = (
        changes.written.keys() | changes.modified.keys() | changes.created_ids | changes.deleted_ids
    )
    rows = [
        (object_id, _object_change(object_id, changes, written, digests))
        for object_id in object_ids
    ]
    rows.extend(
        (accumulator_id(write.address, write.type), ObjectChange(_ABSENT, write, IdOperation.NONE))
        for write in (*net_changes(changes.balances), *changes.streams)
    )
    return tuple(sorted(rows, key=itemgetter(0)))


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
    """Return the sorted digests of the transactions that wrote the inputs, except genesis."""
    makers = {value.object.previous_transaction for value in inputs.objects.values()}
    makers.update(package.previous_transaction for package in inputs.packages)
    makers.update(value.previous_transaction for value in received)
    return tuple(sorted(maker for maker in makers if maker != _GENESIS_MARKER))


def _unchanged(
    inputs: TransactionInputs, digests: DigestCache, *, asked_deny_list: bool
) -> Iterator[tuple[Address, Unchanged]]:
    """Yield the consensus objects that were only read, and the deny list if it was read."""
    for object_id, value in sorted(inputs.objects.items()):
        if value.is_consensus_object and not value.is_written:
            yield object_id, ReadOnlyRoot(value.object.version, digests.of(value.object))
    if asked_deny_list and DENY_LIST not in inputs.objects:
        yield DENY_LIST, PerEpochConfig()
