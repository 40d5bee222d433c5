"""The only authority of the network, which checks, executes and commits transactions."""

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self

from nexus_tools.sui.errors import NexusError
from nexus_tools.sui.localnet.execution import (
    Environment,
    ExecutionResult,
    Executor,
    Mode,
    machine_for,
)
from nexus_tools.sui.localnet.genesis import (
    DEFAULT_GENESIS_CONFIG,
    Origin,
    check_genesis_config,
    create_network,
)
from nexus_tools.sui.localnet.ledger import Checkpoint, ExecutedTransaction, Ledger, Snapshot
from nexus_tools.sui.localnet.node.admission import admit, check_chain, check_size
from nexus_tools.sui.localnet.node.checkpoint_builder import CheckpointBuilder
from nexus_tools.sui.localnet.node.clock import ADVANCES, NetworkClock, WallClock, milliseconds
from nexus_tools.sui.localnet.node.epochs import EPOCH_STARTS_SETTING, Epochs
from nexus_tools.sui.localnet.node.faucet import Faucet
from nexus_tools.sui.localnet.node.randomness import SEEDS_SETTING, Randomness
from nexus_tools.sui.localnet.vm import Machine
from nexus_tools.sui.types.address import CLOCK, RANDOM, Address
from nexus_tools.sui.types.checkpoint import CheckpointSummary
from nexus_tools.sui.types.digest import Digest, transaction_digest
from nexus_tools.sui.types.execution_status import Success
from nexus_tools.sui.types.transaction import (
    ProgrammableTransaction,
    SharedObject,
    TransactionData,
)

_LOG = logging.getLogger(__name__)

_CLOCK_SETTING = "clock_advances"
_CATCH_UP_MS = 1000

Subscriber = Callable[[Checkpoint], None]


