"""What execution costs, and may cost, in internal gas units.

An instruction costs by three measures: that it is one, how many values it pushes onto the operand
stack, and how many bytes they have. A push costs a unit; the prices of an instruction and of a byte
rise in tiers with how many there were before in the transaction. Bytes that leave the stack are
not counted. Source: `sui-types/src/gas_model/tables.rs` and `sui-adapter/src/gas_meter.rs`, gas
model 11. There a push costs two units once more than 1 000 operands were on the stack, of the 1 024
that may be: that is left out.

Translated code takes what it does from `Meter.left` before it does it, many instructions at once;
whether that is below zero is looked at when a function is entered and at every turn of a loop.
"""

from bisect import bisect_left
from itertools import accumulate, pairwise

from msgspec import Struct

from nexus_tools.sui.localnet.vm.errors import OutOfGas

# `CALL_STACK_SIZE_LIMIT` of move-vm-runtime counts the callers of the running function.
CALL_DEPTH_MAX = 1024 + 1
# `OPERAND_STACK_SIZE_LIMIT` of move-vm-runtime; here it holds for each basic block, there for all
# running functions together.
OPERAND_STACK_MAX = 1024
# `max_move_value_depth` of Sui's protocol configuration.
VALUE_DEPTH_MAX = 128
# `max_move_vector_len`, which an element that is pushed may not exceed.
VECTOR_LENGTH_MAX = 262_144
# `MAX_TYPE_INSTANTIATION_NODES` of move-vm-runtime.
TYPE_NODES_MAX = 128

# `V2_NATIVE_FUNCTION_CALL_THRESHOLD`: what later native calls cost counts as instructions.
FREE_NATIVE_CALLS = 700


class Tiers:
    """A price that rises with the amount: above how much each further one costs how much."""

    def __init__(self, *tiers: tuple[int, int]) -> None:
        self._starts = [start for start, _ in tiers]
        self._prices = [price for _, price in tiers]
        costs = [(end - start) * price for (start, price), (end, _) in pairwise(tiers)]
        self._below = [0, *accumulate(costs)]

    def cost(self, amount: int) -> int:
        """The cost of the first `amount`, each at the price of its tier.

        With tiers of 1 from the start and of 2 above 20 000, the first 20 010 cost
        20 000 · 1 + 10 · 2 = 20 020.
        """
        # The start of a tier still has the price of the one below: the 20 000th costs 1, the next
        # one 2.
        tier = max(bisect_left(self._starts, amount) - 1, 0)
        return self._below[tier] + (amount - self._starts[tier]) * self._prices[tier]

    def price(self, amount: int) -> int:
        """The price in the tier that `amount` is in."""
        return self._prices[max(bisect_left(self._starts, amount) - 1, 0)]

    def room(self, amount: int) -> int:
        """How many more there can be in the tier that `amount` is in."""
        following = max(bisect_left(self._starts, amount), 1)
        return self._starts[following] - amount if following < len(self._starts) else _ENDLESS


# The room in the last tier.
_ENDLESS = 1 << 62

# `initial_cost_schedule_v5`.
INSTRUCTION_TIERS = Tiers(
    (0, 1), (20_000, 2), (50_000, 10), (100_000, 50), (200_000, 100), (10_000_000, 1_000)
)
STACK_BYTE_TIERS = Tiers((0, 1), (100_000, 2), (500_000, 5), (1_000_000, 100), (100_000_000, 1_000))

# `Meter.left` is one number for all that is counted: instructions, then pushes, then the sum of
# instructions, pushes and bytes, which is the highest and so decides when the meter is looked at.
# A float, because Python is quicker with it than with an integer of this size; 53 bits are exact.
# 18 instructions with 13 pushes of 70 bytes are 18 + (13 << 18) + (101 << 35) = 3470336983058.
#
# bits      0 to 17         18 to 34    35 to 52
#           instructions    pushes      their sum with the bytes
_PUSHES_AT = 18
_TOTAL_AT = 35
_INSTRUCTION_MASK = (1 << _PUSHES_AT) - 1
_PUSH_MASK = (1 << (_TOTAL_AT - _PUSHES_AT)) - 1
_BYTE = float(1 << _TOTAL_AT)
_INSTRUCTION = 1.0 + _BYTE
# So much of the sum at most until the meter counts: with what is done between two looks it fits.
_WINDOW = (1 << 15) - 1
# What was paid in advance and is given back later is less than nothing in the window after: half of
# each field is for that. `Charges` of the translator sees to it that neither half overflows.
_INSTRUCTION_BIAS, _PUSH_BIAS = (_INSTRUCTION_MASK + 1) // 2, (_PUSH_MASK + 1) // 2
_BIASES = _INSTRUCTION_BIAS | _PUSH_BIAS << _PUSHES_AT
# More instructions than can be counted in a window.
_FAR = 1 << _PUSHES_AT
# More bytes at once than these are charged on their own: across a border between tiers all of them
# have the higher price. So is the work of a native that counts as more instructions.
LARGE = 1_024


