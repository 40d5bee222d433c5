"""The cost of execution and its limits, in internal gas units.

An instruction is charged by three measures: one for the instruction, the number of values that it
pushes onto the operand stack, and their bytes. A push costs one unit. The prices of an instruction
and of a byte rise in tiers with the transaction's total so far. Bytes that leave the stack do not
count. Source: `sui-types/src/gas_model/tables.rs` and `sui-adapter/src/gas_meter.rs`, gas model
11. That source charges two units for a push once more than 1 000 of the allowed 1 024 operands were
on the stack. This module omits that rule.

Translated code subtracts its work from `Meter.left` before it does it, many instructions at once.
It checks whether `left` is below zero at function entry and in every loop iteration.
"""

from bisect import bisect_left
from itertools import accumulate, pairwise

from msgspec import Struct

from nexus_tools.sui.localnet.vm.errors import OutOfGas

# `CALL_STACK_SIZE_LIMIT` of move-vm-runtime counts the callers of the running function.
CALL_DEPTH_MAX = 1024 + 1
# `OPERAND_STACK_SIZE_LIMIT` of move-vm-runtime. It applies to each basic block here, and to all
# running functions together there.
OPERAND_STACK_MAX = 1024
# `max_move_value_depth` of Sui's protocol configuration.
VALUE_DEPTH_MAX = 128
# `max_move_vector_len`, which no push may exceed.
VECTOR_LENGTH_MAX = 262_144
# `MAX_TYPE_INSTANTIATION_NODES` of move-vm-runtime.
TYPE_NODES_MAX = 128

# `V2_NATIVE_FUNCTION_CALL_THRESHOLD`: the cost of later native calls counts as instructions.
FREE_NATIVE_CALLS = 700


class Tiers:
    """A price that rises with the amount. Each tier has a start and a price per unit above it."""

    def __init__(self, *tiers: tuple[int, int]) -> None:
        self._starts = [start for start, _ in tiers]
        self._prices = [price for _, price in tiers]
        costs = [(end - start) * price for (start, price), (end, _) in pairwise(tiers)]
        self._below = [0, *accumulate(costs)]

    def cost(self, amount: int) -> int:
        """Return the cost of the first `amount` units, each at the price of its tier.

        With tiers of 1 from the start and of 2 above 20 000, the first 20 010 cost 20 000 · 1 + 10
        · 2 = 20 020.
        """
        # The start of a tier still has the price of the tier below: the 20 000th costs 1, the next
        # one 2.
        tier = max(bisect_left(self._starts, amount) - 1, 0)
        return self._below[tier] + (amount - self._starts[tier]) * self._prices[tier]

    def price(self, amount: int) -> int:
        """Return the price in the tier that contains `amount`."""
        return self._prices[max(bisect_left(self._starts, amount) - 1, 0)]

    def room(self, amount: int) -> int:
        """Return how many more units fit into the tier that contains `amount`."""
        following = max(bisect_left(self._starts, amount), 1)
        return self._starts[following] - amount if following < len(self._starts) else _ENDLESS


# The units left in the last tier, which has no end.
_ENDLESS = 1 << 62

# `initial_cost_schedule_v5`.
INSTRUCTION_TIERS = Tiers(
    (0, 1), (20_000, 2), (50_000, 10), (100_000, 50), (200_000, 100), (10_000_000, 1_000)
)
STACK_BYTE_TIERS = Tiers((0, 1), (100_000, 2), (500_000, 5), (1_000_000, 100), (100_000_000, 1_000))

# `Meter.left` packs three counters into one number: instructions, pushes, and the sum of
# instructions, pushes and bytes. The sum is the highest, so it decides when the meter is settled.
# It is a float, because Python is faster with it than with an integer of this size. A float has 53
# exact bits.
# Example: 18 instructions with 13 pushes of 70 bytes are 18 + (13 << 18) + (101 << 35), which is
# 3470336983058.
#
# Bits      0 to 17         18 to 34    35 to 52
#           instructions    pushes      their sum with the bytes
_PUSHES_AT = 18
_TOTAL_AT = 35
_INSTRUCTION_MASK = (1 << _PUSHES_AT) - 1
_PUSH_MASK = (1 << (_TOTAL_AT - _PUSHES_AT)) - 1
_BYTE = float(1 << _TOTAL_AT)
_INSTRUCTION = 1.0 + _BYTE
# The maximum of the sum in one window. With the work between two checks, it fits into its field.
_WINDOW = (1 << 15) - 1
# Work that is charged in advance and returned in a later window makes that window's count negative.
# Half of each field is for negative counts. `Charges` of the translator ensures that neither half
# overflows.
_INSTRUCTION_BIAS, _PUSH_BIAS = (_INSTRUCTION_MASK + 1) // 2, (_PUSH_MASK + 1) // 2
_BIASES = _INSTRUCTION_BIAS | _PUSH_BIAS << _PUSHES_AT
# More instructions than one window can count.
_FAR = 1 << _PUSHES_AT
# Larger values are charged separately, because all of their bytes have the higher price if they
# cross a tier border. The same applies to a native whose work counts as more instructions.
LARGE = 1_024


