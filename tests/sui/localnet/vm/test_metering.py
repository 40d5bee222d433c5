import pytest

from nexus_tools.sui.localnet.vm import Context, Meter, OutOfGas, borrow
from nexus_tools.sui.localnet.vm.metering import INSTRUCTION_TIERS, STACK_BYTE_TIERS

NUMBERS = ("vector", "u64")
BYTES = ("vector", "u8")


@pytest.fixture
def cost(assembler, machine_of):
    """Return cost(code, parameters, *arguments), which returns the units that a function uses."""

    def measure(code, parameters=(), *arguments, local_types=()):
        name = f"f{len(assembler.tables['function_definitions'])}"
        assembler.function(name, parameters, (), code, local_types=local_types)
        machine = machine_of(assembler.package())
        context = Context(machine.types, Meter(10**9))
        function = machine.types.function(assembler.address, "m", name)
        machine.call(function, (), list(arguments), context)
        return context.meter.spent

    return measure


def test_instruction_push_and_byte_cost_one_unit(cost):
    """Four instructions, one push, one byte: an integer that is loaded counts one."""
    assert cost([("LD_U64", 1), "POP", "NOP", "RET"]) == 4 + 1 + 1


def test_loop_cost_is_sum_of_its_iterations(cost):
    """A turn is nine instructions and six pushes.

    Its bytes are 8 for each copied number, 1 for each number that is loaded or calculated, and for
    a comparison 8 for each side and 1 for the answer.
    """
    code = [("COPY_LOC", 0), ("LD_U64", 0), "EQ", ("BR_TRUE", 9)]
    code += [("COPY_LOC", 0), ("LD_U64", 1), "SUB", ("ST_LOC", 0), ("BRANCH", 0), "RET"]
    costs = [cost(code, ("u64",), n) for n in (0, 1, 101)]
    turn = 9 + 6 + (8 + 1 + 17) + (8 + 1 + 1)
    assert costs[1] - costs[0] == turn
    assert costs[2] - costs[1] == 100 * turn


# Pushes and bytes of instructions on a local, by `get_simple_instruction_stack_change` and
# `abstract_memory_size` of Sui's meter.
@pytest.mark.parametrize(
    ("type_", "value", "size"),
    [
        ("u8", 1, 8),
        ("u128", 1, 16),
        ("u256", 1, 32),
        ("bool", True, 8),
        ("address", bytes(32), 32),
        (BYTES, bytearray(5), 2 + 5),
        (NUMBERS, [1, 2, 3], 2 + 3 * 8),
        (("vector", "bool"), [True], 2 + 1),
        (("vector", "u256"), [1], 2 + 32),
        (("vector", "address"), [bytes(32)], 2 + 32),
        (("vector", BYTES), [bytearray(5), bytearray()], 2 + 7 + 2),
    ],
)
def test_copy_charges_value_bytes_and_move_charges_reference_bytes(cost, type_, value, size):
    assert cost([("COPY_LOC", 0), "POP", "RET"], (type_,), value) == 3 + 1 + size
    assert cost([("MOVE_LOC", 0), "POP", "RET"], (type_,), value) == 3 + 1 + 8
    read = [("IMM_BORROW_LOC", 0), "READ_REF", "POP", "RET"]
    assert cost(read, (type_,), value) == 4 + (1 + 8) + (1 + size)


def test_instruction_price_rises_in_tiers(cost):
    assert cost(["NOP"] * 20_000 + ["RET"]) == 20_000 + 2
    assert cost(["NOP"] * 50_010 + ["RET"]) == 20_000 + 2 * 30_000 + 10 * 11


def test_byte_price_rises_in_tiers(assembler, cost):
    """Bytes that are pushed together all have the price of the last byte."""
    copies = [("COPY_LOC", 0), "POP", ("COPY_LOC", 0), "POP", "RET"]
    assert cost(copies, (BYTES,), bytearray(59_998)) == 5 + 2 + 60_000 + 2 * 60_000


# The tables of `initial_cost_schedule_v5`: the start of each tier, and its price per unit.
INSTRUCTIONS = [(0, 1), (20_000, 2), (50_000, 10), (100_000, 50), (200_000, 100)]
STACK_BYTES = [(0, 1), (100_000, 2), (500_000, 5), (1_000_000, 100)]


def price(tiers, count):
    return next(price for start, price in reversed(tiers) if count > start or not start)


def charged_one_by_one(turns, pushed):
    """Return the units that Sui's meter charges for loop iterations, by single instructions."""
    stack = cost = 0
    for instructions, size in enumerate(pushed * turns, 1):
        stack += size
        cost += price(INSTRUCTIONS, instructions) + price(STACK_BYTES, stack) * size + (size > 0)
    return cost


