"""The settlement of address balances and event streams that a checkpoint's transactions changed.

As on a real network, system transactions at the end of the checkpoint add up the changes.
Settlement transactions write the balances and the heads of streams, which are dynamic fields of the
accumulator root. The last transaction, the barrier, gives the root its next version. For example,
Ann sends 5 MIST from her balance to Bob's balance, and Bob sends 3 MIST from his balance to Cid's
balance. Checkpoint 9 of epoch 0 then ends with two transactions. The first transaction makes these
calls:

    settlement_prologue(root, epoch 0, checkpoint 9, number 0, paid in 8, paid out 8)
    settle_u128<Balance<SUI>>(root, ann, + 0, - 5)
    settle_u128<Balance<SUI>>(root, bob, + 2, - 0)
    settle_u128<Balance<SUI>>(root, cid, + 3, - 0)

The second transaction is the barrier, which calls settlement_prologue(root, 0, 9, 1, 0, 0).
Settlements change fields of the root but not the root itself, so they could run in parallel. Only
the barrier needs exclusive access to the root. Source: `accumulators/mod.rs` of `sui-core`.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct, field

from nexus_tools.sui.bcs import u64, u128
from nexus_tools.sui.types.address import ACCUMULATOR_ROOT, SUI_FRAMEWORK, Address
from nexus_tools.sui.types.effects import (
    AccumulatorEvents,
    AccumulatorInteger,
    AccumulatorOperation,
    AccumulatorWrite,
    TransactionEffects,
)
from nexus_tools.sui.types.event import EventCommitment, merkle_root
from nexus_tools.sui.types.transaction import (
    InputArgument,
    MoveCall,
    ProgrammableSystemTransaction,
    Pure,
    SharedObject,
    TransactionKind,
)
from nexus_tools.sui.types.type_tag import SUI, TypeTag, balance_tag

MAX_UPDATES = 100
"""The maximum number of updates in one transaction (`max_updates_per_settlement_txn` in Sui)."""

_SUI_FUNDS = balance_tag(SUI)
_MODULE = "accumulator_settlement"


class _Update(Struct):
    """The deposits and withdrawals of a balance in its smallest unit, or a stream's events."""

    owner: Address
    funds: TypeTag
    deposited: int = 0
    withdrawn: int = 0
    events: list[EventCommitment] = field(default_factory=list)

    def add(self, write: AccumulatorWrite, checkpoint: int, transaction: int) -> None:
        """Add a change by the transaction with this index in the checkpoint."""
        if isinstance(write.value, AccumulatorEvents):
            self.events.extend(
                EventCommitment(checkpoint, transaction, index, digest)
                for index, digest in write.value.events
            )
            return
        assert isinstance(write.value, AccumulatorInteger)
        if write.operation is AccumulatorOperation.MERGE:
            self.deposited += write.value.value
        else:
            self.withdrawn += write.value.value


class _Calls:
    """Calls of `0x2::accumulator_settlement`. Equal values share one input, as on Sui."""

    def __init__(self, root: SharedObject) -> None:
        self._root = root
        self._places: dict[bytes, InputArgument] = {}
        self._commands: list[MoveCall] = []

    def add(self, function: str, values: Iterable[bytes], types: tuple[TypeTag, ...] = ()) -> None:
        """Add a call. The call's arguments are the root and these values, which are BCS bytes."""
        arguments = (InputArgument(0), *map(self.place, values))
        self._commands.append(MoveCall(SUI_FRAMEWORK, _MODULE, function, types, arguments))

    def finish(self) -> ProgrammableSystemTransaction:
        """Return the transaction that makes the calls."""
        values = (Pure(value) for value in self._places)
        return ProgrammableSystemTransaction((self._root, *values), tuple(self._commands))

    def place(self, value: bytes) -> InputArgument:
        """Return the input that has this value."""
        return self._places.setdefault(value, InputArgument(1 + len(self._places)))


class Settlement:
    """The settlement of one checkpoint.

    `root_version` is the initial version of the accumulator root.
    """

    def __init__(self, epoch: int, checkpoint: int, root_version: int) -> None:
        self._epoch = epoch
        self._checkpoint = checkpoint
        self._root_version = root_version
        self._updates: dict[Address, _Update] = {}
        self._transactions = 0

    def add(self, effects: TransactionEffects) -> None:
        """Add the changes of the checkpoint's next transaction."""
        for accumulator, change in effects.changed_objects:
            write = change.output
            if isinstance(write, AccumulatorWrite):
                update = self._updates.setdefault(accumulator, _Update(write.address, write.type))
                update.add(write, self._checkpoint, self._transactions)
        self._transactions += 1

    def transactions(self) -> Iterator[TransactionKind]:
        """Yield the transactions that settle the changes.

        If nothing has changed, yield no transaction.
        """
        updates = [self._updates[accumulator] for accumulator in sorted(self._updates)]
        starts = range(0, len(updates), MAX_UPDATES)
        for number, start in enumerate(starts):
            yield self._settle(number, updates[start : start + MAX_UPDATES])
        if updates:
            yield self._barrier(len(starts))

    def _settle(self, number: int, updates: Sequence[_Update]) -> TransactionKind:
        in_sui = [update for update in updates if update.funds == _SUI_FUNDS]
        paid_in = sum(update.deposited for update in in_sui)
        paid_out = sum(update.withdrawn for update in in_sui)
        calls = self._calls(number, paid_in, paid_out, exclusive=False)
        for update in updates:
            if update.events:
                self._write_stream(calls, update)
            else:
                _write_balance(calls, update)
        return calls.finish()

    def _write_stream(self, calls: _Calls, update: _Update) -> None:
        counts = (len(update.events), self._checkpoint)
        values = (bytes(update.owner), merkle_root(update.events), *map(u64.encode, counts))
        calls.add("settle_events", values)

    def _barrier(self, number: int) -> TransactionKind:
        return self._calls(number, 0, 0, exclusive=True).finish()

    def _calls(self, number: int, paid_in: int, paid_out: int, *, exclusive: bool) -> _Calls:
        """Return a transaction's first calls, whose arguments make the digest unique."""
        root = SharedObject(ACCUMULATOR_ROOT, self._root_version, mutable=True, exclusive=exclusive)
        calls = _Calls(root)
        numbers = (self._epoch, self._checkpoint, number, paid_in, paid_out)
        calls.add("settlement_prologue", map(u64.encode, numbers))
        return calls


def _write_balance(calls: _Calls, update: _Update) -> None:
    calls.place(bytes(update.owner))  # as on Sui, an input even without an amount
    amount = update.deposited - update.withdrawn
    if amount:
        values = (bytes(update.owner), u128.encode(max(amount, 0)), u128.encode(max(-amount, 0)))
        calls.add("settle_u128", values, (update.funds,))
