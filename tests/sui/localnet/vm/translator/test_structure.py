import random

import pytest

from nexus_tools.sui.localnet.vm import Context, Meter, OutOfGas

NUMBERS = ("u64",) * 4
STEPS = 3_000
# An instruction costs less than this on the average.
STEP_COST_MAX = 40


@pytest.mark.parametrize("blocks", [2, 3, 4, 5, 6, 8, 12, 20])
def test_any_control_flow_matches_single_step_execution(
    new_assembler, machine_of, random_function, blocks
):
    """Most of these graphs have loops with several entries, which no source language produces."""
    chance = random.Random(blocks)
    returned = 0
    for _ in range(60):
        function = random_function(chance, blocks)
        assembler = new_assembler()
        assembler.function("f", NUMBERS, ("u64",), function.code)
        machine = machine_of(assembler.package())
        loaded = machine.types.function(assembler.address, "m", "f")
        numbers = [chance.randrange(64) for _ in NUMBERS]
        expected = function.interpret(numbers, STEPS)
        context = Context(machine.types, Meter(STEPS * STEP_COST_MAX))
        if expected is None:
            with pytest.raises(OutOfGas):
                machine.call(loaded, (), numbers, Context(machine.types, Meter(100)))
        else:
            assert machine.call(loaded, (), numbers, context) == [expected]
            assert context.meter.spent == function.cost
            returned += 1
    assert returned > 20


def test_loop_is_translated_without_labels(assembler, machine_of):
    code = [("COPY_LOC", 0), ("COPY_LOC", 1), "LT", ("BR_FALSE", 9)]
    code += [("COPY_LOC", 0), ("LD_U64", 1), "ADD", ("ST_LOC", 0), ("BRANCH", 0)]
    code += [("MOVE_LOC", 0), "RET"]
    assembler.function("f", ("u64", "u64"), ("u64",), code)
    machine = machine_of(assembler.package())
    function = machine.types.function(assembler.address, "m", "f")
    assert machine.call(function, (), [3, 10], Context(machine.types, Meter(1000))) == [10]
    assert "label" not in machine.source(function)


@pytest.mark.parametrize(
    "code",
    [
        [("BRANCH", 0)],
        ["NOP", ("BRANCH", 0)],
        [("BRANCH", 2), ("BRANCH", 0), ("BRANCH", 1)],
        [("COPY_LOC", 0), ("BR_TRUE", 0), "LD_TRUE", ("BR_TRUE", 0), "RET"],
        ["LD_TRUE", ("BR_TRUE", 4), "NOP", ("BRANCH", 0), "NOP", ("BRANCH", 2)],
    ],
)
def test_endless_loop_ends_with_budget(assembler, call, code):
    assembler.function("f", ("bool",), (), code)
    with pytest.raises(OutOfGas):
        call(assembler, "f", True, budget=10_000)


def test_loops_may_nest_deeper_than_python_allows(assembler, call):
    """Forty loops count the same number up to their own limits, the outermost the highest."""
    depth = 40
    code = []
    for level in range(depth):
        after = 4 * depth + 5 * (depth - level)
        limit = 2 * (depth - level)
        code += [("COPY_LOC", 0), ("LD_U64", limit), "LT", ("BR_FALSE", after)]
    for level in reversed(range(depth)):
        code += [("COPY_LOC", 0), ("LD_U64", 1), "ADD", ("ST_LOC", 0), ("BRANCH", 4 * level)]
    code += [("MOVE_LOC", 0), "RET"]
    assembler.function("f", ("u64",), ("u64",), code)
    assert call(assembler, "f", 0) == [80]


def test_branches_may_nest_deeper_than_python_allows(assembler, call):
    depth = 1500
    code = []
    for level in range(depth):
        code += [("COPY_LOC", 0), ("LD_U64", level), "EQ", ("BR_TRUE", 4 * depth + 2 * level + 2)]
    code += [("LD_U64", 10**6), "RET"]
    for level in range(depth):
        code += [("LD_U64", 2 * level), "RET"]
    assembler.function("f", ("u64",), ("u64",), code)
    outcomes = [call(assembler, "f", n) for n in (0, 777, depth - 1, depth)]
    assert outcomes == [[0], [1554], [2 * depth - 2], [10**6]]


def test_nested_conditions_do_not_exhaust_translator(assembler, call):
    """Each branch contains the next one in its other half, and all of them join at the end."""
    depth = 3000
    end = 4 * depth
    code = []
    for level in range(depth):
        code += [("COPY_LOC", 0), ("LD_U64", level), "LT", ("BR_TRUE", end)]
    code += [("MOVE_LOC", 0), "RET"]
    assembler.function("f", ("u64",), ("u64",), code)
    assert call(assembler, "f", 10) == [10]
    assert call(assembler, "f", depth + 5) == [depth + 5]
