import random

import pytest
from msgspec.structs import replace

from nexus_tools.contracts import load_package
from nexus_tools.sui.bytecode import (
    OPERAND_KINDS,
    Ability,
    Instruction,
    MalformedModule,
    Opcode,
    Visibility,
    deserialize,
)
from nexus_tools.sui.localnet.framework import load_framework
from nexus_tools.sui.localnet.verifier import VerificationError, verify_module
from nexus_tools.sui.types.address import MOVE_STDLIB, SUI_FRAMEWORK, SUI_SYSTEM

MUTANTS = 150


@pytest.mark.parametrize("address", [MOVE_STDLIB, SUI_FRAMEWORK, SUI_SYSTEM])
def test_all_framework_modules_are_valid(framework, address):
    for module in framework.values():
        if module.address == address:
            verify_module(module, framework.get)


def test_all_own_modules_are_valid(framework):
    modules = [deserialize(file) for file in load_package().modules]
    own = {(module.address, module.name): module for module in modules}
    for module in modules:
        verify_module(module, (own | framework).get)


def test_small_module_is_valid(assemble, status):
    assert status(assemble(["RET"])) is None


def test_error_has_its_location(assemble, framework):
    with pytest.raises(VerificationError) as caught:
        verify_module(assemble(["LD_TRUE", "ABORT"]), framework.get)
    error = caught.value
    assert (error.status, error.module, error.function, error.offset) == (
        "ABORT_TYPE_MISMATCH_ERROR",
        "m",
        "f",
        1,
    )


@pytest.mark.parametrize(
    "opcode", [opcode for opcode in Opcode if opcode.name.endswith("_DEPRECATED")]
)
def test_global_storage_is_rejected(assemble, status, opcode):
    module = assemble([Instruction(opcode, 0), "RET"])
    assert status(module) == "DEPRECATED_BYTECODE_FORMAT"


def test_changed_files_are_rejected_or_accepted_without_other_errors(framework):
    chance = random.Random(8)
    files = [file for package in load_framework().values() for file in package.modules]
    refused = 0
    for _ in range(MUTANTS):
        data = bytearray(chance.choice(files))
        for _ in range(chance.randint(1, 3)):
            data[chance.randrange(len(data) // 3, len(data))] = chance.randrange(0x57)
        try:
            verify_module(deserialize(bytes(data)), framework.get)
        except (MalformedModule, VerificationError):
            refused += 1
    assert refused > MUTANTS // 3


def test_swapped_instructions_are_rejected_or_accepted(framework):
    chance = random.Random(9)
    modules = list(framework.values())
    refused = 0
    for _ in range(MUTANTS):
        try:
            verify_module(_with_other_code(chance, chance.choice(modules)), framework.get)
        except VerificationError:
            refused += 1
    assert refused > MUTANTS // 3


def _with_other_code(chance, module):
    """Return the module with one instruction replaced by one with an operand of any size."""
    definitions = list(module.function_definitions)
    places = [index for index, function in enumerate(definitions) if function.code]
    if not places:
        return module
    index = chance.choice(places)
    code = definitions[index].code
    instructions = list(code.instructions)
    opcode = chance.choice(list(Opcode))
    operand = chance.choice([0, 1, 2, 3, 300]) if opcode in OPERAND_KINDS else None
    instructions[chance.randrange(len(instructions))] = Instruction(opcode, operand)
    changed = replace(code, instructions=tuple(instructions))
    definitions[index] = replace(definitions[index], code=changed)
    return replace(module, function_definitions=tuple(definitions))


def test_type_without_ability_is_rejected_as_field(framework, status):
    module = framework[bytes(SUI_FRAMEWORK), "vec_map"]
    handles = tuple(
        replace(handle, abilities=Ability.NONE)
        if module.identifiers[handle.name] == "Entry"
        else handle
        for handle in module.datatype_handles
    )
    assert status(replace(module, datatype_handles=handles)) == "FIELD_MISSING_TYPE_ABILITY"


def test_private_function_of_other_module_is_not_found(framework, status):
    option = framework[bytes(MOVE_STDLIB), "option"]
    hidden = tuple(
        replace(function, visibility=Visibility.PRIVATE) for function in option.function_definitions
    )
    closed = replace(option, function_definitions=hidden)
    user = framework[bytes(SUI_FRAMEWORK), "vec_map"]
    assert status(user, {**framework, (bytes(MOVE_STDLIB), "option"): closed}) == "LOOKUP_FAILED"
