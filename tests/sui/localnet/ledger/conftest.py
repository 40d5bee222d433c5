"""A hand-made chain: tests give the changes, and effects and checkpoints follow from them."""

import pytest
from msgspec.structs import replace

from nexus_tools.sui.localnet.ledger import Checkpoint, ExecutedTransaction, Ledger
from nexus_tools.sui.types.address import ZERO, Address
from nexus_tools.sui.types.digest import effects_digest, events_digest
from nexus_tools.sui.types.effects import (
    Absent,
    GasCostSummary,
    IdOperation,
    InputState,
    ObjectChange,
    ObjectWrite,
    PackageWrite,
    TransactionEffects,
)
from nexus_tools.sui.types.event import EVENTS, Event
from nexus_tools.sui.types.execution_status import Success
from nexus_tools.sui.types.expiration import NoExpiration
from nexus_tools.sui.types.object import AddressOwner, MoveObject, MovePackage, Object
from nexus_tools.sui.types.transaction import GasData, ProgrammableTransaction, Pure
from nexus_tools.sui.types.transaction import TransactionData as Data
from nexus_tools.sui.types.type_tag import GAS_COIN

ZERO_DIGEST = effects_digest(b"")
GAS_USED = GasCostSummary(1_000_000, 2_000_000, 500_000, 5_000)


class Chain:
    """A writer of a ledger that makes one checkpoint for each list of changes."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.count = 0

    def coin(self, number, balance, owner=None, coin_tag=GAS_COIN):
        """Return a coin that is not yet in the ledger; `owner` is an address or an owner."""
        return self.move_object(number, coin_tag, owner, balance.to_bytes(8, "little"))

    def move_object(self, number, tag, owner=None, rest=b""):
        owner = Address.of(0xA) if owner is None else owner
        owner = AddressOwner(owner) if isinstance(owner, bytes) else owner
        contents = Address.of(number) + rest
        return Object(MoveObject(tag, True, 0, contents), owner, ZERO_DIGEST, 988_000)

    def event(self, tag, package=None, module="shop", sender=None):
        return Event(package or tag.address, module, sender or ZERO, tag, b"\1")

    def commit(self, *written, removed=(), events=(), timestamp_ms=1000):
        """Commit one checkpoint with one transaction."""
        return self.commit_all([self.transaction(written, removed, events)], timestamp_ms)

    def commit_all(self, transactions, timestamp_ms=1000):
        latest = None if self.ledger.is_empty else self.ledger.latest
        number = latest.number + 1 if latest else 0
        placed = [
            replace(
                transaction, checkpoint=number, index_in_checkpoint=place, timestamp_ms=timestamp_ms
            )
            for place, transaction in enumerate(transactions)
        ]
        checkpoint = Checkpoint.after(latest, placed, timestamp_ms)
        self.ledger.apply(checkpoint)
        return checkpoint

    def transaction(self, written=(), removed=(), events=(), earlier=()):
        """Return a transaction; `earlier` are objects from the same checkpoint."""
        known = {value.id: value for value in earlier}
        self.count += 1
        kind = ProgrammableTransaction((Pure(self.count.to_bytes(8, "little")),), ())
        data = Data(kind, ZERO, GasData((), ZERO, 1000, 5000), NoExpiration())
        before = [known.get(value.id) or self.ledger.get(value.id) for value in written]
        gone = [self.ledger.get(Address.of(number)) for number in removed]
        inputs = tuple(value for value in [*before, *gone] if value is not None)
        version = max([0, *(value.version for value in inputs)]) + 1
        outputs = tuple(at_version(value, version, data.digest()) for value in written)
        effects = make_effects(data, version, inputs, outputs, events)
        encoded = effects.encode()
        return ExecutedTransaction(
            digest=data.digest(),
            data=data,
            data_bytes=data.encode(),
            signatures=(b"\0" * 97,),
            effects=effects,
            effects_bytes=encoded,
            effects_digest=effects_digest(encoded),
            events=tuple(events),
            input_objects=inputs,
            output_objects=outputs,
            output_bytes=tuple(value.encode() for value in outputs),
            checkpoint=0,
            timestamp_ms=0,
            index_in_checkpoint=0,
        )


def at_version(value, version, digest):
    if isinstance(value.data, MovePackage):
        return replace(value, previous_transaction=digest)
    return replace(value, data=replace(value.data, version=version), previous_transaction=digest)


def make_effects(data, version, inputs, outputs, events):
    before = {value.id: InputState(value.version, value.digest(), value.owner) for value in inputs}
    after = {value.id: written(value) for value in outputs}
    changes = tuple(
        (key, ObjectChange(before.get(key, Absent()), after.get(key, Absent()), IdOperation.NONE))
        for key in sorted(before | after)
    )
    events_hash = events_digest(EVENTS.encode(events)) if events else None
    return TransactionEffects(
        Success(), 0, GAS_USED, data.digest(), None, events_hash, (), version, changes, (), None
    )


def written(value):
    if isinstance(value.data, MovePackage):
        return PackageWrite(value.version, value.digest())
    return ObjectWrite(value.digest(), value.owner)


@pytest.fixture
def ledger():
    ledger = Ledger()
    yield ledger
    ledger.close()


@pytest.fixture
def chain(ledger):
    return Chain(ledger)


@pytest.fixture(scope="session")
def chain_on():
    """Return a function that creates a writer for another ledger."""
    return Chain
