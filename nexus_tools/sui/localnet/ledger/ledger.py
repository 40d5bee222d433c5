"""The ledger: the current objects and the history of the chain."""

from collections import OrderedDict
from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Self

from msgspec import Struct

from nexus_tools.sui.errors import WrongStateError
from nexus_tools.sui.localnet.ledger import chain
from nexus_tools.sui.localnet.ledger.affecting_transactions import (
    add_unwritten_changes,
    affecting_transactions,
)
from nexus_tools.sui.localnet.ledger.checkpoint import Checkpoint, check_successor
from nexus_tools.sui.localnet.ledger.database import STATE_FILE_NAME, State, damaged_error
from nexus_tools.sui.localnet.ledger.event_filter import EventFilter
from nexus_tools.sui.localnet.ledger.events import (
    EventPosition,
    LedgerEvent,
    row_number,
    select_events,
)
from nexus_tools.sui.localnet.ledger.live_objects import CoinBalance, LiveObjects
from nexus_tools.sui.localnet.ledger.object_versions import (
    PastObjects,
    read_latest,
    read_live,
)
from nexus_tools.sui.localnet.ledger.progress_record import (
    Progress,
    ProgressRecord,
    require_database,
)
from nexus_tools.sui.localnet.ledger.transaction import ExecutedTransaction
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.checkpoint import CheckpointSummary
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.effects import InputState
from nexus_tools.sui.types.object import MovePackage, Object
from nexus_tools.sui.types.type_tag import StructTag, TypeTag

Settings = Mapping[str, bytes]
"""The settings of the network, by name."""

_RECENT_TRANSACTIONS = 64
_LAST_NUMBER = 2**63 - 1  # the largest integer of SQLite


class Snapshot(Struct, frozen=True):
    """A point of the chain to which the ledger can return any number of times.

    The optional `head` is the checkpoint itself, so that a revert does not read it from the
    database.
    """

    checkpoint: int
    digest: Digest
    head: Checkpoint | None = None