class Work(Struct, frozen=True):
    """What a piece of code does: instructions, pushes, and bytes pushed."""

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
        return ", ".join([_counted(number, word) for word, number in parts.items() if number])

    @property
    def total(self) -> int:
        """The sum of what is counted, which is the cost in the lowest tier."""
        return self.instructions + self.pushes + self.size

    @property
    def left(self) -> float:
        """What to take from `Meter.left`.

        Of work that is given back, all fields are negative: of 11 instructions, 9 pushes and 52
        bytes it is -(11 + (9 << 18) + (72 << 35)) = -2473903521803.
        """
        return float(self.instructions + (self.pushes << _PUSHES_AT) + (self.total << _TOTAL_AT))


def _counted(number: int, word: str) -> str:
    plural = "pushes" if word == "push" else f"{word}s"
    return f"{number} {word if abs(number) == 1 else plural}"


_PUSH = Work(1, 1).left
BYTE_PRICES = [_BYTE * size for size in range(LARGE)]
"""What to take from `Meter.left` for so many bytes: looked up in less time than multiplied."""


class Meter:
    """The internal gas units that a transaction has, and what it did so far.

    `left` is below zero when it is time for `settle`; `pays_natives` says that natives charge what
    their work costs here. If `takes_natives` is set, the units of a native, of fewer than `LARGE`,
    can be taken from `left` as instructions, and its call need not be counted any more.
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
        """The units used so far, at most the budget. It may be asked for at any time."""
        return min(self._count(), self.budget)

    @property
    def instructions(self) -> int:
        """How many instructions were executed, with what counts as such."""
        self._count()
        return self._instructions

    def settle(self) -> None:
        """Work out the cost so far. Raises `OutOfGas`."""
        if self._count() > self.budget:
            raise OutOfGas

    def charge(self, units: int) -> None:
        """Charge for work that is neither instruction nor stack. Raises `OutOfGas`."""
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
        """Charge for a value of this many bytes that is pushed. Raises `OutOfGas`."""
        if size < LARGE:
            self.left = left = self.left - size * _BYTE
            if left < 0.0:
                self.settle()
            return
        # All of the bytes have the price of the last one; what they cost as so many single bytes,
        # which `_count` adds for them as for any, is taken off again.
        # Example: 99 500 bytes were pushed before, at 1 each, and from 100 000 on a byte costs 2.
        # Then 2 000 more at once cost 2 000 · 2 = 4 000, though one by one they would cost 500 · 1
        # + 1 500 · 2 = 3 500. The difference of 500 goes to `_extra`.
        self._count()
        before = self._bytes
        self._bytes += size
        self._extra += size * STACK_BYTE_TIERS.price(self._bytes)
        self._extra -= STACK_BYTE_TIERS.cost(self._bytes) - STACK_BYTE_TIERS.cost(before)
        self.settle()

    def charge_push(self, size: int) -> None:
        """Charge for an instruction that pushes a value of this many bytes. Raises `OutOfGas`."""
        self.left -= _PUSH
        self.charge_bytes(size)

    def charge_native(self, units: int) -> None:
        """Charge for the work of a native function. Raises `OutOfGas`."""
        if self.native_calls <= FREE_NATIVE_CALLS:
            self.charge(units)
        # Taken from `left` only where all of them surely have the price of the present tier: there
        # is room for more than a window, or, looked at closely, for what this window has done and
        # these units.
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
        """Leave nothing: the next look raises `OutOfGas`. Another thread may call it."""
        self.budget = -1
        # The running thread may write its own difference over it. The budget is gone all the same,
        # and noticed at the end of the window.
        self.left = -1.0

    def _charge_as_instructions(self, units: int) -> None:
        """All of the units have the price of the last one, as in `charge_bytes`."""
        self._count()
        before = self._instructions
        self._instructions += units
        self._extra += units * INSTRUCTION_TIERS.price(self._instructions)
        self._extra -= INSTRUCTION_TIERS.cost(self._instructions) - INSTRUCTION_TIERS.cost(before)
        self.settle()

    def _count(self) -> int:
        """Read what was counted in the window, and open another; gives the cost so far."""
        # The biases make a field that is below zero positive, so that it borrows from no other.
        # Example: after 11 instructions, 9 pushes and 52 bytes were given back, `start - left` is
        # -2473903521803, of which the lowest 18 bits are 262133, not -11. With the bias of 131072
        # they are 131061, and 131061 - 131072 = -11.
        done = int(self._start - self.left) + _BIASES
        instructions = (done & _INSTRUCTION_MASK) - _INSTRUCTION_BIAS
        pushes = (done >> _PUSHES_AT & _PUSH_MASK) - _PUSH_BIAS
        self._instructions += instructions
        self._pushes += pushes
        self._bytes += (done >> _TOTAL_AT) - instructions - pushes
        cost = self._pushes + self._extra
        cost += INSTRUCTION_TIERS.cost(self._instructions) + STACK_BYTE_TIERS.cost(self._bytes)
        remaining = max(self.budget - cost, 0)
        # A window ends no later than the budget does at the lowest prices. At higher ones more is
        # done than is paid for, until that is noticed: what fails then is undone anyway.
        # Every unit of a window costs one internal unit at least.
        self._start = self.left = min(_WINDOW, remaining) * _BYTE
        self._extra_max = self._extra + remaining
        self._instruction_room = room = INSTRUCTION_TIERS.room(self._instructions)
        counts = self.pays_natives and self.native_calls > FREE_NATIVE_CALLS
        self.takes_natives = counts and room > _FAR
        return cost


def _instructions(done: float) -> int:
    return (int(done) + _BIASES & _INSTRUCTION_MASK) - _INSTRUCTION_BIAS
