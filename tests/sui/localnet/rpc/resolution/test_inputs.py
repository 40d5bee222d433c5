"""The resolution of incomplete inputs by a node. Every transaction goes over gRPC."""

import grpc
import pytest

from nexus_tools.sui.types.address import Address

PURE, OWNED, SHARED, RECEIVING = 1, 2, 3, 4
IMMUTABLE, MUTABLE = 1, 2
INVALID, NOT_FOUND = grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND
CLOCK = {"object_id": "0x6"}
ABSENT = str(Address.of(0xDEAD))


def from_index(index):
    return {"kind": 2, "input": index}


def result(command):
    return {"kind": 3, "result": command}


def by_id(object_id):
    return {"object_id": str(object_id)}


def expect_refusal(call, *arguments, **options):
    with pytest.raises(grpc.RpcError) as caught:
        call(*arguments, **options)
    return caught.value.code(), caught.value.details()


def transfer(*objects, to):
    return {
        "transfer_objects": {"objects": [from_index(entry) for entry in objects], "address": to}
    }


def timestamp(desk):
    return desk.call("timestamp_ms", from_index(0), module="clock", package=Address.of(2))


def test_owned_object_gets_its_version_and_digest(probe):
    desk, _ = probe
    thing = desk.make_thing()
    (found,) = desk.inputs([by_id(thing)], [desk.call("value", from_index(0))])
    now = desk.object(thing)
    assert (found.kind, found.object_id) == (OWNED, thing)
    assert (found.version, found.digest) == (now.version, now.digest)


def test_frozen_object_is_resolved_like_an_owned_one(probe):
    desk, _ = probe
    thing = desk.make_thing()
    desk.run([by_id(thing)], [desk.call("freeze_thing", from_index(0))])
    (found,) = desk.inputs([by_id(thing)], [desk.call("value", from_index(0))])
    assert (found.kind, found.version) == (OWNED, desk.object(thing).version)


@pytest.mark.parametrize(
    ("function", "mutability"), [("count", IMMUTABLE), ("bump", MUTABLE), ("delete_box", MUTABLE)]
)
def test_shared_object_is_as_mutable_as_its_uses_require(probe, function, mutability):
    desk, box = probe
    (found,) = desk.inputs([by_id(box)], [desk.call(function, from_index(0))])
    assert (found.kind, found.object_id, found.mutability) == (SHARED, box, mutability)
    assert found.version == desk.object(box).owner.version


def test_one_mutable_use_is_sufficient(probe):
    desk, box = probe
    commands = [desk.call(item, from_index(0)) for item in ("count", "bump", "count")]
    (found,) = desk.inputs([by_id(box)], commands)
    assert found.mutability == MUTABLE


def test_mutability_from_the_client_is_ignored(probe):
    desk, box = probe
    said = {"kind": SHARED, "object_id": box, "version": 1, "mutable": True}
    (found,) = desk.inputs([said], [desk.call("count", from_index(0))])
    assert found.mutability == IMMUTABLE
    assert found.version == desk.object(box).owner.version


def test_complete_transaction_is_used_unchanged(probe):
    desk, box = probe
    simulated = desk.simulate([by_id(box)], [desk.call("count", from_index(0))]).transaction
    message = simulated.transaction
    message.ClearField("bcs")
    shared = message.kind.programmable_transaction.inputs[0]
    shared.mutability, shared.mutable = MUTABLE, True
    again = desk.client.call(
        "TransactionExecutionService/SimulateTransaction", transaction=message
    ).transaction
    assert again.transaction.kind.programmable_transaction.inputs[0].mutability == MUTABLE


def test_clock_is_resolved_and_the_transaction_executes(desk):
    simulated = desk.simulate([CLOCK], [timestamp(desk)])
    (clock,) = simulated.transaction.transaction.kind.programmable_transaction.inputs
    assert (clock.kind, clock.version, clock.mutability) == (SHARED, 1, IMMUTABLE)
    assert len(simulated.command_outputs[0].return_values[0].value.value) == 8
    desk.execute(simulated.transaction)


def test_object_for_a_ticket_is_received(probe):
    desk, _ = probe
    parent = desk.make_thing()
    child = desk.make_thing(owner=Address.parse(parent))
    commands = [
        desk.call("receive", from_index(0), from_index(1)),
        desk.call("destroy", {"kind": 3, "result": 0}),
    ]
    simulated = desk.simulate([by_id(parent), by_id(child)], commands).transaction
    first, second = simulated.transaction.kind.programmable_transaction.inputs
    assert (first.kind, second.kind) == (OWNED, RECEIVING)
    desk.execute(simulated)


def test_reference_to_a_ticket_counts_as_a_ticket(probe):
    """The function is `transfer::receiving_object_id<T>(&Receiving<T>)`."""
    desk, _ = probe
    child = desk.make_thing(owner=Address.parse(desk.make_thing()))
    receiving_id = desk.call(
        "receiving_object_id",
        from_index(0),
        module="transfer",
        package=Address.of(2),
        type_arguments=(f"{desk.package}::probe::Thing",),
    )
    simulated = desk.simulate([by_id(child)], [receiving_id]).transaction
    (ticket,) = simulated.transaction.kind.programmable_transaction.inputs
    assert ticket.kind == RECEIVING
    desk.execute(simulated)