@pytest.mark.parametrize("turns", [1_000, 3_000, 5_000, 8_000, 12_000, 20_000, 30_000])
def test_loop_through_all_tiers_costs_like_single_instructions(cost, turns):
    code = [("COPY_LOC", 0), ("LD_U64", 0), "EQ", ("BR_TRUE", 9)]
    code += [("COPY_LOC", 0), ("LD_U64", 1), "SUB", ("ST_LOC", 0), ("BRANCH", 0), "RET"]
    before, after = (cost(code, ("u64",), n) for n in (0, turns))
    expected = charged_one_by_one(turns, [8, 1, 17, 0, 8, 1, 1, 0, 0])
    # The last five instructions are dearer here: they come after the loop, and before it there.
    last = 5 * price(INSTRUCTIONS, 9 * turns) + 26 * price(STACK_BYTES, 36 * turns) + 3
    assert before == 5 + 26 + 3
    # At each border between tiers, Sui's meter charges all bytes of a push like its last byte.
    assert abs(after - (expected + last)) <= 16 * (1 + 3 + 95) + 5 * 50


def test_write_charges_only_value_bytes(cost):
    write = [("LD_U8", 0), ("MUT_BORROW_LOC", 0), "WRITE_REF"]
    assert cost([*write, "RET"], ("u8",), 0) == 4 + 2 + (1 + 8 + 8)


def test_same_call_always_costs_the_same(assembler, machine_of):
    code = [("COPY_LOC", 0), ("LD_U64", 0), "EQ", ("BR_TRUE", 8)]
    handle = assembler.handle("f", ("u64",))
    code += [("MOVE_LOC", 0), ("LD_U64", 1), "SUB", ("CALL", handle), "RET"]
    assembler.define(handle, code)
    machine = machine_of(assembler.package())
    function = machine.types.function(assembler.address, "m", "f")
    spent = []
    for _ in range(3):
        context = Context(machine.types, Meter(10**6))
        machine.call(function, (), [50], context)
        spent.append(context.meter.spent)
    assert len(set(spent)) == 1


def test_exact_budget_is_sufficient(assembler, call):
    assembler.function("f", (), (), ["NOP", "NOP", "RET"])
    assert call(assembler, "f", budget=3) == []
    with pytest.raises(OutOfGas):
        call(assembler, "f", budget=2)


def test_comparison_is_charged_by_size_of_both_operands(cost):
    code = [("IMM_BORROW_LOC", 0), ("IMM_BORROW_LOC", 0), "EQ", "POP", "RET"]
    small, large = (cost(code, (BYTES,), bytearray(size)) for size in (0, 8000))
    assert small == 5 + 3 + (8 + 8) + (1 + 2 * (8 + 2))
    assert large - small == 2 * 8000


def test_constant_is_charged_by_bcs_size(assembler, cost):
    constant = assembler.constant(BYTES, b"\xa0\x1f" + bytes(4000))
    assert cost([("LD_CONST", constant), "POP", "RET"]) == 3 + 1 + 4002


def test_vector_growth_is_limited_by_budget(assembler, call):
    code = [("COPY_LOC", 0), ("LD_U64", 1), ("VEC_PUSH_BACK", "u64"), ("BRANCH", 0)]
    assembler.function("f", (("&mut", NUMBERS),), (), code)
    vector = []
    with pytest.raises(OutOfGas):
        call(assembler, "f", borrow(vector), budget=15_000)
    assert 900 < len(vector) <= 1000  # a turn: 4 instructions, 2 pushes, 9 bytes


def test_copying_in_a_loop_is_limited_by_budget(assembler, call):
    """Each iteration copies 80 000 numbers, 640 000 bytes, so the first exceeds the budget."""
    code = [("COPY_LOC", 0), "POP", ("BRANCH", 0)]
    assembler.function("f", (NUMBERS,), (), code)
    with pytest.raises(OutOfGas):
        call(assembler, "f", [0] * 80_000, budget=50_000)


@pytest.mark.parametrize(
    ("amount", "cost", "price", "room"),
    [
        (0, 0, 1, 20_000),
        (1, 1, 1, 19_999),
        (20_000, 20_000, 1, 0),
        (20_001, 20_002, 2, 29_999),
        (100_000, 20_000 + 60_000 + 500_000, 10, 0),
        (200_001, 20_000 + 60_000 + 500_000 + 5_000_000 + 100, 100, 9_799_999),
    ],
)
def test_instructions_have_prices_of_their_tiers(amount, cost, price, room):
    tiers = INSTRUCTION_TIERS
    assert (tiers.cost(amount), tiers.price(amount), tiers.room(amount)) == (cost, price, room)


def test_last_tier_is_unlimited():
    assert STACK_BYTE_TIERS.price(10**12) == 1_000
    assert STACK_BYTE_TIERS.room(10**12) > 10**12


def test_spent_is_available_at_any_time():
    meter = Meter(10**6)
    seen = []
    for size in (8, 200, 5_000):
        meter.charge_push(size)
        seen.append(meter.spent)
    meter.charge(1_000)
    assert seen == [2 + 8, 2 + 8 + 2 + 200, 2 + 8 + 2 + 200 + 2 + 5_000]
    assert meter.spent == seen[-1] + 1_000


def test_exhausted_meter_has_no_budget_left():
    meter = Meter(10**6)
    meter.exhaust()
    with pytest.raises(OutOfGas):
        meter.charge_push(8)
