import pytest
from msgspec.structs import replace

from nexus_tools.sui.localnet.execution import TransactionRefused
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.expiration import EpochExpiration, ValidDuring, Validity
from nexus_tools.sui.types.object import ObjectReference
from nexus_tools.sui.types.transaction import (
    GasCoin,
    InputArgument,
    MakeMoveVec,
    MergeCoins,
    MoveCall,
    ProgrammableTransaction,
    Publish,
    Pure,
    SharedObject,
    SplitCoins,
    TransferObjects,
)
from nexus_tools.sui.types.type_tag import SUI, Primitive, VectorTag

NOTHING = MoveCall(Address.of(1), "vector", "empty", (Primitive.U8,), ())


def refused(world, kind, **options):
    with pytest.raises(TransactionRefused) as refusal:
        world.run(kind, **options)
    return refusal.value.code


def of(*commands, inputs=()):
    return ProgrammableTransaction(tuple(inputs), commands)


def nested_type(depth):
    tag = Primitive.U8
    for _ in range(depth):
        tag = VectorTag(tag)
    return tag


@pytest.mark.parametrize(
    "kind",
    [
        of(*[NOTHING] * 1_024),
        of(replace(NOTHING, arguments=(GasCoin(),) * 512)),
        of(replace(NOTHING, type_arguments=(SUI,) * 17)),
        of(replace(NOTHING, type_arguments=(nested_type(17),))),
        of(MergeCoins(GasCoin(), (GasCoin(),) * 512)),
        of(Publish((b"",) * 65, ())),
        of(Publish((b"",), (Address.of(1),) * 33)),
        of(NOTHING, inputs=[Pure(bytes(16_385))]),
    ],
    ids=lambda kind: type(kind.commands[0]).__name__,
)
def test_transaction_that_is_too_large_is_refused(world, kind):
    assert refused(world, kind) == "size_limit_exceeded"


def test_largest_pure_input_is_accepted(world):
    world.succeed(of(NOTHING, inputs=[Pure(bytes(16_384))]))


def test_largest_number_of_commands_is_accepted(world):
    world.succeed(of(*[NOTHING] * 1_023))


def test_more_than_256_gas_coins_are_refused(world):
    data = world.data(of(NOTHING))
    reference = world.store.get(world.gas).reference()
    payment = tuple(
        ObjectReference(Address.of(number), 1, reference.digest) for number in range(257)
    )
    with pytest.raises(TransactionRefused) as refusal:
        world.execute(replace(data, gas=replace(data.gas, payment=payment)))
    assert refusal.value.code == "size_limit_exceeded"


@pytest.mark.parametrize(
    "command",
    [
        TransferObjects((), InputArgument(0)),
        SplitCoins(GasCoin(), ()),
        MergeCoins(GasCoin(), ()),
        MakeMoveVec(None, ()),
        Publish((), ()),
    ],
    ids=lambda command: type(command).__name__,
)
def test_command_without_inputs_is_refused(world, command):
    assert refused(world, of(command)) == "empty_command_input"


@pytest.mark.parametrize("name", ["", "1a", "a-b", "ä", "a" * 129, "_"])
def test_name_that_is_not_an_identifier_is_refused(world, name):
    assert refused(world, of(replace(NOTHING, function=name))) == "invalid_identifier"


def test_at_most_five_packages_can_be_published(world):
    kind = of(*[Publish((b"",), ())] * 6)
    assert refused(world, kind) == "max_publish_count_exceeded"


def test_only_transfers_and_merges_may_follow_randomness(world):
    random = SharedObject(Address.of(8), 1, mutable=False)
    call = replace(NOTHING, arguments=(InputArgument(0),))
    assert refused(world, of(call, NOTHING, inputs=[random])) == "post_random_command_restrictions"


def test_only_system_transactions_may_use_non_exclusive_writes(world):
    shared = SharedObject(Address.of(8), 1, mutable=True, exclusive=False)
    assert refused(world, of(NOTHING, inputs=[shared])) == "unsupported"


@pytest.mark.parametrize(
    ("expiration", "expired"),
    [
        (EpochExpiration(2), True),
        (EpochExpiration(3), False),
        (ValidDuring(4, 5, None, None, bytes(32), 0), True),
        (ValidDuring(3, 4, None, None, bytes(32), 0), False),
        (ValidDuring(None, 2, None, None, bytes(32), 0), True),
        (ValidDuring(4, None, None, None, bytes(32), 0), True),
        (ValidDuring(None, None, None, None, bytes(32), 0), False),
    ],
)
def test_expired_transaction_is_refused(world, expiration, expired):
    data = replace(world.data(of(NOTHING)), expiration=expiration)
    if not expired:
        world.execute(data)
        return
    with pytest.raises(TransactionRefused, match="Transaction Expired"):
        world.execute(data)


@pytest.mark.parametrize("times", [(1, None), (None, 2**63)])
def test_expiration_by_timestamp_is_not_supported(world, times):
    expiration = ValidDuring(3, 3, *times, bytes(32), 0)
    with pytest.raises(TransactionRefused) as caught:
        world.execute(replace(world.data(of(NOTHING)), expiration=expiration))
    assert caught.value.message == (
        "Feature is not supported: Timestamp-based transaction expiration is not yet supported"
    )


def test_allowed_proposers_are_not_supported(world):
    expiration = Validity(3, 3, None, None, bytes(32), 0, (3, (0,)))
    with pytest.raises(TransactionRefused, match="Feature is not supported"):
        world.execute(replace(world.data(of(NOTHING)), expiration=expiration))


def test_nonce_changes_the_digest(world):
    expirations = [ValidDuring(3, 3, None, None, bytes(32), nonce) for nonce in (1, 2)]
    first, second = (
        replace(world.data(of(NOTHING)), expiration=expiration) for expiration in expirations
    )
    assert first.digest() != second.digest()


def test_transaction_without_commands_only_pays(world):
    result = world.succeed(of())
    assert set(result.written) == {world.gas}
