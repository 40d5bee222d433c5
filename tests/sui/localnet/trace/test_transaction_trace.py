import pytest

from nexus_tools.sui.bytecode import Opcode, deserialize
from nexus_tools.sui.localnet.compiler import read_sources
from nexus_tools.sui.localnet.trace import (
    CallStatus,
    CallTrace,
    ChangeKind,
    EventTrace,
)
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import SUI_FRAMEWORK, Address
from nexus_tools.sui.types.execution_status import ErrorKind
from nexus_tools.sui.types.object import AddressOwner, Shared
from nexus_tools.sui.types.transaction import InputArgument
from nexus_tools.sui.types.type_tag import Primitive

BOB = Address.of(0xB0B)
U64 = Primitive.U64


def kinds(trace, world):
    """Return the changes of objects of the sample's types."""
    return {
        changed.type.name: changed.kind
        for changed in trace.objects
        if changed.type is not None and changed.type.address == world.package
    }


def opcode_at(world, location):
    module = deserialize(world.modules[0])
    code = module.function_definitions[location.function].code
    return code.instructions[location.instruction].opcode


# --- Calls


def test_call_contains_arguments_results_and_nested_calls_in_order(
    world, described, root, contents
):
    call = root(world.trace(world.run("increase", world.counter, (world.u64, 5))))
    assert described(call) == "counter::increase"
    assert call.function.package == world.package
    assert list(map(described, call.steps)) == [
        "counter::check",
        "counter::sum",
        "event::emit",
        "event Increased",
    ]
    check, add, emit = call.calls
    assert (contents(check.arguments), contents(check.results)) == ([5], [])
    assert (contents(add.arguments), contents(add.results)) == ([0, 5], [5])
    assert emit.function.is_native
    assert emit.type_arguments == (world.tag("Increased"),)
    assert contents(call.results) == [5]
    assert {item.status for item in (call, *call.calls)} == {CallStatus.RETURNED}


def test_borrowed_argument_has_values_before_and_after(world, root):
    call = root(world.trace(world.run("increase", world.counter, (world.u64, 5))))
    counter, by = call.arguments
    assert str(counter.type) == f"&mut {world.tag('Counter')}"
    assert counter.value["id"].content == world.counter
    assert counter.value["name"].content == "first"
    assert counter.value["status"].content.variant == "Idle"
    assert (counter.value["value"].content, counter.after["value"].content) == (0, 5)
    assert by.after is None


def test_unchanged_argument_has_no_after(world, root):
    call = root(world.trace(world.run("climb", world.counter, (world.u64, 0))))
    assert call.arguments[0].after is None


def test_generic_call_has_type_arguments_and_concrete_types(world, root, contents):
    given = ((world.vector(world.u64), [8, 9]), (world.u64, 7))
    call = root(world.trace(world.run("first_or", *given, types=(U64,))))
    assert call.type_arguments == (U64,)
    assert [str(argument.type) for argument in call.arguments] == ["vector<u64>", "u64"]
    assert [element.content for element in call.arguments[0].value.content] == [8, 9]
    assert contents(call.results) == [8]


@pytest.mark.parametrize(("given", "result"), [(10, 10), (9, None)])
def test_option_is_its_value_or_none(world, given, result, root):
    call = root(world.trace(world.run("maybe", (world.u64, given))))
    content = call.results[0].value.content
    assert (content and content.content) == result


def test_gas_of_a_call_separates_own_and_total(world, root):
    trace = world.trace(world.run("increase", world.counter, (world.u64, 5)))
    call = root(trace)
    assert call.gas.own > 0
    assert call.gas.total == call.gas.own + sum(entry.gas.total for entry in call.calls)
    command = trace.commands[0]
    assert command.gas.total == command.gas.own + call.gas.total
    assert [entry.gas.total == entry.gas.own for entry in call.calls] == [True] * 3


def test_function_with_twice_the_work_uses_twice_the_gas(world, root):
    once, twice, thrice = (
        root(world.trace(world.run("repeat", (world.u64, times)))).gas.total for times in (1, 2, 3)
    )
    assert twice - once == thrice - twice > 0


# --- Commands