class Work(Struct, frozen=True):
    """The work of a piece of code: instructions, pushes, and bytes pushed."""

    instructions: int = 0
    pushes: int = 0
    size: int = 0

    def __add__(self, other: "Work") -> "Work":
        return Work(
            self.instructions + other.instructions,
            self.pushes + other.pushes,
            self.size + other.size,
        )

    def __sub__(self, other: "Work") -> "Work":
        return Work(
            self.instructions - other.instructions,
            self.pushes - other.pushes,
            self.size - other.size,
        )

    def __neg__(self) -> "Work":
        return Work() - self

    def __str__(self) -> str:
        parts = {"instruction": self.instructions, "push": self.pushes, "byte": self.size}
        return ", ".join([_pluralize(number, word) for word, number in parts.items() if number])

    @property
    def total(self) -> int:
        """The sum of instructions, pushes and bytes, which is the cost in the lowest tier."""
        return self.instructions + self.pushes + self.size

    @property
    def left(self) -> float:
        """The number to subtract from `Meter.left`.

        If work is returned, all fields are negative: 11 instructions, 9 pushes and 52 bytes are
        -(11 + (9 << 18) + (72 << 35)) = -2473903521803.
        """
        return float(self.instructions + (self.pushes << _PUSHES_AT) + (self.total << _TOTAL_AT))


def _pluralize(count: int, unit: str) -> str:
    plural = "pushes" if unit == "push" else f"{unit}s"
    return f"{count} {unit if abs(count) == 1 else plural}"


_PUSH = Work(1, 1).left
BYTE_PRICES = [_BYTE * size for size in range(LARGE)]
"""The amount to subtract from `Meter.left` by bytes. A lookup is faster than a multiplication."""


