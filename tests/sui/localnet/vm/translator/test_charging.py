"""On every path through a function, the charges equal its instructions, pushes and bytes.

A copied u64 counts 8 bytes, a calculated or loaded value 1, and a reference 8.
"""

from contextlib import suppress

import pytest

from nexus_tools.sui.localnet.vm import Context, Meter, MoveAbort, Variant, borrow

COPY, LOAD, REFERENCE = 1 + 1 + 8, 1 + 1 + 1, 1 + 1 + 8
# A comparison of two numbers with EQ: an instruction, a push, both sides and the answer.
EQUAL = 1 + 1 + (8 + 8 + 1)


@pytest.fixture
def spent(assembler, machine_of):
    """Return spent(*arguments), the units that a call of `f` uses, even if it aborts."""

    def measure(*arguments):
        machine = machine_of(assembler.package())
        meter = Meter(10**9)
        function = machine.types.function(assembler.address, "m", "f")
        with suppress(MoveAbort):
            machine.call(function, (), list(arguments), Context(machine.types, meter))
        return meter.spent

    return measure


def test_skipped_branch_is_not_charged(assembler, spent):
    code = [("COPY_LOC", 0), ("LD_U64", 0), "EQ", ("BR_TRUE", 9)]
    code += [("LD_U64", 1), "POP", ("LD_U64", 2), "POP", "RET", "RET"]
    assembler.function("f", ("u64",), (), code)
    start = COPY + LOAD + EQUAL + 1
    assert spent(0) == start + 1
    assert spent(1) == start + 2 * (LOAD + 1) + 1


def test_code_after_abort_is_not_charged(assembler, spent):
    code = [("COPY_LOC", 0), ("LD_U64", 0), "EQ", ("BR_TRUE", 6), ("LD_U64", 7), "ABORT"]
    code += [("COPY_LOC", 0), "POP"] * 10 + ["RET"]
    assembler.function("f", ("u64",), (), code)
    start = COPY + LOAD + EQUAL + 1
    assert spent(1) == start + LOAD + 1
    assert spent(0) == start + 10 * (COPY + 1) + 1


def test_branches_meet_after_condition(assembler, spent):
    code = [("COPY_LOC", 0), ("LD_U64", 0), "EQ", ("BR_FALSE", 7)]
    code += [("LD_U64", 1), "POP", ("BRANCH", 11)]
    code += [("COPY_LOC", 0), "POP", ("COPY_LOC", 0), "POP"]
    code += [("LD_U64", 3), "POP", "RET"]
    assembler.function("f", ("u64",), (), code)
    start, end = COPY + LOAD + EQUAL + 1, LOAD + 1 + 1
    assert spent(0) == start + LOAD + 1 + 1 + end
    assert spent(1) == start + 2 * (COPY + 1) + end


def test_entered_enum_case_is_charged(assembler, spent):
    enum = assembler.enum("E", [[], [], []])
    assembler.handle("f", (("&", ("data", enum.handle)),), ())
    code = [("COPY_LOC", 0), ("VARIANT_SWITCH", 0), ("LD_U64", 1), "POP", "RET"]
    code += ["NOP", "RET", ("COPY_LOC", 0), "POP", "RET"]
    assembler.define(0, code, jump_tables=[(enum, (2, 5, 7))])
    cases = [borrow(Variant(tag, [])) for tag in range(3)]
    start = REFERENCE + 1
    assert [spent(case) - start for case in cases] == [LOAD + 2, 2, REFERENCE + 2]


def test_thousand_nested_callers_are_charged(assembler, spent):
    """The functions have no loops, but their work after the calls must be counted."""
    handle = assembler.handle("f", ("u64",))
    after = [("LD_U64", 5), "POP"] * 20
    code = [("COPY_LOC", 0), ("LD_U64", 0), "EQ", ("BR_TRUE", 8)]
    code += [("COPY_LOC", 0), ("LD_U64", 1), "SUB", ("CALL", handle), *after, "RET"]
    assembler.define(handle, code)
    one, two = spent(0), spent(1)
    # The price of an instruction doubles at 20 000 of them, of a byte at 100 000.
    turns, instructions = 300, 8 + len(after) + 1
    assert instructions * turns < 20_000
    assert spent(turns) == one + turns * (two - one)


def test_long_block_is_charged_at_instruction_prices(assembler, spent):
    assembler.function("f", (), (), [*["NOP"] * 30_000, "RET"])
    assert spent() == 20_000 + 2 * 10_001


def test_work_of_callers_after_calls_is_counted(assembler, machine_of):
    handle = assembler.handle("f", ("u64",))
    code = [("COPY_LOC", 0), ("LD_U64", 0), "EQ", ("BR_TRUE", 10)]
    code += [("COPY_LOC", 0), ("LD_U64", 1), "SUB", ("CALL", handle), "LD_TRUE", ("BR_TRUE", 11)]
    code += ["RET", *["NOP"] * 600, "RET"]
    assembler.define(handle, code)
    machine = machine_of(assembler.package())
    meter = Meter(10**12)
    function = machine.types.function(assembler.address, "m", "f")
    machine.call(function, (), [1_000], Context(machine.types, meter))
    assert meter.instructions == 1_000 * (10 + 601) + 5


def test_advance_charges_of_many_callers_are_returned(assembler, machine_of):
    handle = assembler.handle("f", ("u64",))
    code = [("COPY_LOC", 0), ("LD_U64", 0), "EQ", ("BR_TRUE", 11)]
    code += [("COPY_LOC", 0), ("LD_U64", 1), "SUB", ("CALL", handle), "LD_FALSE", ("BR_TRUE", 12)]
    code += ["RET", "RET", *["NOP"] * 200, "RET"]
    assembler.define(handle, code)
    machine = machine_of(assembler.package())
    meter = Meter(10**12)
    function = machine.types.function(assembler.address, "m", "f")
    machine.call(function, (), [1_000], Context(machine.types, meter))
    assert "meter.left +=" in machine.source(function)
    assert meter.instructions == 1_000 * 11 + 5