def test_commands_have_arguments_and_results(world):
    builder = TransactionBuilder()
    coins = builder.split_coins(builder.gas, [3, 4])
    builder.merge_coins(coins[0], [coins[1]])
    builder.transfer_objects([coins[0]], BOB)
    split, merge, transfer = world.trace(world.send(builder)).commands
    assert [argument.value.content for argument in split.arguments[1:]] == [3, 4]
    assert [argument.argument for argument in split.arguments[1:]] == [
        InputArgument(0),
        InputArgument(1),
    ]
    taken = split.arguments[0]
    assert taken.value["balance"].content - taken.after["balance"].content == 7
    assert [result["balance"].content for result in split.results] == [3, 4]
    assert merge.arguments[0].after["balance"].content == 7
    assert transfer.arguments[0].value["balance"].content == 7
    assert transfer.arguments[1].value.content == BOB
    assert transfer.results == ()


def test_values_pass_from_command_to_command(world):
    builder = TransactionBuilder()
    counter = world.call(builder, "new", (world.text, "second"))
    world.call(builder, "increase", counter, (world.u64, 1))
    world.call(builder, "delete", counter)
    new, increase, delete = world.trace(world.send(builder)).commands
    assert new.results[0]["name"].content == "second"
    assert increase.arguments[0].value == new.results[0]
    assert delete.arguments[0].value == increase.arguments[0].after


def test_pure_vector_has_the_element_type(world):
    builder = TransactionBuilder()
    numbers = builder.make_move_vec([builder.u64(6)], U64)
    world.call(builder, "first_or", numbers, (world.u64, 7), types=(U64,))
    vector, call = world.trace(world.send(builder)).commands
    assert vector.arguments[0].value.content == 6
    assert [element.content for element in vector.results[0].content] == [6]
    assert call.results[0].content == 6


def test_publish_contains_the_package_and_its_initializers(world, described, root):
    trace = world.trace(world.publishing)
    publish = trace.commands[0]
    assert publish.package == world.package
    assert [described(step) for step in publish.steps] == ["counter::init"]
    assert [described(step) for step in root(trace).steps if isinstance(step, EventTrace)] == [
        "event Started"
    ]
    assert publish.results[0]["package"].content == world.package
    published = [entry for entry in trace.objects if entry.kind is ChangeKind.PUBLISHED]
    assert [(item.object_id, item.version) for item in published] == [(world.package, 1)]


def test_functions_of_an_upgraded_package_have_the_called_version(world, root):
    trace = world.trace(world.upgrade())
    upgraded = trace.commands[1].package
    assert upgraded not in (None, world.package)
    builder = TransactionBuilder()
    counter = world.object(builder, world.counter)
    builder.move_call(upgraded, "counter", "increase", [counter, builder.u64(3)])
    call = root(world.trace(world.send(builder)))
    assert {item.function.package for item in (call, *call.calls[:2])} == {upgraded}
    assert call.arguments[0].value.type == world.tag("Counter")


# --- Failures


def test_abort_has_its_location_constant_and_line(world, root):
    executed = world.run("increase", world.counter, (world.u64, 4))
    trace = world.trace(executed)
    failure = trace.failure
    assert (failure.error.kind, failure.command) == (ErrorKind.MOVE_ABORT, 0)
    assert (failure.location.module, failure.location.function_name) == ("counter", "check")
    assert opcode_at(world, failure.location) is Opcode.ABORT
    clever = failure.clever_error
    assert (clever.constant_name, clever.rendered) == ("ENotOdd", "The number must be odd")
    assert clever.line_number == world.line("assert!(by % 2 == 1, ENotOdd)")
    call = root(trace)
    assert [trace.commands[0].status, call.status] == [CallStatus.UNWOUND] * 2
    assert [entry.status for entry in call.calls] == [CallStatus.FAILED]
    assert call.arguments[0].after is None


def test_plain_abort_code_is_a_number(world):
    note = ((world.u8, 1), (world.bytes, b"a"))
    world.run("note", world.counter, *note)
    trace = world.trace(world.run("note", world.counter, *note))
    assert (trace.failure.abort_code, trace.failure.clever_error) == (7, None)


def test_abort_in_a_native_function_names_that_function(world):
    trace = world.trace(world.run("read_note", world.counter, (world.u8, 9)))
    assert trace.failure.abort_code == 1  # EFieldDoesNotExist of sui::dynamic_field
    assert trace.failure.location.module == "dynamic_field"
    (failed,) = [call for call in trace.calls() if call.status is CallStatus.FAILED]
    assert failed.function.module.address == SUI_FRAMEWORK
    assert failed.function.is_native