class Meter:
    """The internal gas units of a transaction, and the work that it has done.

    `left` is below zero when `settle` is due. `pays_natives` means that natives charge the cost of
    their work to this meter. If `takes_natives` is set, the units of a native, if fewer than
    `LARGE`, may be subtracted from `left` as instructions, and its call need not be counted.
    """

    __slots__ = (
        "_bytes",
        "_extra",
        "_extra_max",
        "_instruction_room",
        "_instructions",
        "_pushes",
        "_start",
        "budget",
        "left",
        "native_calls",
        "pays_natives",
        "takes_natives",
    )

    def __init__(self, budget: int) -> None:
        self.budget = budget
        self.native_calls = 0
        self.pays_natives = self.takes_natives = False
        self._instructions = self._bytes = self._pushes = self._extra = 0
        self._start = self.left = 0.0
        self._count()

    @property
    def spent(self) -> int:
        """The units used so far, at most the budget; available at any time."""
        return min(self._count(), self.budget)

    @property
    def instructions(self) -> int:
        """The number of executed instructions, including native units charged as such."""
        self._count()
        return self._instructions

    def settle(self) -> None:
        """Compute the cost so far and raise `OutOfGas` if it exceeds the budget."""
        if self._count() > self.budget:
            raise OutOfGas

    def charge(self, units: int) -> None:
        """Charge for work that is neither an instruction nor on the stack. Raises `OutOfGas`."""
        self._extra += units
        if self._extra > self._extra_max or self.left < 0.0:
            self.settle()

    def charge_work(self, instructions: int, pushes: int, size: int) -> None:
        """Charge for work of any amount. Raises `OutOfGas`."""
        self._count()
        self._instructions += instructions
        self._pushes += pushes
        self._bytes += size
        self.settle()

    def charge_instruction(self) -> None:
        """Charge for an instruction that pushes nothing. Raises `OutOfGas`."""
        self.left = left = self.left - _INSTRUCTION
        if left < 0.0:
            self.settle()

    def charge_bytes(self, size: int) -> None:
        """Charge for a pushed value of `size` bytes. Raises `OutOfGas`."""
        if size < LARGE:
            self.left = left = self.left - size * _BYTE
            if left < 0.0:
                self.settle()
            return
        # All of the bytes have the price of the last one. `_count` adds their price as single
        # bytes, so `_extra` has only the difference.
        # Example: 99 500 bytes were pushed before, at 1 each, and above 100 000 a byte costs 2.
        # Then 2 000 more at once cost 2 000 · 2 = 4 000. One by one, they would cost
        # 500 · 1 + 1 500 · 2 = 3 500. The difference of 500 goes to `_extra`.
        self._count()
        old_bytes = self._bytes
        self._bytes += size
        self._extra += size * STACK_BYTE_TIERS.price(self._bytes)
        self._extra -= STACK_BYTE_TIERS.cost(self._bytes) - STACK_BYTE_TIERS.cost(old_bytes)
        self.settle()

    def charge_push(self, size: int) -> None:
        """Charge for an instruction that pushes a value of `size` bytes. Raises `OutOfGas`."""
        self.left -= _PUSH
        self.charge_bytes(size)

    def charge_native(self, units: int) -> None:
        """Charge for the work of a native function. Raises `OutOfGas`."""
        if self.native_calls <= FREE_NATIVE_CALLS:
            self.charge(units)
        # The units are subtracted from `left` only if all of them have the price of the current
        # tier. This is true if the rest of the tier exceeds a window, or at least the work of this
        # window and these units.
        elif units < LARGE and (
            self._instruction_room > _FAR
            or self._instruction_room > units + _instructions(self._start - self.left)
        ):
            self.left = left = self.left - units * _INSTRUCTION
            if left < 0.0:
                self.settle()
        else:
            self._charge_as_instructions(units)

    def exhaust(self) -> None:
        """Empty the budget, so that the next check raises `OutOfGas`. This is thread-safe."""
        self.budget = -1
        # The running thread may overwrite `left`. It still notices the empty budget at the end of
        # the window.
        self.left = -1.0

    def _charge_as_instructions(self, units: int) -> None:
        """Charge all units at the price of the last one, as in `charge_bytes`."""
        self._count()
        old_instructions = self._instructions
        self._instructions += units
        self._extra += units * INSTRUCTION_TIERS.price(self._instructions)
        self._extra -= INSTRUCTION_TIERS.cost(self._instructions) - INSTRUCTION_TIERS.cost(
            old_instructions
        )
        self.settle()

    def _count(self) -> int:
        """Add the work of the current window, open a new window, and return the cost so far."""
        # The biases make a negative field positive, so that it does not borrow from another one.
        # Example: after 11 instructions, 9 pushes and 52 bytes were returned, `start - left` is
        # -2473903521803. Its lowest 18 bits are 262133, not -11. With the bias of 131072 they are
        # 131061, and 131061 - 131072 = -11.
        packed = int(self._start - self.left) + _BIASES
        instructions = (packed & _INSTRUCTION_MASK) - _INSTRUCTION_BIAS
        pushes = (packed >> _PUSHES_AT & _PUSH_MASK) - _PUSH_BIAS
        self._instructions += instructions
        self._pushes += pushes
        self._bytes += (packed >> _TOTAL_AT) - instructions - pushes
        cost = self._pushes + self._extra
        cost += INSTRUCTION_TIERS.cost(self._instructions) + STACK_BYTE_TIERS.cost(self._bytes)
        remaining = max(self.budget - cost, 0)
        # A window ends no later than the budget does at the lowest prices, because every unit of a
        # window costs at least one internal unit. At higher prices, the code does more work than
        # the budget pays for until the end of the window. The transaction then fails and is
        # reverted anyway.
        self._start = self.left = min(_WINDOW, remaining) * _BYTE
        self._extra_max = self._extra + remaining
        self._instruction_room = room = INSTRUCTION_TIERS.room(self._instructions)
        counts = self.pays_natives and self.native_calls > FREE_NATIVE_CALLS
        self.takes_natives = counts and room > _FAR
        return cost


def _instructions(packed: float) -> int:
    return (int(packed) + _BIASES & _INSTRUCTION_MASK) - _INSTRUCTION_BIAS
