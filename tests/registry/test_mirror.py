"""What Python knows of the Move package is what its sources say."""

import dataclasses
import inspect
from typing import get_args

import pytest

from nexus_tools.registry import ABORTS, RegistryEvent, calls, objects
from nexus_tools.registry.events import EVENTS
from nexus_tools.sui.address import Address

# Move structs and the Python classes of another name.
CLASS_OF = {
    ("tool_registry", "ToolRegistry"): "ToolRegistryObject",
    ("tool_registry", "Settings"): "ToolSettings",
    ("leader_registry", "LeaderRegistry"): "LeaderRegistryObject",
    ("leader_registry", "Settings"): "LeaderSettings",
}
# Move fields and the Python fields of another name: an amount says its unit.
FIELD_OF = {("Bond", "balance"): "balance_mist", ("Invocation", "funds"): "funds_mist"}


def test_every_error_constant_has_its_sentence_at_its_number(move_modules):
    stated = {
        module.name: [(number, name, sentence) for name, number, sentence in module.errors]
        for module in move_modules.values()
        if module.errors
    }
    mirrored = {
        module: [(number, each.name, each.sentence) for number, each in enumerate(reasons)]
        for module, reasons in ABORTS.items()
    }
    assert mirrored == stated


def test_every_error_says_what_to_do_with_a_class_of_its_own():
    for reasons in ABORTS.values():
        assert all(each.code.islower() and each.kind.exit_code > 1 for each in reasons)
        assert len({each.code for each in reasons}) == len(reasons)


def test_every_struct_of_an_object_has_the_fields_of_the_source(move_modules):
    for module in move_modules.values():
        if module.name == "events":
            continue
        for name, fields in module.structs.items():
            cls = getattr(objects, CLASS_OF.get((module.name, name), name))
            expected = [FIELD_OF.get((name, field), field) for field, _ in fields]
            assert [field.name for field in dataclasses.fields(cls)] == expected


PYTHON_TYPES = {
    "ID": Address,
    "address": Address,
    "String": str,
    "string::String": str,
    "u64": int,
    "bool": bool,
    "vector<ID>": tuple[Address, ...],
    "Option<vector<address>>": tuple[Address, ...] | None,
}


def test_every_event_has_the_fields_and_types_of_the_source(move_modules):
    stated = {
        name: [(field, PYTHON_TYPES[kind]) for field, kind in fields]
        for name, fields in move_modules["events"].structs.items()
    }
    mirrored = {
        kind.__name__: [(field.name, field.type) for field in dataclasses.fields(kind)]
        for kind in get_args(RegistryEvent)
    }
    assert mirrored == stated
    assert set(EVENTS) == set(stated)


# No transaction can get hold of these: they only exist inside of objects, or as references.
UNREACHABLE = ("&Bond", "&Settings", "&mut Bond", "&VecMap<String, Value>", "&Definition", "&Ports")


def is_callable_from_a_transaction(module, function):
    if function.returns.startswith("&"):
        return False
    taken = [kind for kind in function.parameters if kind in UNREACHABLE]
    # Ports are made by `value::ports` and lent to `value::size`.
    return not taken or (module, function.name) == ("value", "size")


@pytest.mark.parametrize(
    "module", ["fqn", "value", "tool_registry", "tool", "leader_registry", "invocation"]
)
def test_every_public_function_has_its_call_and_no_call_is_without_function(move_modules, module):
    expected = {
        function.name
        for function in move_modules[module].functions
        if is_callable_from_a_transaction(module, function)
    }
    room = getattr(calls, module)
    made = {
        name
        for name, value in vars(room).items()
        if inspect.isfunction(value) and value.__module__ == room.__name__ and name[0] != "_"
    } - {"make_ports"}
    assert made == expected


def test_nothing_of_bond_and_events_can_be_called(move_modules):
    for module in ("bond", "events"):
        for function in move_modules[module].functions:
            assert not is_callable_from_a_transaction(module, function)