class Ledger:
    """All versions of objects, and the transactions, checkpoints and events of the chain.

    The database contains all data. The indexes of the live objects and recently used data are in
    memory. `apply` stores a checkpoint completely or not at all.
    """

    __slots__ = ("_latest", "_live", "_recent", "_record", "_state")

    def __init__(self, state: State | None = None, record: ProgressRecord | None = None) -> None:
        self._state = state or State()
        self._record = record
        self._live = LiveObjects(self._state)
        self._latest: Checkpoint | None = None
        self._recent: OrderedDict[Digest, ExecutedTransaction] = OrderedDict()
        self._load()

    @classmethod
    def open(cls, directory: Path) -> Self:
        """Open the ledger stored in a directory, or create a ledger there.

        Raises:
            NexusError: the errors of `State.open`, and `state_incomplete` if checkpoints are
                missing.
        """
        require_database(directory, directory / STATE_FILE_NAME)
        state = State.open(directory)
        try:
            return cls(state, ProgressRecord(directory))
        except BaseException:
            state.close()
            raise

    def close(self) -> None:
        """Close the database."""
        self._state.close()
        if self._record is not None:
            self._record.close()

    def _load(self) -> None:
        number = chain.last_checkpoint_number(self._state)
        add_unwritten_changes(self._state)
        for value in read_live(self._state):
            self._live.change(None, value)
        if number is not None:
            self._latest = self.checkpoint(number)
        self._check_length()
        self._check_progress()

    def _check_length(self) -> None:
        rows = self._state.rows(
            "SELECT (SELECT count(*) FROM checkpoints), (SELECT count(*) FROM transactions)"
        )
        latest = self._latest
        expected_counts = (
            (latest.number + 1, latest.summary.network_total_transactions) if latest else (0, 0)
        )
        if rows[0] != expected_counts:
            raise damaged_error(self._state.path, "checkpoints or transactions are missing")

    def _check_progress(self) -> None:
        """Compare the ledger with the progress record, and update the record.

        Raises:
            ValidationError: `state_incomplete`.
        """
        record, latest = self._record, self._latest
        if record is None:
            return
        recorded = record.progress
        if recorded and chain.checkpoint_number(self._state, recorded.digest) != recorded.number:
            raise record.incomplete(_end(latest, recorded.number))
        if latest is not None:
            record.move_forward(self._progress(latest.number, latest.digest))

    def _progress(self, number: int, digest: Digest) -> Progress:
        """Return a checkpoint of this chain as an entry for the progress record."""
        assert self._record is not None
        if self._record.progress is not None:
            return Progress(self._record.progress.chain_id, number, digest)
        genesis = self.summary(0)
        assert genesis is not None
        return Progress(genesis.digest(), number, digest)

    # --- Objects

    def get(self, object_id: Address) -> Object | None:
        """Return the current version of an object, or None if it does not exist."""
        return self._live.get(object_id)

    def get_version(self, object_id: Address, version: int) -> Object | None:
        """Return an object at a version, or None if it did not exist at that version."""
        if not 0 <= version <= _LAST_NUMBER:
            return None
        return self._live.get_version(object_id, version)

    def owned_by(
        self,
        owner: Address,
        type_filter: StructTag | None = None,
        *,
        after: bytes = b"",
        limit: int | None = None,
    ) -> list[Object]:
        """Return an address's objects, sorted by type, then coins by falling balance, then by ID.

        A `type_filter` with type arguments matches only that type. A filter without type arguments
        matches all instantiations. The list starts after the object whose `listing_sort_key` is
        `after`.
        """
        return self._live.owned_by(owner, type_filter, after, limit)

    def children_of(
        self, parent: Address, *, after: Address | None = None, limit: int | None = None
    ) -> list[Object]:
        """Return the dynamic fields of an object, sorted by ID."""
        return self._live.children_of(parent, after, limit)

    def describing(self, tag: StructTag) -> list[Object]:
        """Return all objects of a type that describes a currency, for any owner, sorted by ID."""
        return self._live.describing(tag)

    def balance(self, owner: Address, coin_type: TypeTag) -> CoinBalance:
        """Return an address's balance of one coin type."""
        return self._live.balances(owner).get(coin_type, CoinBalance())

    def balances(self, owner: Address) -> Mapping[TypeTag, CoinBalance]:
        """Return an address's coins and address balances by coin type."""
        return MappingProxyType(self._live.balances(owner))

    def package_versions(self, original_id: Address) -> tuple[MovePackage, ...]:
        """Return all versions of the package first published under an ID, oldest first."""
        return self._live.package_versions(original_id)

    # --- History

    @property
    def latest(self) -> Checkpoint:
        """The latest checkpoint.

        Raises:
            WrongStateError: `genesis_missing`.
        """
        if self._latest is None:
            raise WrongStateError(
                "genesis_missing", "the ledger is empty: it does not have a genesis checkpoint yet"
            )
        return self._latest

    @property
    def is_empty(self) -> bool:
        """Whether the ledger has no checkpoint yet."""
        return self._latest is None

    def transaction(self, digest: Digest) -> ExecutedTransaction | None:
        """Return a transaction by its digest, or None."""
        recent = self._recent.get(digest)
        return recent or chain.read_transaction(self._state, digest)

    def objects_before(self, digest: Digest) -> PastObjects | None:
        """Return the objects as they were before a transaction, or None for an unknown transaction.

        You can read these objects while the ledger is open and contains the transaction.
        """
        number = chain.transaction_number(self._state, digest)
        return None if number is None else PastObjects(self._state, number)

    def transactions(self, first: int, count: int) -> tuple[ExecutedTransaction, ...]:
        """Return up to `count` transactions, starting at the `first`th of the chain."""
        return chain.read_transactions(self._state, min(first, _LAST_NUMBER - count), count)

    def transactions_affecting(
        self,
        object_ids: Collection[Address],
        *,
        start: EventPosition,
        end: EventPosition,
        limit: int,
        descending: bool = False,
    ) -> list[ExecutedTransaction]:
        """Return at most `limit` transactions from `start` to `end` that changed an object.

        The transactions changed at least one of these objects. The position `end` is excluded. If
        `descending` is set, the list starts with the last transaction before `end`.
        """
        first, last = row_number(self._state, start), row_number(self._state, end)
        numbers = affecting_transactions(
            self._state, object_ids, first, last, limit=limit, descending=descending
        )
        read = chain.read_transactions
        return [found for number in numbers for found in read(self._state, number, 1)]

    def checkpoint(self, number: int) -> Checkpoint | None:
        """Return a checkpoint by its sequence number, or None."""
        if self._latest is not None and number == self._latest.number:
            return self._latest
        return chain.read_checkpoint(self._state, min(number, _LAST_NUMBER))

    def checkpoint_by_digest(self, digest: Digest) -> Checkpoint | None:
        """Return a checkpoint by its digest, or None."""
        number = chain.checkpoint_number(self._state, digest)
        return None if number is None else self.checkpoint(number)

    def summary(self, number: int) -> CheckpointSummary | None:
        """Return the summary of a checkpoint, or None."""
        return chain.read_summary(self._state, min(number, _LAST_NUMBER))

    def events(
        self,
        event_filter: EventFilter | None = None,
        *,
        start: EventPosition = EventPosition(0),  # noqa: B008 - immutable
        end: EventPosition | None = None,
        limit: int = 1000,
        descending: bool = False,
    ) -> list[LedgerEvent]:
        """Return at most `limit` matching events from `start` (included) to `end` (excluded).

        If `descending` is set, the list starts with the last event before `end`.
        """
        return select_events(
            self._state, event_filter, start, end, limit=limit, descending=descending
        )

    # --- Changes

    def apply(self, checkpoint: Checkpoint, settings: Settings | None = None) -> None:
        """Store the next checkpoint durably. If this method raises, nothing is stored.

        The commit that stores the checkpoint also stores `settings`.

        Raises:
            ValidationError: `checkpoint_invalid` if the checkpoint does not follow the latest one,
                or if its objects do not match the effects.
        """
        # The steps that can fail are first. The later changes in memory cannot fail.
        check_successor(self._latest, checkpoint)
        with self._state.commit():
            chain.write_checkpoint(self._state, checkpoint)
            self._write_settings(settings)
        for transaction in checkpoint.transactions:
            self._apply_transaction(transaction)
        self._latest = checkpoint
        if self._record is not None:
            self._record.move_forward(self._progress(checkpoint.number, checkpoint.digest))

    def _apply_transaction(self, transaction: ExecutedTransaction) -> None:
        written = {value.id: value for value in transaction.output_objects}
        for object_id, change in transaction.effects.changed_objects:
            before = None
            if isinstance(change.input, InputState):
                before = self._live.get_version(object_id, change.input.version)
            self._live.change(before, written.get(object_id))
        self._recent[transaction.digest] = transaction
        if len(self._recent) > _RECENT_TRANSACTIONS:
            self._recent.popitem(last=False)

    # --- Snapshots

    def snapshot(self) -> Snapshot:
        """Return the current point of the chain.

        Taking a snapshot is fast. The snapshot keeps one checkpoint in memory.
        """
        return Snapshot(self.latest.number, self.latest.digest, self.latest)

    def revert(self, snapshot: Snapshot, settings: Settings | None = None) -> set[Address]:
        """Return to a snapshot, in time proportional to the changes since then.

        The method deletes all later rows and reads the objects of these rows again. For example,
        since a snapshot at checkpoint 7, A changed from version 3 to 5, and B was created. After
        the revert, the latest row of A is version 3 again, and B has no row.

        The commit that deletes the rows also stores `settings`. Return the IDs of packages that no
        longer exist.

        Raises:
            WrongStateError: `snapshot_not_found` if the ledger has since returned to a point before
                the snapshot.
        """
        if chain.checkpoint_number(self._state, snapshot.digest) != snapshot.checkpoint:
            raise WrongStateError(
                "snapshot_not_found",
                f"the snapshot at checkpoint {snapshot.checkpoint} no longer exists:"
                " the ledger was reverted to an earlier point",
                hint="Take a new snapshot after a revert to an earlier snapshot.",
            )
        # The database changes before the indexes in memory, so that a process that is killed
        # between the two steps restarts at the snapshot. The progress record changes before the
        # rows, because it must not name a deleted checkpoint.
        affected = chain.changed_after(self._state, snapshot.checkpoint)
        outdated = [value for value in map(self._live.get, affected) if value is not None]
        if self._record is not None:
            self._record.move_back(self._progress(snapshot.checkpoint, snapshot.digest))
        with self._state.commit():
            chain.delete_after(self._state, snapshot.checkpoint)
            self._write_settings(settings)
        self._forget_after(snapshot.checkpoint)
        self._latest = snapshot.head or chain.read_checkpoint(self._state, snapshot.checkpoint)
        for value in outdated:
            self._live.change(value, None)
        for value in read_latest(self._state, affected):
            self._live.change(None, value)
        return {value.id for value in outdated if isinstance(value.data, MovePackage)}

    def _forget_after(self, checkpoint: int) -> None:
        while self._recent and next(reversed(self._recent.values())).checkpoint > checkpoint:
            self._recent.popitem()

    # --- Settings

    def setting(self, key: str) -> bytes | None:
        """Return the value of a network setting, such as the key of the faucet, or None."""
        return self._state.setting(key)

    def set_setting(self, key: str, value: bytes) -> None:
        """Store the value of a network setting durably."""
        with self._state.commit():
            self._write_settings({key: value})

    def _write_settings(self, settings: Settings | None) -> None:
        for key, value in (settings or {}).items():
            self._state.set_setting(key, value)


def _end(latest: Checkpoint | None, number: int) -> str:
    """Describe how the ledger differs from the progress record, which names checkpoint `number`."""
    if latest is None:
        return "the database has no checkpoint"
    if latest.number < number:
        return f"the ledger ends at checkpoint {latest.number}"
    return f"the ledger's checkpoint {number} is different"
