"""The outputs in `docs/concepts/internals.md` are real."""

import pytest

from documents import Page
from nexus_tools.sui.bytecode import deserialize
from nexus_tools.sui.localnet.natives import NATIVES, NativeGas, ObjectRuntime, TransactionContext
from nexus_tools.sui.localnet.vm import Context, Machine, Meter, borrow
from nexus_tools.sui.types.address import ZERO
from nexus_tools.sui.types.digest import Digest
from packages import framework_packages, package_of

FUNCTION = Page.read("docs/concepts/internals.md").section("Translation of a Move function")


MANIFEST = """[package]
name = "counter"
edition = "2024"

[addresses]
counter = "0x0"
"""


def shown(language):
    """Return the only block of a language in the section on the function."""
    [text] = [block.text for block in FUNCTION.blocks if block.language == language]
    return text


@pytest.fixture(scope="module")
def module(move_builder):
    sources = {"Move.toml": MANIFEST, "sources/counter.move": shown("move")}
    [data] = move_builder.build(sources).modules
    return data


@pytest.fixture(scope="module")
def machine(module):
    return Machine(NATIVES, {**framework_packages(), ZERO: package_of(ZERO, [module])}.get)


def test_instructions_of_the_function_equal_those_of_the_page(module):
    [definition] = deserialize(module).function_definitions
    lines = [
        f"{offset:>2} {row.opcode.name}" + ("" if row.operand is None else f" {row.operand}")
        for offset, row in enumerate(definition.code.instructions)
    ]
    assert shown("text").splitlines() == lines


def test_python_of_the_function_equals_that_of_the_page(machine):
    function = machine.types.function(ZERO, "counter", "increase")
    assert shown("python") == machine.source(function)


@pytest.mark.parametrize("times", [0, 1, 5])
def test_function_counts_18_instructions_per_turn_and_7_at_its_end(machine, times):
    function = machine.types.function(ZERO, "counter", "increase")
    meter, counter = Meter(10**6), borrow([[[bytes(32)]], 40])
    transaction = TransactionContext(ZERO, Digest(bytes(32)), 0, 0, 1, 1, 0, None)
    runtime = ObjectRuntime(transaction, {}, {}.get, machine.types.decode, NativeGas(0, meter))
    machine.call(function, (), [counter, times], Context(machine.types, meter, runtime))
    assert counter.read()[1] == 40 + times
    assert meter.instructions == 18 * times + 7
