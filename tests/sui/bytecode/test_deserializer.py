from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nexus_tools.sui.bytecode import (
    MalformedModule,
    Opcode,
    Visibility,
    declared_types,
    deserialize,
    deserialize_at,
)
from nexus_tools.sui.localnet.framework import load_framework


def functions_of(address):
    modules = [deserialize(data) for data in load_framework()[bytes(31) + bytes([address])].modules]
    return [function for module in modules for function in module.function_definitions]


def definitions_of(address):
    modules = [deserialize(data) for data in load_framework()[bytes(31) + bytes([address])].modules]
    structs = sum(len(module.struct_definitions) for module in modules)
    return structs, sum(len(module.enum_definitions) for module in modules)


# Counted in the framework's sources and by the JavaScript package @mysten/move-bytecode-template.
@pytest.mark.parametrize(
    ("address", "public", "natives"), [(1, 197, 21), (2, 584, 68), (3, 117, 1)]
)
def test_framework_has_function_count_of_its_sources(address, public, natives):
    functions = functions_of(address)
    assert sum(function.visibility is Visibility.PUBLIC for function in functions) == public
    assert sum(function.code is None for function in functions) == natives


@pytest.mark.parametrize("address", [1, 2, 3])
def test_declared_types_are_structs_then_enums(address):
    for data in load_framework()[bytes(31) + bytes([address])].modules:
        module = deserialize(data)
        rows = (*module.struct_definitions, *module.enum_definitions)
        types = tuple(module.datatype_id(row.handle)[2] for row in rows)
        assert declared_types(data) == (module.name, types)


def test_sui_framework_has_function_counts_by_kind_of_its_sources():
    functions = functions_of(2)
    assert Counter(function.visibility for function in functions) == {
        Visibility.PUBLIC: 584,
        Visibility.FRIEND: 96,
        Visibility.PRIVATE: 106,
    }
    assert sum(function.is_entry for function in functions) == 27


def test_framework_has_datatype_count_of_its_sources():
    assert definitions_of(1) == (10, 0)
    assert definitions_of(2) == (119, 4)


def test_framework_instruction_count_matches_other_reader():
    code = [f.code for address in (1, 2, 3) for f in functions_of(address) if f.code]
    opcodes = Counter(i.opcode for unit in code for i in unit.instructions)
    assert opcodes.total() == 24_612
    assert len(opcodes) == 71
    assert opcodes[Opcode.MOVE_LOC] == 5_004
    assert opcodes[Opcode.ST_LOC] == 2_690
    assert opcodes[Opcode.COPY_LOC] == 2_440
    assert opcodes[Opcode.CALL_GENERIC] == 1_405


def test_modules_with_enums_have_version_7_and_sui_flavor(framework_modules):
    modules = [deserialize(data) for data in framework_modules]
    newer = {module.name: module.flavor for module in modules if module.version == 7}
    assert newer == {"coin_registry": 5, "derived_object": 5}


def test_module_has_its_address_and_name(framework_modules):
    names = {(module.address[-1], module.name) for module in map(deserialize, framework_modules)}
    assert {(1, "option"), (2, "coin"), (3, "sui_system")} <= names
    assert len(names) == 94


def test_module_is_read_among_other_bytes(framework_modules):
    data = framework_modules[40]
    module, end = deserialize_at(b"before" + data + b"after", 6)
    assert module == deserialize(data)
    assert end == 6 + len(data)


def test_bytes_after_the_module_are_rejected(framework_modules):
    with pytest.raises(MalformedModule, match="continues after") as caught:
        deserialize(framework_modules[0] + b"\x00")
    assert caught.value.offset == len(framework_modules[0])


@pytest.mark.parametrize("place", [0, 25, 50])
def test_module_truncated_anywhere_is_rejected(framework_modules, place):
    data = framework_modules[place]
    for end in range(len(data)):
        with pytest.raises(MalformedModule):
            deserialize(data[:end])


def test_any_changed_byte_is_read_or_rejected(framework_modules):
    data = next(data for data in framework_modules if deserialize(data).name == "internal")
    outcomes = [
        is_refused(data[:place] + bytes([value]) + data[place + 1 :])
        for place in range(len(data))
        for value in range(256)
    ]
    assert Counter(outcomes)[True] > len(data)
    # The original bytes are among them, once for each position.
    assert Counter(outcomes)[False] >= len(data)


def test_any_flipped_bit_in_module_with_enums_is_read_or_rejected(framework_modules):
    data = next(data for data in framework_modules if deserialize(data).name == "derived_object")
    outcomes = [
        is_refused(data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :])
        for place in range(len(data))
        for bit in range(8)
    ]
    assert Counter(outcomes)[True] > len(data)


@given(st.binary(max_size=400))
def test_random_bytes_are_read_or_rejected(data):
    is_refused(data)


@given(st.data())
def test_mutated_compiled_module_is_read_or_rejected(framework_modules, data):
    module = bytearray(data.draw(st.sampled_from(framework_modules)))
    for _ in range(data.draw(st.integers(1, 8))):
        module[data.draw(st.integers(0, len(module) - 1))] = data.draw(st.integers(0, 255))
    is_refused(bytes(module))


def is_refused(data):
    """Return whether the bytes are rejected; any other exception fails the test."""
    try:
        deserialize(data)
    except MalformedModule as error:
        assert 0 <= error.offset <= len(data)  # noqa: PT017 - the loop needs the outcome
        return True
    return False
