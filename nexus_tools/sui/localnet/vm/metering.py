"""The meter of executed code, its prices in internal gas units, and the limits of execution.

An instruction has a charge for itself, a charge for each value that it pushes onto the operand
stack, and a charge for each byte of these values. A push costs one unit. The prices of instructions
and of bytes rise in tiers with the transaction's totals so far. Popped values do not reduce the
total of bytes. Source: `sui-types/src/gas_model/tables.rs` and `sui-adapter/src/gas_meter.rs`, gas
model 11. On Sui, a push costs two units after more than 1 000 of the allowed 1 024 operands were on
the stack. This module does not implement that rule.

Translated code subtracts the work of many instructions from `Meter.left` before it does the work.
Translated code checks whether `left` is below zero at function entry and in every loop iteration.
"""

from bisect import bisect_left
from itertools import accumulate, pairwise

from msgspec import Struct

from nexus_tools.sui.localnet.vm.errors import OutOfGas

# `CALL_STACK_SIZE_LIMIT` of move-vm-runtime is the maximum number of callers of the running
# function.
CALL_DEPTH_MAX = 1024 + 1
# The limit is `OPERAND_STACK_SIZE_LIMIT` of move-vm-runtime. This VM applies the limit to each
# basic block. Sui applies the limit to all running functions together.
OPERAND_STACK_MAX = 1024
# The limit is `max_move_value_depth` of Sui's protocol configuration.
VALUE_DEPTH_MAX = 128
# The limit is `max_move_vector_len`, the maximum length of a vector after a push.
VECTOR_LENGTH_MAX = 262_144
# The limit is `MAX_TYPE_INSTANTIATION_NODES` of move-vm-runtime.
TYPE_NODES_MAX = 128

# The threshold is Sui's `V2_NATIVE_FUNCTION_CALL_THRESHOLD`. After this number of native calls, the
# cost of each further native call counts as instructions.
FREE_NATIVE_CALLS = 700


class Tiers:
    """A price that rises with the amount.

    A tier has a start, and a price for each unit above the start.
    """

    def __init__(self, *tiers: tuple[int, int]) -> None:
        self._starts = [start for start, _ in tiers]
        self._prices = [price for _, price in tiers]
        costs = [(end - start) * price for (start, price), (end, _) in pairwise(tiers)]
        self._below = [0, *accumulate(costs)]

    def cost(self, amount: int) -> int:
        """Return the cost of the first `amount` units, each at the price of its tier.

        For example, the price is 1 up to 20 000 units and 2 above 20 000 units. In this case, the
        cost of 20 010 units is 20 000 · 1 + 10 · 2 = 20 020.
        """
        # The unit at the start of a tier still has the price of the tier below. The 20 000th unit
        # costs 1, and the next unit costs 2.
        tier = max(bisect_left(self._starts, amount) - 1, 0)
        return self._below[tier] + (amount - self._starts[tier]) * self._prices[tier]

    def price(self, amount: int) -> int:
        """Return the price in the tier that contains `amount`."""
        return self._prices[max(bisect_left(self._starts, amount) - 1, 0)]

    def room(self, amount: int) -> int:
        """Return the number of units between `amount` and the end of the tier that contains it."""
        following = max(bisect_left(self._starts, amount), 1)
        return self._starts[following] - amount if following < len(self._starts) else _ENDLESS


# The number of units left in the last tier, which has no end.
_ENDLESS = 1 << 62

# The tiers are from `initial_cost_schedule_v5`.
INSTRUCTION_TIERS = Tiers(
    (0, 1), (20_000, 2), (50_000, 10), (100_000, 50), (200_000, 100), (10_000_000, 1_000)
)
STACK_BYTE_TIERS = Tiers((0, 1), (100_000, 2), (500_000, 5), (1_000_000, 100), (100_000_000, 1_000))