def test_failing_instruction_has_its_location(world, root):
    trace = world.trace(world.run("divide", (world.u64, 1), (world.u64, 0)))
    assert trace.failure.error.kind is ErrorKind.MOVE_PRIMITIVE_RUNTIME_ERROR
    assert opcode_at(world, trace.failure.location) is Opcode.DIV
    assert root(trace).status is CallStatus.FAILED


def test_commands_after_the_failed_one_are_not_run(world):
    builder = TransactionBuilder()
    world.call(builder, "repeat", (world.u64, 1))
    world.call(builder, "divide", (world.u64, 1), (world.u64, 0))
    world.call(builder, "repeat", (world.u64, 1))
    trace = world.trace(world.send(builder))
    assert [command.status for command in trace.commands] == [
        CallStatus.RETURNED,
        CallStatus.UNWOUND,
        CallStatus.NOT_RUN,
    ]
    assert trace.failure.command == 1


def test_command_that_fails_by_itself_has_status_failed(world):
    builder = TransactionBuilder()
    builder.transfer_objects([builder.split_coins(builder.gas, [2**63])[0]], world.address)
    trace = world.trace(world.send(builder))
    assert trace.commands[0].status is CallStatus.FAILED
    assert trace.failure.error.kind is ErrorKind.INSUFFICIENT_COIN_BALANCE
    assert trace.commands[0].arguments[1].value.content == 2**63


def test_unused_result_fails_before_all_commands(world):
    builder = TransactionBuilder()
    world.call(builder, "new", (world.text, "lost"))
    trace = world.trace(world.send(builder))
    assert trace.failure.error.kind is ErrorKind.UNUSED_VALUE_WITHOUT_DROP
    assert [command.status for command in trace.commands] == [CallStatus.NOT_RUN]


def test_command_with_a_failed_check_has_status_failed_and_none_was_run(world):
    builder = TransactionBuilder()
    world.call(builder, "new", (world.text, "first"))
    builder.transfer_objects([InputArgument(7)], world.address)
    trace = world.trace(world.send(builder))
    assert trace.failure.error.kind is ErrorKind.COMMAND_ARGUMENT_ERROR
    assert [command.status for command in trace.commands] == [CallStatus.NOT_RUN, CallStatus.FAILED]


def test_out_of_gas_is_shown_where_it_happened(world, described):
    trace = world.trace(world.run("repeat", (world.u64, 10**9), budget=2_000_000))
    assert trace.failure.error.kind is ErrorKind.INSUFFICIENT_GAS
    failed = [call for call in trace.calls() if call.status is CallStatus.FAILED]
    assert len(failed) == 1
    assert described(failed[0]) in ("counter::check", "counter::repeat")


def test_aborting_initializer_is_shown(world, move_builder):
    sources = dict(read_sources(world.SAMPLE))
    path = "sources/counter.move"
    changed = sources[path].replace(
        "    event::emit(Started", "    check(2);\n    event::emit(Started"
    )
    modules = move_builder.build({**sources, path: changed}).modules
    builder = TransactionBuilder()
    cap = builder.publish(modules, [Address.of(1), Address.of(2)])
    builder.transfer_objects([cap], world.address)
    trace = world.trace(world.send(builder))
    publish = trace.commands[0]
    assert (publish.status, publish.package) == (CallStatus.UNWOUND, None)
    assert trace.failure.clever_error.constant_name == "ENotOdd"
    assert [call.status for call in trace.calls()] == [CallStatus.UNWOUND, CallStatus.FAILED]


# --- Objects


def test_objects_are_created_mutated_transferred_and_deleted(world):
    builder = TransactionBuilder()
    counter = world.call(builder, "new", (world.text, "second"))
    builder.transfer_objects([counter], world.address)
    executed = world.succeed(builder)
    assert kinds(world.trace(executed), world) == {"Counter": ChangeKind.CREATED}
    second = world.created(executed, "Counter")
    mutated = world.run("increase", second, (world.u64, 1))
    assert kinds(world.trace(mutated), world) == {"Counter": ChangeKind.MUTATED}
    builder = TransactionBuilder()
    builder.transfer_objects([world.object(builder, world.counter)], BOB)
    trace = world.trace(world.succeed(builder))
    moved = next(entry for entry in trace.objects if entry.object_id == world.counter)
    assert moved.kind is ChangeKind.TRANSFERRED
    assert (moved.owner_before, moved.owner) == (AddressOwner(world.address), AddressOwner(BOB))
    assert moved.version > moved.version_before
    deleted = world.trace(world.run("delete", second))
    gone = next(entry for entry in deleted.objects if entry.object_id == second)
    assert (gone.kind, gone.version, gone.owner) == (ChangeKind.DELETED, None, None)


