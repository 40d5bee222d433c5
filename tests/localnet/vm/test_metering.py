import pytest

from nexus_tools.localnet.vm import Context, Meter, OutOfGas, borrow

NUMBERS = ("vector", "u64")
BYTES = ("vector", "u8")


@pytest.fixture
def cost(assembler, machine_of):
    """cost(code, parameters, *arguments): the units that a function without results uses."""

    def measure(code, parameters=(), *arguments, local_types=()):
        name = f"f{len(assembler.rows[12])}"
        assembler.function(name, parameters, (), code, local_types=local_types)
        machine = machine_of(assembler.package())
        context = Context(machine, Meter(10**9))
        function = machine.function(assembler.address, "m", name)
        machine.call(function, (), list(arguments), context)
        return context.meter.spent

    return measure


def test_an_instruction_costs_a_unit(cost):
    assert cost([("LD_U64", 1), "POP", "NOP", "RET"]) == 4


def test_a_loop_costs_what_its_turns_cost(cost):
    """A turn is nine instructions."""
    code = [("COPY_LOC", 0), ("LD_U64", 0), "EQ", ("BR_TRUE", 9)]
    code += [("COPY_LOC", 0), ("LD_U64", 1), "SUB", ("ST_LOC", 0), ("BRANCH", 0), "RET"]
    costs = [cost(code, ("u64",), n) for n in (0, 1, 101)]
    assert costs[1] - costs[0] == 9
    assert costs[2] - costs[1] == 900


def test_the_same_call_costs_the_same_every_time(assembler, machine_of):
    code = [("COPY_LOC", 0), ("LD_U64", 0), "EQ", ("BR_TRUE", 8)]
    handle = assembler.handle("f", ("u64",))
    code += [("MOVE_LOC", 0), ("LD_U64", 1), "SUB", ("CALL", handle), "RET"]
    assembler.define(handle, code)
    machine = machine_of(assembler.package())
    function = machine.function(assembler.address, "m", "f")
    spent = []
    for _ in range(3):
        context = Context(machine, Meter(10**6))
        machine.call(function, (), [50], context)
        spent.append(context.meter.spent)
    assert len(set(spent)) == 1


def test_the_budget_is_enough_to_the_last_unit(assembler, call):
    assembler.function("f", (), (), ["NOP", "NOP", "RET"])
    assert call(assembler, "f", budget=3) == []
    with pytest.raises(OutOfGas):
        call(assembler, "f", budget=2)


def test_a_copy_costs_by_its_size(cost):
    code = [("COPY_LOC", 0), "POP", "RET"]
    small, large = (cost(code, (NUMBERS,), [0] * size) for size in (0, 8000))
    assert large - small == 1000
    small, large = (cost(code, (("vector", BYTES),), [bytearray(size)]) for size in (0, 8000))
    assert large - small == 1000


def test_a_comparison_costs_by_its_size(cost):
    code = [("IMM_BORROW_LOC", 0), ("IMM_BORROW_LOC", 0), "EQ", "POP", "RET"]
    small, large = (cost(code, (BYTES,), bytearray(size)) for size in (0, 8000))
    assert large - small == 1000


def test_a_constant_costs_by_its_size(assembler, cost):
    small = assembler.constant(BYTES, b"\x00")
    large = assembler.constant(BYTES, b"\xa0\x1f" + bytes(4000))
    costs = [cost([("LD_CONST", index), "POP", "RET"]) for index in (small, large)]
    assert costs[1] - costs[0] >= 500


def test_a_vector_grows_no_longer_than_the_budget(assembler, call):
    code = [("COPY_LOC", 0), ("LD_U64", 1), ("VEC_PUSH_BACK", "u64"), ("BRANCH", 0)]
    assembler.function("f", (("&mut", NUMBERS),), (), code)
    vector = []
    with pytest.raises(OutOfGas):
        call(assembler, "f", borrow(vector), budget=7000)
    assert 900 < len(vector) <= 1000


def test_copying_in_a_loop_ends_with_the_budget(assembler, call):
    """Each turn copies 80 000 numbers: 10 000 units, so that five turns are too many."""
    code = [("COPY_LOC", 0), "POP", ("BRANCH", 0)]
    assembler.function("f", (NUMBERS,), (), code)
    with pytest.raises(OutOfGas):
        call(assembler, "f", [0] * 80_000, budget=50_000)
