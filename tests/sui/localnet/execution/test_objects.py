"""The fate of objects: shared, frozen, wrapped, deleted, sent to objects, dynamic fields."""

import pytest

from nexus_tools.sui.bcs import u64
from nexus_tools.sui.types.digest import dynamic_field_id
from nexus_tools.sui.types.effects import Absent, IdOperation, InputState, ObjectWrite, ReadOnlyRoot
from nexus_tools.sui.types.execution_status import (
    ArgumentErrorKind,
    CommandArgumentError,
    ErrorKind,
)
from nexus_tools.sui.types.object import (
    AddressOwner,
    ConsensusAddressOwner,
    Immutable,
    ObjectOwner,
    Shared,
)
from nexus_tools.sui.types.type_tag import TYPE_TAG, Primitive

U64_TYPE = TYPE_TAG.encode(Primitive.U64)


def change_of(result, object_id):
    return dict(result.effects.changed_objects)[object_id]


def call(world, function, *objects, values=(), **options):
    """Run one call on objects and u64s, without results."""
    from nexus_tools.sui.transaction_builder import TransactionBuilder

    builder = TransactionBuilder()
    arguments = [builder.resolved(world.argument(value)) for value in objects]
    arguments += [builder.u64(value) for value in values]
    world.call(builder, function, arguments)
    return world.run(builder, **options)


# --- Sharing and freezing


def test_new_shared_object_has_the_transactions_version(probed, build):
    thing = probed.call(build, "new_thing", [build.u64(1)])
    probed.call(build, "share_thing", [thing])
    result = probed.succeed(build)
    shared = next(v for v in result.written.values() if v.id != probed.gas)
    version = result.effects.lamport_version
    assert (shared.owner, shared.version) == (Shared(version), version)


def test_existing_object_cannot_be_shared(probed):
    thing = probed.new_thing()
    status = call(probed, "share_thing", thing).effects.status
    assert status.error.kind is ErrorKind.MOVE_ABORT
    location = status.error.data.location
    assert (location.module, location.function_name) == ("transfer", "share_object_impl")
    assert status.error.data.code == 0


def test_shared_object_keeps_its_initial_version(probed):
    before = probed.store.get(probed.box).owner
    result = call(probed, "bump", probed.box)
    after = probed.store.get(probed.box)
    assert after.owner == before
    assert after.version == result.effects.lamport_version
    assert probed.value(probed.box) == 1


def test_read_only_shared_object_is_reported_as_unchanged(probed, build):
    box = probed.store.get(probed.box)
    probed.call(build, "count", [build.resolved(probed.argument(probed.box, mutable=False))])
    effects = probed.succeed(build).effects
    assert effects.unchanged_consensus_objects == (
        (probed.box, ReadOnlyRoot(box.version, box.digest())),
    )
    assert probed.box not in dict(effects.changed_objects)
    assert box.previous_transaction in effects.dependencies


def test_shared_object_is_deleted_by_value(probed):
    result = call(probed, "delete_box", probed.box)
    assert change_of(result, probed.box).operation is IdOperation.DELETED
    assert probed.store.get(probed.box) is None


def test_shared_object_is_shared_again_at_its_initial_version(probed):
    before = probed.store.get(probed.box).owner
    call(probed, "reshare_box", probed.box)
    assert probed.store.get(probed.box).owner == before


def test_shared_object_cannot_be_frozen(probed):
    status = call(probed, "freeze_box", probed.box).effects.status
    assert status.error.kind is ErrorKind.SHARED_OBJECT_OPERATION_NOT_ALLOWED
    assert status.command is None


def test_frozen_object_can_be_read_but_not_changed(probed, build):
    thing = probed.new_thing(4)
    call(probed, "freeze_thing", thing)
    assert probed.store.get(thing).owner == Immutable()
    gas = probed.coin(probed.BOB, 9 * probed.SUI)
    argument = build.resolved(probed.argument(thing))
    probed.call(build, "value", [argument])
    probed.succeed(build, sender=probed.BOB, payment=(gas,))
    status = call(probed, "set", thing, values=(1,)).effects.status
    wrong = CommandArgumentError(0, ArgumentErrorKind.INVALID_OBJECT_BY_MUT_REF)
    assert status.error.data == wrong


