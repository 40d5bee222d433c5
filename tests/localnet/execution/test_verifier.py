"""Modules that break a rule of Sui, made by editing a module that keeps it."""

from dataclasses import replace

import pytest

from nexus_tools.localnet.bytecode import Opcode, deserialize
from nexus_tools.localnet.bytecode.module import Ability, Instruction
from nexus_tools.localnet.execution.errors import CommandFailed
from nexus_tools.localnet.execution.verifier import verify_module
from nexus_tools.sui.execution_status import ErrorKind


@pytest.fixture
def module(world):
    return deserialize(world.probe_modules["probe"])


def refused(module):
    with pytest.raises(CommandFailed) as failure:
        verify_module(module)
    assert failure.value.error.kind is ErrorKind.SUI_MOVE_VERIFICATION_ERROR
    return str(failure.value)


def with_abilities(module, name, abilities):
    handles = [
        replace(row, abilities=abilities) if module.identifiers[row.name] == name else row
        for row in module.datatype_handles
    ]
    return replace(module, datatype_handles=tuple(handles))


def test_a_module_that_keeps_the_rules_passes(module):
    verify_module(module)


def test_an_object_begins_with_its_id(module):
    assert "Note is not `id: UID`" in refused(with_abilities(module, "Note", Ability.KEY)).replace(
        "the first field of probe::", ""
    )


def test_the_first_field_is_called_id(module):
    renamed = tuple("key" if name == "id" else name for name in module.identifiers)
    assert "is not `id: UID`" in refused(replace(module, identifiers=renamed))


def test_an_event_is_emitted_by_the_module_of_its_type_alone(module):
    emitting = next(
        index
        for index, row in enumerate(module.function_instantiations)
        if module.function_id(row.target)[1:] == ("event", "emit")
    )
    foreign = next(
        index
        for index, tokens in enumerate(module.signatures)
        if len(tokens) == 1 and tokens[0] == "u64"
    )
    rows = list(module.function_instantiations)
    rows[emitting] = replace(rows[emitting], type_arguments=foreign)
    assert "event::emit" in refused(replace(module, function_instantiations=tuple(rows)))


def test_a_private_transfer_is_for_types_of_the_module_alone(module):
    public = next(
        index
        for index, row in enumerate(module.function_handles)
        if module.function_id(index)[1:] == ("transfer", "share_object")
    )
    thing = next(
        index
        for index, row in enumerate(module.function_instantiations)
        if module.function_id(row.target)[1:] == ("dynamic_field", "add")
    )
    rows = list(module.function_instantiations)
    rows[thing] = replace(rows[thing], target=public)
    assert "transfer::share_object" in refused(replace(module, function_instantiations=tuple(rows)))
    assert Instruction(Opcode.CALL_GENERIC, thing) in {
        instruction
        for function in module.function_definitions
        for instruction in function.code.instructions
    }


def test_code_whose_types_do_not_fit_fails_without_a_python_error(world, build):
    # Bytes in the place of a reference are what code could pass that no verifier has seen.
    package, _ = world.publish([world.probe_modules["probe"]])
    world.package = package.id
    original = world.executor.machine.call

    def confused(function, type_arguments, values, context):
        if function.name == "increment":
            values = [b"no reference"]
        return original(function, type_arguments, values, context)

    world.executor.machine.call = confused
    world.call(build, "increment", [build.u64(1)])
    assert world.fail(build)[0] is ErrorKind.VM_INVARIANT_VIOLATION
