import pytest

from nexus_tools.sui.bcs import u64
from nexus_tools.sui.localnet.execution import Mode, TransactionRefused
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import CLOCK, RANDOM, ZERO, Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.effects import GasCostSummary, IdOperation, InputState, PackageWrite
from nexus_tools.sui.types.execution_status import (
    ArgumentErrorKind,
    CommandArgumentError,
    Success,
)
from nexus_tools.sui.types.expiration import NoExpiration
from nexus_tools.sui.types.object import AddressOwner, Immutable, MoveObject, Shared
from nexus_tools.sui.types.system_transaction import (
    CancelledTransactionsV2,
    ChangeEpoch,
    ConsensusCommitPrologueV4,
    EndOfEpoch,
    Genesis,
    GenesisObject,
    RandomnessStateCreate,
    RandomnessStateUpdate,
)
from nexus_tools.sui.types.transaction import GasData, TransactionData
from nexus_tools.sui.types.type_tag import GAS_COIN

NOTHING = GasCostSummary(0, 0, 0, 0)


def system(kind):
    return TransactionData(kind, ZERO, GasData((), ZERO, 1, 0), NoExpiration())


def prologue(timestamp_ms):
    empty = Digest(bytes(32))
    versions = CancelledTransactionsV2(())
    return system(ConsensusCommitPrologueV4(0, 1, None, timestamp_ms, empty, versions, empty))


def test_prologue_changes_only_the_clock(world):
    before = world.store.get(CLOCK)
    result = world.execute(prologue(123_456))
    effects = result.effects
    assert effects.status == Success()
    assert effects.gas_used == NOTHING
    assert effects.gas_object_index is None
    assert set(result.written) == {CLOCK}
    after = result.written[CLOCK]
    assert after.data.contents == bytes(CLOCK) + u64.encode(123_456)
    assert (after.version, after.owner, after.storage_rebate) == (2, Shared(1), 0)
    ((object_id, change),) = effects.changed_objects
    assert object_id == CLOCK
    assert change.input == InputState(1, before.digest(), Shared(1))
    assert effects.dependencies == (world.GENESIS,)


def test_clock_shows_the_new_time_to_later_transactions(world, build):
    world.store.commit(world.execute(prologue(123_456)))
    clock = build.object(CLOCK)
    build.move_call(Address.of(2), "clock", "timestamp_ms", [clock])
    assert world.returned(build) == [u64.encode(123_456)]


def test_user_cannot_set_the_clock(world, build):
    clock = build.object(CLOCK)
    build.move_call(Address.of(2), "clock", "consensus_commit_prologue", [clock, build.u64(1)])
    wrong = CommandArgumentError(0, ArgumentErrorKind.INVALID_OBJECT_BY_MUT_REF)
    assert world.fail_argument(build) == (wrong, 0)


def test_simulation_from_address_zero_has_no_more_rights(world, build):
    gas = world.coin(ZERO, 9 * world.SUI)
    clock = build.object(CLOCK)
    build.move_call(Address.of(2), "clock", "consensus_commit_prologue", [clock, build.u64(1)])
    data = world.data(build, sender=ZERO, payment=(gas,))
    status = world.execute(data, Mode.SIMULATE).effects.status
    wrong = CommandArgumentError(0, ArgumentErrorKind.INVALID_OBJECT_BY_MUT_REF)
    assert status.error.data == wrong


def test_genesis_creates_its_objects_at_version_1(world):
    contents = bytes(range(32)) + u64.encode(10)
    coin = MoveObject(GAS_COIN, has_public_transfer=True, version=1, contents=contents)
    package = world.store.get(Address.of(1)).data
    kind = Genesis(
        (GenesisObject(package, Immutable()), GenesisObject(coin, AddressOwner(world.ALICE)))
    )
    data = system(kind)
    result = world.execute(data)
    effects = result.effects
    assert (effects.status, effects.gas_used, effects.lamport_version) == (Success(), NOTHING, 1)
    assert result.written[coin.id].previous_transaction == data.digest()
    changes = dict(effects.changed_objects)
    assert [change.operation for change in changes.values()] == [IdOperation.CREATED] * 2
    digest = result.written[package.id].digest()
    assert changes[package.id].output == PackageWrite(1, digest)


def test_randomness_is_updated_and_drawn(world):
    world.store.put(_random(world))
    update = RandomnessStateUpdate(3, 0, bytes(range(32)), 1)
    result = world.execute(system(update))
    assert result.effects.status == Success(), result.failure
    world.store.commit(result)
    builder = TransactionBuilder()
    random = builder.resolved(world.argument(RANDOM, mutable=False))
    generator = builder.move_call(Address.of(2), "random", "new_generator", [random])
    world.succeed(builder)
    assert generator is not None


def _random(world):
    """Create `Random` with the framework's own `create`."""
    from nexus_tools.sui.localnet.natives import NativeGas, ObjectRuntime, TransactionContext
    from nexus_tools.sui.localnet.vm import Context, Meter, Reference
    from nexus_tools.sui.types.object import Object

    machine = world.executor.machine
    transaction = TransactionContext(ZERO, Digest(bytes(32)), 0, 0, 1_000, 1_000, 0, None)
    runtime = ObjectRuntime(
        transaction, {}, world.store.get, machine.types.decode, NativeGas(10**9)
    )
    function = machine.types.function(Address.of(2), "random", "create")
    context = Reference([transaction.as_move_value()], 0)
    machine.call(function, (), [context], Context(machine.types, Meter(10**9), runtime))
    transfer = runtime.transfers[RANDOM]
    for object_id, child in runtime.children.used():
        contents = machine.types.encode(child.type, child.cell[0])
        from nexus_tools.sui.types.object import ObjectOwner

        data = MoveObject(child.type, has_public_transfer=False, version=1, contents=contents)
        assert data.id == object_id
        world.store.put(Object(data, ObjectOwner(child.parent), Digest(bytes(32)), 0))
    contents = machine.types.encode(transfer.type, transfer.value)
    data = MoveObject(transfer.type, has_public_transfer=False, version=1, contents=contents)
    return Object(data, Shared(1), Digest(bytes(32)), 0)


@pytest.mark.parametrize("steps", [(), (RandomnessStateCreate(),)])
def test_end_of_epoch_must_be_an_epoch_change(world, steps):
    with pytest.raises(TransactionRefused, match="EndOfEpoch"):
        world.execute(system(EndOfEpoch(steps)))


def test_system_packages_are_not_upgraded(world):
    change = ChangeEpoch(1, 105, 0, 0, 0, 0, 5, ((2, (b"",), ()),))
    with pytest.raises(TransactionRefused, match="system packages"):
        world.execute(system(change))


def test_system_transactions_cannot_be_simulated(world):
    with pytest.raises(TransactionRefused):
        world.execute(prologue(1), Mode.SIMULATE)