def test_party_object_belongs_to_an_address_under_consensus(probed, build):
    thing = probed.call(build, "new_thing", [build.u64(1)])
    probed.call(build, "party_thing", [thing, build.address(probed.ALICE)])
    result = probed.succeed(build)
    party = next(v for v in result.written.values() if v.id != probed.gas)
    version = result.effects.lamport_version
    assert party.owner == ConsensusAddressOwner(version, probed.ALICE)
    assert call(probed, "set", party.id, values=(9,)).effects.lamport_version > version
    assert probed.value(party.id) == 9
    assert probed.store.get(party.id).owner == ConsensusAddressOwner(version, probed.ALICE)


# --- Wrapping and deleting


def wrap(world, thing):
    from nexus_tools.sui.transaction_builder import TransactionBuilder

    builder = TransactionBuilder()
    wrapper = world.call(builder, "wrap", [builder.resolved(world.argument(thing))])
    builder.transfer_objects([wrapper], world.ALICE)
    result = world.succeed(builder)
    return result, next(
        v.id for v in result.written.values() if v.type is not None and v.type.name == "Wrapper"
    )


def test_wrapped_object_is_removed_but_not_deleted(probed):
    thing = probed.new_thing()
    before = probed.store.get(thing)
    result, wrapper = wrap(probed, thing)
    change = change_of(result, thing)
    assert change.input == InputState(before.version, before.digest(), before.owner)
    assert (change.output, change.operation) == (Absent(), IdOperation.NONE)
    assert result.removed == {thing: before}
    assert change_of(result, wrapper).operation is IdOperation.CREATED


def test_unwrapped_object_appears_without_being_created(probed, build):
    thing = probed.new_thing()
    _, wrapper = wrap(probed, thing)
    inner = probed.call(build, "unwrap", [build.resolved(probed.argument(wrapper))])
    build.transfer_objects([inner], probed.ALICE)
    result = probed.succeed(build)
    change = change_of(result, thing)
    assert isinstance(change.output, ObjectWrite)
    assert (change.input, change.operation) == (Absent(), IdOperation.NONE)
    assert change_of(result, wrapper).operation is IdOperation.DELETED


def test_object_unwrapped_and_deleted_is_shown_as_deleted(probed, build):
    thing = probed.new_thing()
    _, wrapper = wrap(probed, thing)
    inner = probed.call(build, "unwrap", [build.resolved(probed.argument(wrapper))])
    probed.call(build, "destroy", [inner])
    change = change_of(probed.succeed(build), thing)
    assert (change.input, change.output) == (Absent(), Absent())
    assert change.operation is IdOperation.DELETED


def test_object_created_and_deleted_is_not_in_the_effects(probed, build):
    thing = probed.call(build, "new_thing", [build.u64(1)])
    probed.call(build, "destroy", [thing])
    result = probed.succeed(build)
    assert [object_id for object_id, _ in result.effects.changed_objects] == [probed.gas]


# --- Dynamic fields


def test_dynamic_field_is_an_object_of_its_parent(probed):
    thing = probed.new_thing()
    result = call(probed, "add_field", thing, values=(3, 77))
    field_id = dynamic_field_id(thing, U64_TYPE, u64.encode(3))
    field = result.written[field_id]
    assert field.owner == ObjectOwner(thing)
    assert field.data.contents == bytes(field_id) + u64.encode(3) + u64.encode(77)
    assert str(field.type).endswith("::dynamic_field::Field<u64, u64>")
    assert change_of(result, field_id).operation is IdOperation.CREATED


def test_field_is_read_without_a_change(probed, build):
    thing = probed.new_thing()
    call(probed, "add_field", thing, values=(3, 77))
    argument = build.resolved(probed.argument(thing))
    value = probed.call(build, "field", [argument, build.u64(3)])
    probed.call(build, "expect", [value, build.u64(77)])
    result = probed.succeed(build)
    assert set(result.written) == {thing, probed.gas}


def test_changed_field_gets_the_transactions_version(probed):
    thing = probed.new_thing()
    call(probed, "add_field", thing, values=(3, 77))
    result = call(probed, "set_field", thing, values=(3, 78))
    field_id = dynamic_field_id(thing, U64_TYPE, u64.encode(3))
    assert result.written[field_id].version == result.effects.lamport_version
    assert isinstance(change_of(result, field_id).input, InputState)


def test_field_written_with_its_old_value_is_unchanged(probed):
    thing = probed.new_thing()
    call(probed, "add_field", thing, values=(3, 77))
    result = call(probed, "set_field", thing, values=(3, 77))
    assert set(result.written) == {thing, probed.gas}