def test_shared_object_has_its_initial_version(world):
    builder = TransactionBuilder()
    world.call(builder, "share", world.call(builder, "new", (world.text, "ours")))
    executed = world.succeed(builder)
    trace = world.trace(executed)
    (shared,) = [entry for entry in trace.objects if entry.type == world.tag("Counter")]
    assert shared.kind is ChangeKind.CREATED
    assert shared.owner == Shared(executed.effects.lamport_version)


def test_objects_are_wrapped_and_unwrapped(world):
    wrapped = world.run("wrap", world.counter)
    assert kinds(world.trace(wrapped), world) == {
        "Counter": ChangeKind.WRAPPED,
        "Box": ChangeKind.CREATED,
    }
    builder = TransactionBuilder()
    counter = world.call(builder, "unwrap", world.created(wrapped, "Box"))
    builder.transfer_objects([counter], world.address)
    assert kinds(world.trace(world.succeed(builder)), world) == {
        "Counter": ChangeKind.UNWRAPPED,
        "Box": ChangeKind.DELETED,
    }


def test_unwrapped_object_can_be_deleted_in_the_same_transaction(world):
    wrapped = world.run("wrap", world.counter)
    builder = TransactionBuilder()
    world.call(builder, "delete", world.call(builder, "unwrap", world.created(wrapped, "Box")))
    trace = world.trace(world.succeed(builder))
    changed = next(entry for entry in trace.objects if entry.object_id == world.counter)
    assert changed.kind is ChangeKind.UNWRAPPED_THEN_DELETED


# --- Limits


def test_calls_are_recorded_to_a_depth_of_100(world):
    trace = world.trace(world.run("climb", world.counter, (world.u64, 500)))
    climbs = trace.calls("counter::climb")
    assert (len(climbs), trace.left_out) == (100, 401)  # 500 down to 0 are 501 calls
    assert climbs[-1].left_out == 401
    assert climbs[0].arguments[0].after["value"].content == 500


def test_stack_overflow_is_traced(world):
    trace = world.trace(world.run("climb", world.counter, (world.u64, 2_000)))
    assert trace.failure.error.kind is ErrorKind.MOVE_PRIMITIVE_RUNTIME_ERROR
    assert {call.status for call in trace.calls()} == {CallStatus.UNWOUND}
    assert len(trace.calls()) == 100


def test_truncated_values_show_no_changes(world, monkeypatch):
    monkeypatch.setattr("nexus_tools.sui.localnet.trace.value_reader.MAX_NODES_TOTAL", 40)
    monkeypatch.setattr("nexus_tools.sui.localnet.trace.value_reader.MAX_NODES", 40)
    trace = world.trace(world.run("climb", world.counter, (world.u64, 3)))
    assert {call.arguments[0].after for call in trace.calls()} == {None}


def test_calls_above_the_limit_are_recorded_only_when_they_fail(world, monkeypatch, described):
    monkeypatch.setattr("nexus_tools.sui.localnet.trace.call_recorder.MAX_CALLS", 3)
    builder = TransactionBuilder()
    world.call(builder, "repeat", (world.u64, 5))
    world.call(builder, "increase", world.counter, (world.u64, 5))
    world.call(builder, "increase", world.counter, (world.u64, 4))
    trace = world.trace(world.send(builder))
    kept = [(described(call), call.status) for call in trace.calls()]
    assert kept == [
        ("counter::repeat", CallStatus.RETURNED),
        ("counter::check", CallStatus.RETURNED),
        ("counter::check", CallStatus.RETURNED),
        ("counter::increase", CallStatus.UNWOUND),
        ("counter::check", CallStatus.FAILED),
    ]
    assert trace.left_out == 3 + 4
    steps = trace.commands[1].steps
    assert [isinstance(step, CallTrace) for step in steps] == [False]  # its event
