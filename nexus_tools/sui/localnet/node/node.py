"""The one authority of the network: what it is sent, it checks, executes, commits."""

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
    machine_over,
)
from nexus_tools.sui.localnet.genesis import DEFAULT_ORIGIN, Origin, check_origin, found_network
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
    """A node over a ledger; one without a genesis gets one, with what `origin` says.

    Every transaction is a checkpoint of its own, and final when `execute` returns. Used by one
    thread at a time.
    """

    def __init__(
        self,
        ledger: Ledger,
        executor: Executor,
        *,
        wall_clock: WallClock = milliseconds,
        origin: Origin = DEFAULT_ORIGIN,
    ) -> None:
        self.ledger = ledger
        self.machine: Machine = executor.machine
        self._executor = executor
        self._faucet = Faucet.of(ledger)
        self._subscribers: list[Subscriber] = []
        if ledger.is_empty:
            found_network(ledger, executor, self._faucet.address, wall_clock(), origin)
        genesis = ledger.checkpoint(0)
        assert genesis is not None
        self.chain_id: Digest = genesis.digest
        self.epochs = Epochs(ledger)
        check_origin(ledger, self.environment.rules.version, origin)
        self._randomness = Randomness(ledger)
        advances = ADVANCES.decode(ledger.setting(_CLOCK_SETTING) or ADVANCES.encode(()))
        self._clock = NetworkClock(wall_clock, advances, ledger.latest.summary.timestamp_ms)

    @classmethod
    def open(
        cls,
        directory: Path | None = None,
        *,
        wall_clock: WallClock = milliseconds,
        origin: Origin = DEFAULT_ORIGIN,
    ) -> Self:
        """The node of the network that is kept in a directory; without one, of a new network.

        A new one begins with `origin`; one that is kept stays as it is. Raises `state_locked`,
        `state_damaged`, `state_incomplete`, `state_format_unsupported`, `origin_differs`, and as
        `found_network` does.
        """
        ledger = Ledger.open(directory) if directory else Ledger()
        try:
            executor = Executor(machine_over(ledger))
            return cls(ledger, executor, wall_clock=wall_clock, origin=origin)
        except BaseException:
            ledger.close()
            raise

    def close(self) -> None:
        """Let the ledger go. What was committed stays."""
        self.ledger.close()

    @property
    def environment(self) -> Environment:
        """The present epoch, its start and its reference gas price."""
        return self.epochs.environment

    # --- Transactions

    def execute(self, data_bytes: bytes, signatures: Sequence[bytes]) -> ExecutedTransaction:
        """Execute a signed transaction and commit it; the same one again changes nothing.

        `data_bytes` are BCS of `TransactionData`, signatures are serialized. Raises `BcsError`,
        `signature_malformed`, `signature_invalid` and `TransactionRefused`; then nothing happened.
        """
        data = admit(data_bytes, signatures, self.chain_id, self.environment.epoch)
        known = self._executed_before(data, data_bytes)
        if known is not None:
            return known
        builder = self._builder_for(data)
        if self._subscribers and not builder.shows_time(within_ms=_CATCH_UP_MS):
            # Transactions that leave the clock may come so fast that nobody who watches asks for
            # more: it has to run nevertheless.
            builder.set_clock()
        if _uses(data, RANDOM):
            builder.draw_randomness(self._randomness)
        executed, _ = builder.execute(data, data_bytes, signatures)
        self._commit(builder)
        return executed

    def _executed_before(
        self, data: TransactionData, data_bytes: bytes
    ) -> ExecutedTransaction | None:
        for coin in data.gas.payment:
            found = self.ledger.get(coin.object_id)
            if found is not None and found.version == coin.version:
                return None  # a transaction changes every coin that pays for it
        return self.ledger.transaction(transaction_digest(data_bytes))

    def simulate(
        self, data: TransactionData, mode: Mode = Mode.SIMULATE, executor: Executor | None = None
    ) -> tuple[ExecutedTransaction, ExecutionResult]:
        """What a transaction would do now, by another executor if one is given.

        It sees the random bytes of the last round, not those that it will have when executed.
        Raises `TransactionRefused`.
        """
        data_bytes = data.encode()
        if mode is not Mode.INSPECT:
            check_size(data_bytes)
            check_chain(data, self.chain_id, self.environment.epoch)
        return self._builder_for(data).execute(data, data_bytes, (), mode, executor)

    def fund(self, recipient: Address, *amounts_mist: int) -> ExecutedTransaction:
        """Give a coin of each amount from the faucet's account.

        Raises `faucet_amount_invalid` and `faucet_empty`.
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
        """The time of the network in ms since 1970."""
        return self._clock.now_ms()

    def advance_clock(self, milliseconds: int) -> CheckpointSummary:
        """Move the clock ahead, and make a checkpoint in which it shows the new time.

        Raises `clock_advance_invalid`.
        """
        advances = self._clock.advanced(milliseconds, self.ledger.latest.number + 1)
        builder = self._builder(self.now_ms() + milliseconds)
        builder.set_clock()
        self._commit(builder, {_CLOCK_SETTING: ADVANCES.encode(advances)})
        self._clock.restore(advances, builder.timestamp_ms)
        return self.ledger.latest.summary

    def catch_up(self) -> None:
        """Make a checkpoint that sets the clock if what it shows is a second old.

        Who watches the network sees a clock that runs; while nobody does, nothing happens. A
        checkpoint of transactions that do not take the clock leaves it as it is, so that the age of
        the latest one says nothing. It is for reads, so a disk that takes nothing only leaves the
        clock behind.
        """
        builder = self._builder(self.now_ms())
        if not builder.shows_time(within_ms=_CATCH_UP_MS):
            builder.set_clock()
            try:
                self._commit(builder)
            except NexusError as error:
                if error.code != "state_write_failed":
                    raise
                _LOG.warning("the clock stays behind: %s", error)

    # --- Epochs

    def advance_epoch(self) -> int:
        """End the epoch now, and begin the next one; gives its number.

        The last checkpoint of the old epoch ends with its change, the first one of the new epoch
        sets the clock. Raises `epoch_change_failed`.
        """
        last = self._builder(self.now_ms())
        if not last.shows_time():
            last.set_clock()
        last.end_epoch()
        self._commit(last, {EPOCH_STARTS_SETTING: self.epochs.starts_with(last.number + 1)})
        self.epochs.reload()
        first = self._builder(self.now_ms())
        first.set_clock()
        self._commit(first)
        return self.environment.epoch

    def seed_randomness(self, seed: bytes) -> None:
        """Let all random bytes to come follow from a seed, for tests that are to repeat.

        It takes effect with a checkpoint of its own.
        """
        builder = self._builder(self.now_ms())
        builder.set_clock()
        seeds = self._randomness.seeds_with(seed, builder.number)
        self._commit(builder, {SEEDS_SETTING: seeds})
        self._randomness.reload()

    # --- Watching and going back

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Have a function called with each new checkpoint; gives one that ends it."""
        self._subscribers.append(subscriber)

        def unsubscribe() -> None:
            if subscriber in self._subscribers:
                self._subscribers.remove(subscriber)

        return unsubscribe

    def snapshot(self) -> Snapshot:
        """The present, to come back to."""
        return self.ledger.snapshot()

    def revert(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot, as often as wanted; the clock goes back too.

        Raises `snapshot_gone`.
        """
        advances = self._clock.until(snapshot.checkpoint)
        settings = {
            _CLOCK_SETTING: ADVANCES.encode(advances),
            EPOCH_STARTS_SETTING: self.epochs.starts_until(snapshot.checkpoint),
            SEEDS_SETTING: self._randomness.seeds_until(snapshot.checkpoint),
        }
        gone = self.ledger.revert(snapshot, settings)
        for package in gone:
            self.machine.types.forget(package)
        self._clock.restore(advances, self.ledger.latest.summary.timestamp_ms)
        self.epochs.reload()
        self._randomness.reload()

    # --- Checkpoints

    def _builder(self, timestamp_ms: int) -> CheckpointBuilder:
        return CheckpointBuilder(self.ledger, self._executor, self.environment, timestamp_ms)

    def _builder_for(self, data: TransactionData) -> CheckpointBuilder:
        """The next checkpoint, up to the place of a transaction: the clock is set if it is used."""
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
    """Whether a transaction takes a shared object."""
    kind = data.kind
    return isinstance(kind, ProgrammableTransaction) and any(
        isinstance(value, SharedObject) and value.object_id == object_id for value in kind.inputs
    )