def test_removed_field_is_deleted(probed, build):
    thing = probed.new_thing()
    call(probed, "add_field", thing, values=(3, 77))
    argument = build.resolved(probed.argument(thing))
    probed.call(build, "remove_field", [argument, build.u64(3)])
    result = probed.succeed(build)
    field_id = dynamic_field_id(thing, U64_TYPE, u64.encode(3))
    assert change_of(result, field_id).operation is IdOperation.DELETED
    assert field_id in result.removed


def test_field_removed_and_added_again_is_changed(probed, build):
    thing = probed.new_thing()
    call(probed, "add_field", thing, values=(3, 77))
    argument = build.resolved(probed.argument(thing))
    probed.call(build, "remove_field", [argument, build.u64(3)])
    probed.call(build, "add_field", [argument, build.u64(3), build.u64(78)])
    result = probed.succeed(build)
    change = change_of(result, dynamic_field_id(thing, U64_TYPE, u64.encode(3)))
    assert isinstance(change.input, InputState)
    assert isinstance(change.output, ObjectWrite)
    assert change.operation is IdOperation.NONE


@pytest.mark.parametrize(
    ("function", "values", "code"),
    [
        ("add_field", (3, 1), 0),  # it exists
        ("set_field", (4, 1), 1),  # it does not exist
        ("remove_field", (4,), 1),
        ("field_as_bool", (3,), 2),  # of another type
    ],
)
def test_wrong_uses_of_fields_abort(probed, function, values, code):
    thing = probed.new_thing()
    call(probed, "add_field", thing, values=(3, 77))
    error = call(probed, function, thing, values=values).effects.status.error
    assert (error.kind, error.data.code) == (ErrorKind.MOVE_ABORT, code)
    assert error.data.location.module == "dynamic_field"


def test_object_in_a_field_keeps_its_id(probed, build):
    parent, child = probed.new_thing(1), probed.new_thing(2)
    arguments = [build.resolved(probed.argument(value)) for value in (parent, child)]
    probed.call(build, "add_object_field", [arguments[0], build.u64(5), arguments[1]])
    result = probed.succeed(build)
    owner = result.written[child].owner
    assert isinstance(owner, ObjectOwner)
    assert result.written[owner.parent].owner == ObjectOwner(parent)
    taken = type(build)()
    argument = taken.resolved(probed.argument(parent))
    value = probed.call(taken, "remove_object_field", [argument, taken.u64(5)])
    taken.transfer_objects([value], probed.BOB)
    result = probed.succeed(taken)
    assert result.written[child].owner == AddressOwner(probed.BOB)
    assert change_of(result, child).operation is IdOperation.NONE


# --- Receiving


def test_object_sent_to_an_object_is_received(probed, build):
    parent = probed.new_thing(1)
    child = probed.new_thing(2, owner=parent)
    maker = probed.store.get(child).previous_transaction
    ticket = build.resolved(probed.receiving(child))
    parent_argument = build.resolved(probed.argument(parent))
    value = probed.call(build, "receive", [parent_argument, ticket])
    build.transfer_objects([value], probed.BOB)
    result = probed.succeed(build)
    assert probed.store.get(child).owner == AddressOwner(probed.BOB)
    assert isinstance(change_of(result, child).input, InputState)
    assert maker in result.effects.dependencies


def test_object_of_another_owner_cannot_be_received(probed, build):
    parent, other = probed.new_thing(1), probed.new_thing(2)
    arguments = [build.resolved(probed.argument(parent)), build.resolved(probed.receiving(other))]
    build.transfer_objects([probed.call(build, "receive", arguments)], probed.ALICE)
    kind, abort, _ = probed.fail(build)
    assert (kind, abort.code) == (ErrorKind.MOVE_ABORT, 3)
    assert abort.location.function_name == "receive_impl"


def test_ticket_may_be_unused(probed, build):
    parent = probed.new_thing(1)
    child = probed.new_thing(2, owner=parent)
    build.resolved(probed.receiving(child))
    probed.call(build, "nothing")
    probed.succeed(build)
    assert probed.store.get(child).owner == AddressOwner(parent)


def test_ticket_is_not_an_object(probed, build):
    child = probed.new_thing(2, owner=probed.new_thing(1))
    probed.call(build, "destroy", [build.resolved(probed.receiving(child))])
    wrong = CommandArgumentError(0, ArgumentErrorKind.TYPE_MISMATCH)
    assert probed.fail_argument(build) == (wrong, 0)