class Node:
    """A node over a ledger. If the ledger is empty, the node creates a genesis from `origin`.

    Each transaction is in a checkpoint of its own and is final when `execute` returns. Only one
    thread at a time may use a node.
    """

    def __init__(
        self,
        ledger: Ledger,
        executor: Executor,
        *,
        wall_clock: WallClock = milliseconds,
        origin: Origin = DEFAULT_GENESIS_CONFIG,
    ) -> None:
        self.ledger = ledger
        self.machine: Machine = executor.machine
        self._executor = executor
        self._faucet = Faucet.of(ledger)
        self._subscribers: list[Subscriber] = []
        if ledger.is_empty:
            create_network(ledger, executor, self._faucet.address, wall_clock(), origin)
        genesis = ledger.checkpoint(0)
        assert genesis is not None
        self.chain_id: Digest = genesis.digest
        self.epochs = Epochs(ledger)
        check_genesis_config(ledger, self.environment.rules.version, origin)
        self._randomness = Randomness(ledger)
        advances = ADVANCES.decode(ledger.setting(_CLOCK_SETTING) or ADVANCES.encode(()))
        self._clock = NetworkClock(wall_clock, advances, ledger.latest.summary.timestamp_ms)

    @classmethod
    def open(
        cls,
        directory: Path | None = None,
        *,
        wall_clock: WallClock = milliseconds,
        origin: Origin = DEFAULT_GENESIS_CONFIG,
    ) -> Self:
        """Open the network stored in a directory, or create one in memory if `directory` is None.

        A new network starts with `origin`. A stored network keeps its own origin.

        Raises:
            NexusError: `state_locked`, `state_damaged`, `state_incomplete`,
                `state_format_unsupported`, `genesis_config_differs`, and the errors of
                `create_network`.
        """
        ledger = Ledger.open(directory) if directory else Ledger()
        try:
            executor = Executor(machine_for(ledger))
            return cls(ledger, executor, wall_clock=wall_clock, origin=origin)
        except BaseException:
            ledger.close()
            raise

    def close(self) -> None:
        """Close the ledger. Committed transactions remain."""
        self.ledger.close()

    @property
    def environment(self) -> Environment:
        """The current epoch, its start and its reference gas price."""
        return self.epochs.environment

    # --- Transactions

    def execute(self, data_bytes: bytes, signatures: Sequence[bytes]) -> ExecutedTransaction:
        """Execute and commit a signed transaction.

        If the transaction is already committed, return its first result.

        `data_bytes` is the BCS of `TransactionData`. The signatures are serialized. If an error is
        raised, the state is unchanged.

        Raises:
            BcsError: the bytes are not a transaction.
            NotAllowedError: `signature_malformed`, `signature_invalid`.
            TransactionRefused: the transaction cannot be executed.
        """
        data = admit(data_bytes, signatures, self.chain_id, self.environment.epoch)
        earlier = self._earlier_execution(data, data_bytes)
        if earlier is not None:
            return earlier
        builder = self._builder_for(data)
        if self._subscribers and not builder.shows_time(within_ms=_CATCH_UP_MS):
            # If transactions that do not use the clock arrive fast, the server may never call
            # `catch_up`. The clock must still advance for subscribers.
            builder.set_clock()
        if _uses(data, RANDOM):
            builder.draw_randomness(self._randomness)
        executed, _ = builder.execute(data, data_bytes, signatures)
        self._commit(builder)
        return executed

    def _earlier_execution(
        self, data: TransactionData, data_bytes: bytes
    ) -> ExecutedTransaction | None:
        for coin in data.gas.payment:
            current = self.ledger.get(coin.object_id)
            if current is not None and current.version == coin.version:
                return None  # a commit would have changed its gas coins
        return self.ledger.transaction(transaction_digest(data_bytes))

    def simulate(
        self, data: TransactionData, mode: Mode = Mode.SIMULATE, executor: Executor | None = None
    ) -> tuple[ExecutedTransaction, ExecutionResult]:
        """Execute a transaction without committing it.

        `executor` replaces the executor of the node.

        The transaction sees the random bytes of the last round. A real execution would draw new
        bytes.

        Raises:
            TransactionRefused: the transaction cannot be executed.
        """
        data_bytes = data.encode()
        if mode is not Mode.INSPECT:
            check_size(data_bytes)
            check_chain(data, self.chain_id, self.environment.epoch)
        return self._builder_for(data).execute(data, data_bytes, (), mode, executor)

    def fund(self, recipient: Address, *amounts_mist: int) -> ExecutedTransaction:
        """Send one coin for each amount in MIST from the faucet's account.

        Raises:
            ValidationError: `faucet_amount_invalid`.
            WrongStateError: `faucet_empty`.
        """
        data = self._faucet.transfer(self.ledger, self.environment, recipient, amounts_mist)
        data_bytes = data.encode()
        executed = self.execute(data_bytes, [self._faucet.sign(data_bytes)])
        if not isinstance(executed.effects.status, Success):
            raise NexusError(
                "faucet_failed", f"the faucet's transfer failed: {executed.effects.status}"
            )
        return executed

    # --- Time

    def now_ms(self) -> int:
        """Return the time of the network, in ms since 1970."""
        return self._clock.now_ms()

    def advance_clock(self, milliseconds: int) -> CheckpointSummary:
        """Move the clock forward and create a checkpoint in which the clock shows the new time.

        Raises:
            ValidationError: `clock_advance_invalid`.
        """
        advances = self._clock.advanced(milliseconds, self.ledger.latest.number + 1)
        builder = self._builder(self.now_ms() + milliseconds)
        builder.set_clock()
        self._commit(builder, {_CLOCK_SETTING: ADVANCES.encode(advances)})
        self._clock.restore(advances, builder.timestamp_ms)
        return self.ledger.latest.summary

    def catch_up(self) -> None:
        """Make a checkpoint that sets the clock if it is at least a second behind.

        The server calls this method for clients that read, so they see a running clock. The age of
        the latest checkpoint does not matter, because a checkpoint sets the clock only if a
        transaction reads it. A read must not fail because the disk is not writable, so a failed
        write only delays the clock.
        """
        builder = self._builder(self.now_ms())
        if not builder.shows_time(within_ms=_CATCH_UP_MS):
            builder.set_clock()
            try:
                self._commit(builder)
            except NexusError as error:
                if error.code != "state_write_failed":
                    raise
                _LOG.warning("the clock was not updated: %s", error)

    # --- Epochs

    def advance_epoch(self) -> int:
        """End the epoch, start the next epoch, and return its number.

        The last checkpoint of the old epoch ends with the epoch change. The first checkpoint of the
        new epoch sets the clock.

        Raises:
            NexusError: `epoch_change_failed`.
        """
        last = self._builder(self.now_ms())
        if not last.shows_time():
            last.set_clock()
        last.end_epoch()
        self._commit(last, {EPOCH_STARTS_SETTING: self.epochs.next_epoch_at(last.number + 1)})
        self.epochs.reload()
        first = self._builder(self.now_ms())
        first.set_clock()
        self._commit(first)
        return self.environment.epoch

    def seed_randomness(self, seed: bytes) -> None:
        """Derive all future random bytes from a seed, for repeatable tests.

        The seed takes effect with a new checkpoint that contains no user transaction.
        """
        builder = self._builder(self.now_ms())
        builder.set_clock()
        seeds = self._randomness.seeds_with(seed, builder.number)
        self._commit(builder, {SEEDS_SETTING: seeds})
        self._randomness.reload()

    # --- Subscriptions and snapshots

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Call a function with each new checkpoint. Return a function that unsubscribes."""
        self._subscribers.append(subscriber)

        def unsubscribe() -> None:
            if subscriber in self._subscribers:
                self._subscribers.remove(subscriber)

        return unsubscribe

    def snapshot(self) -> Snapshot:
        """Return a snapshot of the current state for `revert`."""
        return self.ledger.snapshot()

    def revert(self, snapshot: Snapshot) -> None:
        """Return to a snapshot, which stays valid. The clock also returns to its earlier time.

        Raises:
            NexusError: `snapshot_not_found`.
        """
        advances = self._clock.until(snapshot.checkpoint)
        settings = {
            _CLOCK_SETTING: ADVANCES.encode(advances),
            EPOCH_STARTS_SETTING: self.epochs.starts_until(snapshot.checkpoint),
            SEEDS_SETTING: self._randomness.seeds_until(snapshot.checkpoint),
        }
        removed_packages = self.ledger.revert(snapshot, settings)
        for package in removed_packages:
            self.machine.types.forget(package)
        self._clock.restore(advances, self.ledger.latest.summary.timestamp_ms)
        self.epochs.reload()
        self._randomness.reload()

    # --- Checkpoints

    def _builder(self, timestamp_ms: int) -> CheckpointBuilder:
        return CheckpointBuilder(self.ledger, self._executor, self.environment, timestamp_ms)

    def _builder_for(self, data: TransactionData) -> CheckpointBuilder:
        """Start the checkpoint for a transaction, and set the clock if the transaction uses it."""
        builder = self._builder(self.now_ms())
        if _uses(data, CLOCK) and not builder.shows_time():
            builder.set_clock()
        return builder

    def _commit(self, builder: CheckpointBuilder, settings: dict[str, bytes] | None = None) -> None:
        try:
            checkpoint = builder.finish()
            self.ledger.apply(checkpoint, settings)
        except BaseException:
            for package in builder.packages():
                self.machine.types.forget(package)
            raise
        for subscriber in tuple(self._subscribers):
            subscriber(checkpoint)


def _uses(data: TransactionData, object_id: Address) -> bool:
    """Return whether a transaction has a shared object as input."""
    kind = data.kind
    return isinstance(kind, ProgrammableTransaction) and any(
        isinstance(value, SharedObject) and value.object_id == object_id for value in kind.inputs
    )
