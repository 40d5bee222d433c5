"""The builder of the next checkpoint, which executes the checkpoint's transactions in order."""

from collections.abc import Iterator, Sequence

from nexus_tools.sui.errors import NexusError
from nexus_tools.sui.localnet.execution import (
    SYSTEM_SIGNATURE,
    Environment,
    ExecutionResult,
    Executor,
    Mode,
    ObjectStore,
    system_data,
)
from nexus_tools.sui.localnet.ledger import (
    Checkpoint,
    ExecutedTransaction,
    Ledger,
    TransactionPlace,
    epoch_gas_used,
)
from nexus_tools.sui.localnet.node.epochs import committee_of, read_system_state
from nexus_tools.sui.localnet.node.randomness import Randomness
from nexus_tools.sui.localnet.node.settlement import Settlement
from nexus_tools.sui.types.address import ACCUMULATOR_ROOT, CLOCK, Address
from nexus_tools.sui.types.checkpoint import EndOfEpochData
from nexus_tools.sui.types.clock import clock_ms
from nexus_tools.sui.types.digest import Digest, transaction_digest
from nexus_tools.sui.types.execution_status import Success
from nexus_tools.sui.types.object import MovePackage, Object, Shared
from nexus_tools.sui.types.system_transaction import (
    CancelledTransactions,
    ChangeEpoch,
    ConsensusCommitPrologueV4,
    EndOfEpoch,
)
from nexus_tools.sui.types.transaction import TransactionData, TransactionKind


class PendingObjects:
    """The objects of the ledger plus the changes by earlier transactions of the checkpoint."""

    __slots__ = ("_changed", "_ledger")

    def __init__(self, ledger: ObjectStore) -> None:
        self._ledger = ledger
        self._changed: dict[Address, Object | None] = {}

    def take_in(self, result: ExecutionResult) -> None:
        """Add the changes of a transaction."""
        self._changed.update(dict.fromkeys(result.removed))
        self._changed.update(result.written)

    def get(self, object_id: Address) -> Object | None:
        """Return the current version of an object."""
        if object_id in self._changed:
            return self._changed[object_id]
        return self._ledger.get(object_id)

    def get_version(self, object_id: Address, version: int) -> Object | None:
        """Return an object at a version."""
        current = self._changed.get(object_id)
        if current is not None and current.version == version:
            return current
        return self._ledger.get_version(object_id, version)


_NO_DIGEST = Digest(bytes(32))


class CheckpointBuilder:
    """A sequence of executed transactions for the next checkpoint.

    The ledger changes only when it applies the finished checkpoint.
    """

    def __init__(
        self, ledger: Ledger, executor: Executor, environment: Environment, timestamp_ms: int
    ) -> None:
        self._executor = executor
        self._environment = environment
        self._previous = ledger.latest
        self._objects = PendingObjects(ledger)
        self._executed: list[ExecutedTransaction] = []
        self._end_of_epoch: EndOfEpochData | None = None
        self.number = self._previous.number + 1
        self.timestamp_ms = timestamp_ms

    def set_clock(self) -> None:
        """Execute the system transaction that sets the clock 0x6 to the time of the checkpoint."""
        prologue = ConsensusCommitPrologueV4(
            epoch=self._environment.epoch,
            round=self.number,
            sub_dag_index=None,
            commit_timestamp_ms=self.timestamp_ms,
            consensus_commit_digest=_NO_DIGEST,
            version_assignments=CancelledTransactions(()),
            additional_state_digest=_NO_DIGEST,
        )
        self._execute_system(prologue)

    def draw_randomness(self, randomness: Randomness) -> None:
        """Execute the system transaction that writes new random bytes into the object 0x8."""
        self._execute_system(randomness.update(self._objects, self._environment.epoch))

    def end_epoch(self) -> None:
        """Execute the transaction that ends the epoch. No transaction may follow in the checkpoint.

        Raises:
            NexusError: `epoch_change_failed`.
        """
        epoch = self._environment.epoch
        # The epoch change distributes the gas cost of the whole epoch, including this checkpoint's
        # transactions.
        costs = epoch_gas_used(epoch, self._previous.summary, self._executed)
        change = ChangeEpoch(
            epoch=epoch + 1,
            protocol_version=self._environment.rules.version,
            storage_charge=costs.storage_cost,
            computation_charge=costs.computation_cost,
            storage_rebate=costs.storage_rebate,
            non_refundable_storage_fee=costs.non_refundable_storage_fee,
            epoch_start_timestamp_ms=self.timestamp_ms,
            system_packages=(),
        )
        result = self._execute_system(EndOfEpoch((change,)))
        if not isinstance(result.effects.status, Success):
            raise NexusError("epoch_change_failed", f"cannot change the epoch: {result.failure}")
        state = read_system_state(self._objects.get)
        self._end_of_epoch = EndOfEpochData(committee_of(state), state.protocol_version, ())

    def _execute_system(self, kind: TransactionKind) -> ExecutionResult:
        data = system_data(kind)
        return self.execute(data, data.encode(), (SYSTEM_SIGNATURE,))[1]

    def shows_time(self, *, within_ms: int = 1) -> bool:
        """Return whether the clock 0x6 is less than `within_ms` behind the checkpoint's time."""
        clock = self._objects.get(CLOCK)
        assert clock is not None
        return self.timestamp_ms - clock_ms(clock) < within_ms

    def execute(
        self,
        data: TransactionData,
        data_bytes: bytes,
        signatures: Sequence[bytes],
        mode: Mode = Mode.COMMIT,
        executor: Executor | None = None,
    ) -> tuple[ExecutedTransaction, ExecutionResult]:
        """Execute the next transaction. `executor` replaces the executor of the builder.

        Raises:
            TransactionRefused: the transaction cannot be executed.
        """
        digest = transaction_digest(data_bytes)
        active_executor = executor or self._executor
        result = active_executor.execute(data, digest, self._objects, self._environment, mode)
        place = TransactionPlace(self.number, self.timestamp_ms, len(self._executed))
        executed = ExecutedTransaction.at(place, data, data_bytes, signatures, result)
        self._executed.append(executed)
        self._objects.take_in(result)
        return executed, result

    def finish(self) -> Checkpoint:
        """Settle the address balances and return the checkpoint with all transactions."""
        self._settle()
        return Checkpoint.after(
            self._previous,
            self._executed,
            self.timestamp_ms,
            self._environment.epoch,
            self._end_of_epoch,
        )

    def _settle(self) -> None:
        root = self._objects.get(ACCUMULATOR_ROOT)
        assert root is not None
        assert isinstance(root.owner, Shared)
        settlement = Settlement(self._environment.epoch, self.number, root.owner.initial_version)
        for executed in self._executed:
            settlement.add(executed.effects)
        for kind in settlement.transactions():
            data = system_data(kind)
            executed, _ = self.execute(data, data.encode(), (SYSTEM_SIGNATURE,))
            assert isinstance(executed.effects.status, Success), executed.effects.status

    def packages(self) -> Iterator[Address]:
        """Yield the IDs of the packages that the transactions have published."""
        for executed in self._executed:
            for value in executed.output_objects:
                if isinstance(value.data, MovePackage):
                    yield value.id