def make_party_thing(desk):
    """Create a `Thing` that belongs to the account under consensus."""
    recipient = {"literal": {"string_value": str(desk.account.address)}}
    inputs = [{"literal": {"number_value": 7}}, recipient]
    new = desk.call("new_thing", from_index(0))
    return desk.make(new, desk.call("party_thing", result(0), from_index(1)), inputs=inputs)


def test_object_passed_by_value_is_mutable(probe):
    """`public_transfer<T>(T, address)` shows it by its type argument, a transfer by its kind."""
    desk, _ = probe
    recipient = {"literal": {"string_value": str(desk.account.address)}}
    call = desk.call(
        "public_transfer",
        from_index(0),
        from_index(1),
        module="transfer",
        package=Address.of(2),
        type_arguments=(f"{desk.package}::probe::Thing",),
    )
    for command in (call, transfer(0, to=from_index(1))):
        inputs = [by_id(make_party_thing(desk)), recipient]
        simulated = desk.simulate(inputs, [command]).transaction
        thing = simulated.transaction.kind.programmable_transaction.inputs[0]
        assert (thing.kind, thing.mutability) == (SHARED, MUTABLE)
        desk.execute(simulated)


def test_literals_take_the_types_of_their_uses(desk):
    """Amounts are u64 (5 = 05 and seven zeros), recipients are addresses."""
    inputs = [{"literal": {"string_value": "5"}}, {"literal": {"string_value": "0xb0b"}}]
    commands = [
        {"split_coins": {"coin": {"kind": 1}, "amounts": [from_index(0)]}},
        {
            "transfer_objects": {
                "objects": [{"kind": 3, "result": 0, "subresult": 0}],
                "address": from_index(1),
            }
        },
    ]
    simulated = desk.simulate(inputs, commands).transaction
    amount, recipient = simulated.transaction.kind.programmable_transaction.inputs
    assert (amount.kind, amount.pure.hex()) == (PURE, "05" + "00" * 7)
    assert (recipient.kind, recipient.pure.hex()) == (PURE, "00" * 30 + "0b0b")
    executed = desk.execute(simulated)
    assert executed.effects == simulated.effects
    assert executed.digest == simulated.transaction.digest


def test_literals_of_a_call_take_the_types_of_its_parameters(probe):
    """`lengths` of a string of 2 bytes, an ASCII string of 3, Some(4), and two rows of 1 and 2."""
    desk, _ = probe
    row = {"list_value": {"values": [{"number_value": 1}]}}
    inputs = [
        {"literal": {"string_value": "ü"}},
        {"literal": {"string_value": "abc"}},
        {"literal": {"string_value": "4"}},
        {"literal": {"list_value": {"values": [row]}}},
    ]
    found = desk.inputs(inputs, [desk.call("lengths", *map(from_index, range(4)))])
    assert [item.pure.hex() for item in found] == [
        "02c3bc",
        "03616263",
        "01" + "04" + "00" * 7,
        "010101",
    ]


def test_elements_of_a_vector_have_its_type(desk):
    inputs = [{"literal": {"number_value": 1}}]
    vector = {"make_move_vector": {"element_type": "u16", "elements": [from_index(0)]}}
    (found,) = desk.inputs(inputs, [vector])
    assert found.pure == b"\1\0"


def test_kind_is_resolved_before_its_sender_is_known(probe):
    """A sponsor completes such a transaction kind. It has no sender and is not checked."""
    desk, box = probe
    thing = desk.make_thing()
    options = {"select": False, "checks": 1, "sender": str(Address.of(0))}
    inputs = [by_id(box), by_id(thing)]
    commands = [desk.call("bump", from_index(0)), desk.call("value", from_index(1))]
    shared, owned = desk.inputs(inputs, commands, **options)
    assert (shared.kind, shared.mutability, owned.kind) == (SHARED, MUTABLE, OWNED)


# --- Rejected inputs


@pytest.mark.parametrize("kind", [None, OWNED, SHARED, RECEIVING])
def test_missing_object_is_not_found(desk, kind):
    fields = by_id(ABSENT) | ({"kind": kind} if kind else {})
    transferred = transfer(0, to={"kind": 1})
    assert expect_refusal(desk.simulate, [fields], [transferred]) == (
        NOT_FOUND,
        f"Object {ABSENT} not found",
    )


def test_missing_package_is_not_found(desk):
    command = desk.call("f", package=Address.parse(ABSENT))
    literal = {"literal": {"number_value": 1}}
    assert expect_refusal(desk.simulate, [literal], [command]) == (
        NOT_FOUND,
        f"Object {ABSENT} not found",
    )


def test_object_is_not_a_package(desk):
    found = expect_refusal(desk.simulate, [], [desk.call("f", package=Address.of(6))])
    assert found == (INVALID, f"object {Address.of(6)} is not a package")


