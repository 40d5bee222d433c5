"""The ledger: what exists, what happened, and how it got there."""

from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Self

from msgspec import Struct

from nexus_tools.sui.bytecode import original_id
from nexus_tools.sui.errors import NotNowError, ValidationError
from nexus_tools.sui.localnet.ledger import chain
from nexus_tools.sui.localnet.ledger.checkpoint import Checkpoint
from nexus_tools.sui.localnet.ledger.database import STATE_FILE_NAME, State, damaged
from nexus_tools.sui.localnet.ledger.events import (
    EventFilter,
    EventPosition,
    LedgerEvent,
    select_events,
)
from nexus_tools.sui.localnet.ledger.live_objects import CoinBalance, LiveObjects
from nexus_tools.sui.localnet.ledger.object_versions import (
    PastObjects,
    read_live,
    read_newest,
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
from nexus_tools.sui.types.effects import InputState, ObjectWrite, PackageWrite
from nexus_tools.sui.types.object import MovePackage, Object
from nexus_tools.sui.types.type_tag import StructTag, TypeTag

Settings = Mapping[str, bytes]
"""Values that belong to the network as a whole, by name."""

_RECENT_TRANSACTIONS = 64
_LAST_NUMBER = 2**63 - 1  # the largest that the durable log knows


class Snapshot(Struct, frozen=True):
    """A point of the chain to which the ledger can go back, as often as wanted.

    `head` is that checkpoint itself, which is then not read again, large as it may be; without it
    a snapshot is the same.
    """

    checkpoint: int
    digest: Digest
    head: Checkpoint | None = None


class Ledger:
    """Objects in all versions, transactions, checkpoints and events.

    All of it is in the durable log; in memory are the indexes of the objects that exist, and what
    was used last. A checkpoint is taken in whole or not at all.
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
        """Return the ledger that is kept in a directory, or a new one there.

        Raises as `State.open`, and `state_incomplete` if checkpoints are missing.
        """
        require_database(directory, directory / STATE_FILE_NAME)
        state = State.open(directory)
        try:
            return cls(state, ProgressRecord(directory))
        except BaseException:
            state.close()
            raise

    def close(self) -> None:
        """Let the durable log go."""
        self._state.close()
        if self._record is not None:
            self._record.close()

    def _load(self) -> None:
        number = chain.last_checkpoint_number(self._state)
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
        expected = (
            (latest.number + 1, latest.summary.network_total_transactions) if latest else (0, 0)
        )
        if rows[0] != expected:
            raise damaged(self._state.path, "checkpoints or transactions are missing")

    def _check_progress(self) -> None:
        """Compare with the record, and let it catch up. Raises `state_incomplete`."""
        record, latest = self._record, self._latest
        if record is None:
            return
        known = record.progress
        if known and chain.checkpoint_number(self._state, known.digest) != known.number:
            raise record.incomplete(_end(latest, known.number))
        if latest is not None:
            record.move_forward(self._progress(latest.number, latest.digest))

    def _progress(self, number: int, digest: Digest) -> Progress:
        """Return a checkpoint of this chain as the record has it."""
        assert self._record is not None
        if self._record.progress is not None:
            return Progress(self._record.progress.chain_id, number, digest)
        genesis = self.summary(0)
        assert genesis is not None
        return Progress(genesis.digest(), number, digest)

    # --- Objects

    def get(self, object_id: Address) -> Object | None:
        """An object as it is now; None if it does not exist."""
        return self._live.get(object_id)

    def get_version(self, object_id: Address, version: int) -> Object | None:
        """An object as it was at a version; None too for the version that deleted or wrapped it."""
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
        """Objects of an address by type, coins from the largest on, and by id.

        A filter with type arguments means that type, one without means all its instantiations.
        `after` is the `listing_place` of an object, behind which to begin.
        """
        return self._live.owned_by(owner, type_filter, after, limit)

    def children_of(
        self, parent: Address, *, after: Address | None = None, limit: int | None = None
    ) -> list[Object]:
        """Dynamic fields of an object, in the order of their ids."""
        return self._live.children_of(parent, after, limit)

    def describing(self, tag: StructTag) -> list[Object]:
        """Objects of a type that describes a currency, whoever owns them, in the order of ids."""
        return self._live.describing(tag)

    def balance(self, owner: Address, coin_type: TypeTag) -> CoinBalance:
        """What an address has of one type of coin."""
        return self._live.balances(owner).get(coin_type, CoinBalance())

    def balances(self, owner: Address) -> Mapping[TypeTag, CoinBalance]:
        """What an address has in coins and besides, by coin type."""
        return MappingProxyType(self._live.balances(owner))

    def package_versions(self, original_id: Address) -> tuple[MovePackage, ...]:
        """All versions of the package that was first published under an id, oldest first."""
        return self._live.package_versions(original_id)

    # --- History

    @property
    def latest(self) -> Checkpoint:
        """The newest checkpoint. Raises `genesis_missing` if there is none yet."""
        if self._latest is None:
            raise NotNowError("genesis_missing", "the ledger is empty: it has no genesis yet")
        return self._latest

    @property
    def is_empty(self) -> bool:
        """Whether there is no checkpoint yet."""
        return self._latest is None

    def transaction(self, digest: Digest) -> ExecutedTransaction | None:
        """A transaction by its digest."""
        known = self._recent.get(digest)
        return known or chain.read_transaction(self._state, digest)

    def objects_before(self, digest: Digest) -> PastObjects | None:
        """The objects as they were when a transaction came; None if there is none with the digest.

        They are read while the ledger is open and does not go back behind the transaction.
        """
        number = chain.transaction_number(self._state, digest)
        return None if number is None else PastObjects(self._state, number)

    def transactions(self, first: int, count: int) -> tuple[ExecutedTransaction, ...]:
        """`count` transactions from the `first`th of the chain on, or as many as there are."""
        return chain.read_transactions(self._state, min(first, _LAST_NUMBER - count), count)

    def checkpoint(self, number: int) -> Checkpoint | None:
        """A checkpoint by its sequence number."""
        if self._latest is not None and number == self._latest.number:
            return self._latest
        return chain.read_checkpoint(self._state, min(number, _LAST_NUMBER))

    def checkpoint_by_digest(self, digest: Digest) -> Checkpoint | None:
        """A checkpoint by its digest."""
        number = chain.checkpoint_number(self._state, digest)
        return None if number is None else self.checkpoint(number)

    def summary(self, number: int) -> CheckpointSummary | None:
        """The head of a checkpoint, without its transactions."""
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
        """At most `limit` events that pass a filter, from `start` up to, but without, `end`.

        `descending` begins with the last one before `end`.
        """
        return select_events(
            self._state, event_filter, start, end, limit=limit, descending=descending
        )

    # --- Changing

    def apply(self, checkpoint: Checkpoint, settings: Settings | None = None) -> None:
        """Take in the next checkpoint: all of it, durably, or, if this raises, nothing.

        `settings` are kept together with it. Raises `checkpoint_invalid` if it does not follow the
        latest one, or if the objects are not those of the effects.
        """
        # What could fail comes first; taking it into memory cannot.
        self._check(checkpoint)
        with self._state.commit():
            chain.write_checkpoint(self._state, checkpoint)
            self._write_settings(settings)
        for transaction in checkpoint.transactions:
            self._perform(transaction)
        self._latest = checkpoint
        if self._record is not None:
            self._record.move_forward(self._progress(checkpoint.number, checkpoint.digest))

    def _perform(self, transaction: ExecutedTransaction) -> None:
        written = {value.id: value for value in transaction.output_objects}
        for object_id, change in transaction.effects.changed_objects:
            before = None
            if isinstance(change.input, InputState):
                before = self._live.get_version(object_id, change.input.version)
            self._live.change(before, written.get(object_id))
        self._recent[transaction.digest] = transaction
        if len(self._recent) > _RECENT_TRANSACTIONS:
            self._recent.popitem(last=False)

    def _check(self, checkpoint: Checkpoint) -> None:
        latest, summary = self._latest, checkpoint.summary
        follows = (
            summary.sequence_number == (latest.number + 1 if latest else 0)
            and summary.previous_digest == (latest.digest if latest else None)
            and checkpoint.first_transaction
            == (latest.summary.network_total_transactions if latest else 0)
            and len(checkpoint.transactions) == len(checkpoint.contents.transactions)
        )
        if not follows:
            raise _invalid(checkpoint, "it does not follow the latest one")
        for transaction in checkpoint.transactions:
            written = {
                object_id
                for object_id, change in transaction.effects.changed_objects
                if isinstance(change.output, ObjectWrite | PackageWrite)
            }
            if written != {value.id for value in transaction.output_objects}:
                raise _invalid(checkpoint, f"objects of {transaction.digest} miss its effects")
            for value in transaction.output_objects:
                if isinstance(value.data, MovePackage):
                    original_id(value.data)  # raises now, and not when half is taken in

    # --- Going back

    def snapshot(self) -> Snapshot:
        """The point at which the chain is now; it takes no time, and keeps one checkpoint alive."""
        return Snapshot(self.latest.number, self.latest.digest, self.latest)

    def revert(self, snapshot: Snapshot, settings: Settings | None = None) -> set[Address]:
        """Go back to a snapshot, in time proportional to what changed since.

        Rows behind the snapshot are deleted, and every object that one of them was of is looked up
        anew. With a snapshot at checkpoint 7, and since then A changed from version 3 to 5 and B
        made: A and B are concerned; of A the newest row is version 3 again, of B there is none.

        Gives the ids of packages that are gone. `settings` are kept together with it. Raises
        `snapshot_gone` if the ledger has since gone back to a point before the snapshot.
        """
        if chain.checkpoint_number(self._state, snapshot.digest) != snapshot.checkpoint:
            raise NotNowError(
                "snapshot_gone",
                f"the snapshot at checkpoint {snapshot.checkpoint} is gone:"
                " the ledger went back to a point before it",
                hint="take a new snapshot after a revert to an earlier one",
            )
        # First what is durable, then what is in memory: a process that dies between finds the chain
        # as it was at the snapshot. The record comes before the rows: it must not name a checkpoint
        # that is gone.
        concerned = chain.changed_after(self._state, snapshot.checkpoint)
        gone = [value for value in map(self._live.get, concerned) if value is not None]
        if self._record is not None:
            self._record.move_back(self._progress(snapshot.checkpoint, snapshot.digest))
        with self._state.commit():
            chain.delete_after(self._state, snapshot.checkpoint)
            self._write_settings(settings)
        self._forget_after(snapshot.checkpoint)
        self._latest = snapshot.head or chain.read_checkpoint(self._state, snapshot.checkpoint)
        for value in gone:
            self._live.change(value, None)
        for value in read_newest(self._state, concerned):
            self._live.change(None, value)
        return {value.id for value in gone if isinstance(value.data, MovePackage)}

    def _forget_after(self, checkpoint: int) -> None:
        while self._recent and next(reversed(self._recent.values())).checkpoint > checkpoint:
            self._recent.popitem()

    # --- Settings

    def setting(self, key: str) -> bytes | None:
        """A value that belongs to the network as a whole, such as the key of its faucet."""
        return self._state.setting(key)

    def set_setting(self, key: str, value: bytes) -> None:
        """Keep a value that belongs to the network as a whole, durably."""
        with self._state.commit():
            self._write_settings({key: value})

    def _write_settings(self, settings: Settings | None) -> None:
        for key, value in (settings or {}).items():
            self._state.set_setting(key, value)


def _end(latest: Checkpoint | None, number: int) -> str:
    """Return how the ledger differs from a record that names another checkpoint `number`."""
    if latest is None:
        return "its database has no checkpoint"
    if latest.number < number:
        return f"it ends at checkpoint {latest.number}"
    return f"its checkpoint {number} is another one"


def _invalid(checkpoint: Checkpoint, reason: str) -> ValidationError:
    return ValidationError(
        "checkpoint_invalid", f"checkpoint {checkpoint.number} is not taken in: {reason}"
    )