# `Meter.left` packs three counters into one number: instructions, pushes, and the sum of
# instructions, pushes and bytes. The sum has the highest bits, so `left` falls below zero when the
# sum is used up. `left` is a float, because float arithmetic is faster in Python than integers of
# this size. A float has 53 exact bits. For example, 18 instructions, 13 pushes and 70 bytes have
# the sum 101. The packed number is 18 + (13 << 18) + (101 << 35) = 3470336983058.
#
# Bits      0 to 17         18 to 34    35 to 52
#           instructions    pushes      their sum with the bytes
_PUSHES_AT = 18
_TOTAL_AT = 35
_INSTRUCTION_MASK = (1 << _PUSHES_AT) - 1
_PUSH_MASK = (1 << (_TOTAL_AT - _PUSHES_AT)) - 1
_BYTE = float(1 << _TOTAL_AT)
_INSTRUCTION = 1.0 + _BYTE
# The maximum of the sum in one window, which is the work between two calls of `_count`. The sum
# fits into its field even after the work until the next check is added.
_WINDOW = (1 << 15) - 1
# If work is charged in one window and returned in a later window, the counts of the later window
# are negative. Half of each field is for negative counts. `Charges` of the translator ensures that
# neither half overflows.
_INSTRUCTION_BIAS, _PUSH_BIAS = (_INSTRUCTION_MASK + 1) // 2, (_PUSH_MASK + 1) // 2
_BIASES = _INSTRUCTION_BIAS | _PUSH_BIAS << _PUSHES_AT
# A number of instructions that is larger than any count in one window.
_FAR = 1 << _PUSHES_AT
# Values of at least this size are charged separately, because all their bytes have the higher price
# if they cross a tier border. Native functions whose work counts as at least this many instructions
# are also charged separately.
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
        """The packed number to subtract from `Meter.left` for this work.

        Returned work has negative counts. For example, for 11 returned instructions, 9 pushes and
        52 bytes, the number is -(11 + (9 << 18) + (72 << 35)) = -2473903521803.
        """
        return float(self.instructions + (self.pushes << _PUSHES_AT) + (self.total << _TOTAL_AT))


def _pluralize(count: int, unit: str) -> str:
    plural = "pushes" if unit == "push" else f"{unit}s"
    return f"{count} {unit if abs(count) == 1 else plural}"


_PUSH = Work(1, 1).left
BYTE_PRICES = [_BYTE * size for size in range(LARGE)]
"""The amounts to subtract from `Meter.left` for 0 bytes, 1 byte, 2 bytes and so on.

A lookup in this list is faster than a multiplication.
"""


class Meter:
    """The gas meter of a transaction: its budget in internal gas units, and the work done so far.

    When `left` is below zero, call `settle`. If `pays_natives` is set, native functions charge the
    cost of their work to this meter. If `takes_natives` is set, code may subtract the units of a
    native call from `left` as instructions, if the units are fewer than `LARGE`. In this case, the
    code need not count the native call.
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
        """The units used so far, which are at most the budget. They can be read at any time."""
        return min(self._count(), self.budget)

    @property
    def instructions(self) -> int:
        """The number of executed instructions, including native units charged as instructions."""
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
        # All bytes of the value have the price of its last byte. `_count` charges each byte at the
        # price of its own tier, so `_extra` adds only the difference. For example, 99 500 bytes
        # were pushed before, and a byte above 100 000 costs 2. A value of 2 000 bytes costs 2 000 ·
        # 2 = 4 000. If its bytes were charged one by one, they would cost 500 · 1 + 1 500 · 2 = 3
        # 500. The difference of 500 is added to `_extra`.
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
        # tier. All units have this price if the rest of the tier is larger than a window, or larger
        # than the work of this window plus the units.
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
        """Empty the budget, so that the next check raises `OutOfGas`.

        Any thread may call this method.
        """
        self.budget = -1
        # The running thread may overwrite `left`. The thread still notices the empty budget at the
        # end of the window.
        self.left = -1.0

    def _charge_as_instructions(self, units: int) -> None:
        """Charge all units at the price of the last unit, as `charge_bytes` does for bytes."""
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
        # The biases make a negative field positive, so that it does not borrow from the next field.
        # For example, after 11 instructions, 9 pushes and 52 bytes were returned, `start - left` is
        # -2473903521803. The lowest 18 bits of this number are 262133 and not -11. After the bias
        # of 131072 is added, they are 131061, and 131061 - 131072 = -11.
        packed = int(self._start - self.left) + _BIASES
        instructions = (packed & _INSTRUCTION_MASK) - _INSTRUCTION_BIAS
        pushes = (packed >> _PUSHES_AT & _PUSH_MASK) - _PUSH_BIAS
        self._instructions += instructions
        self._pushes += pushes
        self._bytes += (packed >> _TOTAL_AT) - instructions - pushes
        cost = self._pushes + self._extra
        cost += INSTRUCTION_TIERS.cost(self._instructions) + STACK_BYTE_TIERS.cost(self._bytes)
        remaining = max(self.budget - cost, 0)
        # A window is at most the work that the budget covers at the lowest prices, which are one
        # internal unit each. At higher prices, the code may do more work until the end of the
        # window than the budget covers. In that case, the transaction fails and is reverted anyway.
        self._start = self.left = min(_WINDOW, remaining) * _BYTE
        self._extra_max = self._extra + remaining
        self._instruction_room = room = INSTRUCTION_TIERS.room(self._instructions)
        counts = self.pays_natives and self.native_calls > FREE_NATIVE_CALLS
        self.takes_natives = counts and room > _FAR
        return cost


def _instructions(packed: float) -> int:
    return (int(packed) + _BIASES & _INSTRUCTION_MASK) - _INSTRUCTION_BIAS
