import pytest
from msgspec.structs import replace

from nexus_tools.sui.bytecode import (
    Ability,
    Constant,
    FieldDefinition,
    StructDefinition,
    VectorToken,
)


def _nested(depth):
    type_ = "u8"
    for _ in range(depth):
        type_ = VectorToken(type_)
    return type_


@pytest.mark.parametrize(("depth", "expected"), [(255, None), (256, "TOO_MANY_TYPE_NODES")])
def test_type_has_at_most_256_nodes(assembler, status, depth, expected):
    assembler.signature(_nested(depth))
    assert status(assembler.module(["RET"])) == expected


@pytest.mark.parametrize(("count", "expected"), [(128, None), (129, "TOO_MANY_PARAMETERS")])
def test_function_has_at_most_128_parameters(assemble, status, count, expected):
    assert status(assemble(["RET"], ("u8",) * count)) == expected


@pytest.mark.parametrize(("count", "expected"), [(32, None), (33, "TOO_MANY_TYPE_PARAMETERS")])
def test_function_has_at_most_32_type_parameters(assemble, status, count, expected):
    module = assemble(["RET"])
    first, *others = module.function_handles
    generic = replace(first, type_parameters=(Ability.NONE,) * count)
    assert status(replace(module, function_handles=(generic, *others))) == expected


def test_struct_has_at_most_32_fields(assemble, status):
    module = assemble(["RET"])
    names = tuple(f"field_{index}" for index in range(33))
    first = len(module.identifiers)
    fields = tuple(FieldDefinition(first + index, "u8") for index in range(33))
    structs = (StructDefinition(0, fields), *module.struct_definitions[1:])
    module = replace(module, identifiers=module.identifiers + names, struct_definitions=structs)
    assert status(module) == "MAX_FIELD_DEFINITIONS_REACHED"


def test_identifier_has_at_most_128_characters(assemble, status):
    module = assemble(["RET"])
    long = replace(module, identifiers=(*module.identifiers, "a" * 129))
    assert status(long) == "IDENTIFIER_TOO_LONG"


def test_constant_vector_with_invalid_bytes_is_rejected(assemble, status):
    module = assemble(["RET"], constants=(Constant(VectorToken("u64"), b"\x01"),))
    assert status(module) == "MALFORMED_CONSTANT_DATA"
