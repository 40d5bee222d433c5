"""The verifier beside the genuine one: the same verdict on modules with changed bytes."""

import random
import re
from contextlib import suppress
from dataclasses import replace

import pytest
import sui_sandbox

from nexus_tools.localnet.bytecode import MalformedModule, deserialize
from nexus_tools.localnet.framework import load_framework
from nexus_tools.localnet.natives import NATIVES
from nexus_tools.localnet.verifier import VerificationError, verify_module
from nexus_tools.localnet.vm import Context, Machine, Meter, MoveAbort, OutOfGas, PrimitiveError
from nexus_tools.sui.address import Address
from nexus_tools.sui.type_tag import Primitive

LANGUAGE = Address.of(0xC0DE)
MUTANTS = 250
RUNS = 60
BUDGET = 20_000
_NUMBERS = {Primitive.U8, Primitive.U16, Primitive.U32, Primitive.U64, Primitive.U128}
# The genuine VM says more of what it refuses than that it does: the status is inside the message.
_REFUSED = re.compile(
    r"major_status: UNEXPECTED_VERIFIER_ERROR.*?Error: VMError { major_status: (\w+)"
)
# Its linker, not its verifier, looks for what a module names; its stack has no limit of pushes.
_NOT_COMPARED = {"MISSING_DEPENDENCY", "VALUE_STACK_PUSH_OVERFLOW", "DEPRECATED_BYTECODE_FORMAT"}


@pytest.fixture(scope="module")
def framework():
    files = [file for package in load_framework().values() for file in package.modules]
    modules = [deserialize(file) for file in files]
    return {(module.address, module.name): module for module in modules}


@pytest.mark.parametrize(
    "name", ["calls", "control", "enums", "generics", "integers", "references"]
)
def test_the_genuine_verifier_gives_the_same_verdict(language_files, framework, name):
    chance = random.Random(name)
    compared = 0
    for _ in range(MUTANTS):
        file = _mutated(chance, language_files[name])
        try:
            module = deserialize(file)
        except MalformedModule:
            continue
        called = _callable(module)
        if module.address != LANGUAGE or module.name != name or called is None:
            continue
        ours = _verdict(module, framework)
        if ours not in _NOT_COMPARED:
            assert ours == _genuine_verdict(file, name, called)
            compared += 1
    assert compared > MUTANTS // 10


@pytest.mark.parametrize("name", ["calls", "control", "enums", "integers", "references"])
def test_what_is_accepted_runs_or_fails_as_move_code_does(
    language_files, packages, framework, name
):
    chance = random.Random(name)
    calls = 0
    for _ in range(RUNS):
        file = _mutated(chance, language_files[name])
        try:
            module = deserialize(file)
            verify_module(module, framework.get)
        except (MalformedModule, VerificationError):
            continue
        if (module.address, module.name) == (LANGUAGE, name):
            calls += _run(packages, file, name)
    assert calls > RUNS


def _run(packages, file, name):
    """Call each function that is given numbers only; how many were called."""
    package = packages[LANGUAGE]
    modules = tuple((own, file if own == name else data) for own, data in package.modules)
    machine = Machine(NATIVES, {**packages, LANGUAGE: replace(package, modules=modules)}.get)
    called = 0
    for function in machine.package(LANGUAGE).module(name).functions():
        if function.type_parameters or not set(function.parameters) <= _NUMBERS:
            continue
        context = Context(machine, Meter(BUDGET), None)
        with suppress(MoveAbort, PrimitiveError, OutOfGas):
            machine.call(function, (), [3] * len(function.parameters), context)
        called += 1
    return called


def _mutated(chance, file):
    """The file with one to three bytes of its second half replaced by likely ones."""
    data = bytearray(file)
    for _ in range(chance.choice([1, 1, 2, 3])):
        value = chance.choice([chance.randrange(0x57), chance.randrange(8), 0x0A, 0x0B, 0x0D])
        data[chance.randrange(len(data) // 2, len(data))] = value
    return bytes(data)


def _callable(module):
    for function in module.function_definitions:
        if not module.function_handles[function.handle].type_parameters:
            return module.function_id(function.handle)[2]
    return None


def _verdict(module, framework):
    try:
        verify_module(module, framework.get)
    except VerificationError as error:
        return error.status
    return None


def _genuine_verdict(file, module, function):
    """The status with which the genuine VM refuses the module when it is to call a function."""
    answer = sui_sandbox.call_view_function(
        LANGUAGE.short(),
        module,
        function,
        type_args=[],
        object_inputs=[],
        package_bytecodes={LANGUAGE.short(): [file]},
        fetch_deps=False,
    )
    refused = _REFUSED.search(answer["error"] or "")
    return refused[1] if refused else None