def test_unknown_function_is_named(desk):
    command = desk.call("nothing", from_index(0), module="clock", package=Address.of(2))
    code, details = expect_refusal(desk.simulate, [CLOCK], [command])
    assert code is INVALID
    assert details == f"unable to find function {Address.of(2)}::clock::nothing"


def test_argument_beyond_the_parameters_is_refused(desk):
    clock = timestamp(desk)
    clock["move_call"]["arguments"] = [from_index(0)] * 3
    assert expect_refusal(desk.simulate, [CLOCK], [clock]) == (INVALID, "invalid input parameter")


def test_version_other_than_the_live_one_is_refused(probe):
    desk, _ = probe
    thing = desk.make_thing()
    now = desk.object(thing)
    stale = by_id(thing) | {"version": now.version - 1}
    code, details = expect_refusal(desk.simulate, [stale], [desk.call("value", from_index(0))])
    assert code is INVALID
    assert details == (
        f"provided version doesn't match, provided: Some({now.version - 1})"
        f" actual: {hex(now.version)}"
    )


def test_digest_other_than_the_live_one_is_refused(probe):
    desk, _ = probe
    thing = desk.make_thing()
    other = by_id(thing) | {"digest": "1" * 32}
    code, details = expect_refusal(desk.simulate, [other], [desk.call("value", from_index(0))])
    assert code is INVALID
    assert details.startswith("provided digest doesn't match")


def test_child_object_cannot_be_an_input(probe):
    desk, _ = probe
    parent, child = desk.make_thing(), desk.make_thing()
    key = {"literal": {"number_value": 1}}
    call = desk.call("add_object_field", *map(from_index, range(3)))
    desk.run([by_id(parent), key, by_id(child)], [call])
    assert expect_refusal(desk.simulate, [by_id(child)], [desk.call("value", from_index(0))]) == (
        INVALID,
        f"object {child} is object owned and cannot be used as an input",
    )


def test_kind_that_contradicts_the_owner_is_refused(probe):
    desk, box = probe
    thing = desk.make_thing()
    call = desk.call("value", from_index(0))
    assert expect_refusal(desk.simulate, [by_id(box) | {"kind": OWNED}], [call]) == (
        INVALID,
        f"object {box} is not Immutable or AddressOwned",
    )
    assert expect_refusal(desk.simulate, [by_id(thing) | {"kind": SHARED}], [call]) == (
        INVALID,
        f"object {thing} is not a shared or consensus object",
    )


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"kind": 0, "object_id": "0x6"},
        {"kind": PURE, "object_id": "0x6"},
        {"kind": PURE, "literal": {"number_value": 1}},
        {"pure": b"", "version": 1},
        {"pure": b"", "object_id": "0x6"},
        {"literal": {"number_value": 1}, "object_id": "0x6"},
        {"kind": OWNED, "object_id": "0x6", "mutable": True},
        {"kind": SHARED, "object_id": "0x6", "digest": "1" * 32},
    ],
)
def test_contradictory_fields_are_refused(desk, fields):
    found = expect_refusal(desk.simulate, [fields], [timestamp(desk)])
    assert found == (INVALID, "invalid unresolved input argument")


def test_objects_above_the_limit_are_not_looked_up(desk):
    code, details = expect_refusal(desk.simulate, [by_id(ABSENT)] * 2_049, [])
    assert code is INVALID
    assert details.endswith("maximum input + receiving objects in a transaction is 2048")


def test_unused_literal_has_no_type(desk):
    found = expect_refusal(desk.simulate, [{"literal": {"number_value": 1}}], [])
    assert found == (INVALID, "unable to determine type of literal")


def test_literal_has_one_type(desk):
    commands = [
        {"split_coins": {"coin": {"kind": 1}, "amounts": [from_index(0)]}},
        transfer(to=from_index(0)),
    ]
    code, details = expect_refusal(desk.simulate, [{"literal": {"string_value": "1"}}], commands)
    assert code is INVALID
    assert "multiple different types" in details


@pytest.mark.parametrize(
    "command",
    [
        transfer(0, to={"kind": 1}),
        {"merge_coins": {"coin": {"kind": 1}, "coins_to_merge": [from_index(0)]}},
        {"split_coins": {"coin": from_index(0), "amounts": []}},
    ],
)
def test_literal_is_not_an_object(desk, command):
    found = expect_refusal(desk.simulate, [{"literal": {"string_value": "0x6"}}], [command])
    assert found == (INVALID, "invalid use of literal")


@pytest.mark.parametrize("name", ["@mysten/kiosk", "kiosk@mysten.sui", "mysten.sui"])
def test_package_names_are_refused_with_an_explanation(desk, name):
    code, details = expect_refusal(desk.simulate, [], [desk.call("f", package=name)])
    assert code is INVALID
    assert "is a name" in details


def test_unresolved_transaction_cannot_be_executed(desk):
    wanted = desk.transaction([CLOCK], [timestamp(desk)])
    code, details = expect_refusal(
        desk.client.call,
        "TransactionExecutionService/ExecuteTransaction",
        transaction=wanted,
    )
    assert code is INVALID
    assert "not resolved" in details
