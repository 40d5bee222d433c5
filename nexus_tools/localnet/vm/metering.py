"""What execution costs, and may cost, in internal gas units.

An instruction costs by three measures: that it is one, how many values it pushes onto the operand
stack, and how many bytes they have. A push costs a unit; the prices of an instruction and of a byte
rise in tiers with how many there were before in the transaction. Bytes that leave the stack are
not counted. Source: `sui-types/src/gas_model/tables.rs` and `sui-adapter/src/gas_meter.rs`, gas
model 11. There a push costs two units while more than 1 000 operands are on the stack, of the 1 024
that may be: that is left out.

All that a basic block does is one number, which is charged when the block is entered; the budget
is looked at when a function is entered and at every turn of a loop.
"""

from itertools import pairwise

from nexus_tools.localnet.vm.errors import OutOfGas

# `CALL_STACK_SIZE_LIMIT` of move-vm-runtime counts the callers of the running function.
CALL_DEPTH_MAX = 1024 + 1
# `OPERAND_STACK_SIZE_LIMIT` of move-vm-runtime; here it holds for each basic block, there for all
# running functions together.
OPERAND_STACK_MAX = 1024
# `max_move_value_depth` of Sui's protocol configuration.
VALUE_DEPTH_MAX = 128
# `MAX_TYPE_INSTANTIATION_NODES` of move-vm-runtime.
TYPE_NODES_MAX = 128

# Above how many each costs how much: `initial_cost_schedule_v5`.
Tiers = tuple[tuple[int, int], ...]
INSTRUCTION_TIERS: Tiers = (
    (0, 1),
    (20_000, 2),
    (50_000, 10),
    (100_000, 50),
    (200_000, 100),
    (10_000_000, 1_000),
)
STACK_BYTE_TIERS: Tiers = (
    (0, 1),
    (100_000, 2),
    (500_000, 5),
    (1_000_000, 100),
    (100_000_000, 1_000),
)
# `V2_NATIVE_FUNCTION_CALL_THRESHOLD`: what later native calls cost counts as instructions.
FREE_NATIVE_CALLS = 700

# One number for all that is counted: instructions, then pushes, then the sum of instructions,
# pushes and bytes, which is the highest and so decides when the meter is looked at.
_PUSHES_AT = 20
TOTAL_AT = 43
_INSTRUCTION_MASK = (1 << _PUSHES_AT) - 1
_PUSH_MASK = (1 << (TOTAL_AT - _PUSHES_AT)) - 1
# Small enough for the fields above, with all that one function can add between two looks.
_WINDOW = (1 << 17) - 1
# More bytes at once than these are charged on their own: across a border between tiers all of them
# have the higher price.
_LARGE = 1_024


def packed(instructions: int, pushes: int, size: int) -> int:
    """What to take from `Meter.left` for instructions, pushes, and bytes pushed."""
    total = instructions + pushes + size
    return instructions | pushes << _PUSHES_AT | total << TOTAL_AT


def tiered(tiers: Tiers, amount: int) -> int:
    """The cost of the first `amount`, each at the price of its tier."""
    cost = 0
    for (start, price), (end, _) in pairwise((*tiers, (amount, 0))):
        if amount <= start:
            break
        cost += (min(amount, end) - start) * price
    return cost


def price_at(tiers: Tiers, amount: int) -> int:
    """The price in the tier that `amount` is in."""
    return next(price for start, price in reversed(tiers) if amount > start or not start)


class Meter:
    """The internal gas units that a transaction has, and what it did so far.

    `left` is below zero when it is time for `settle`.
    """

    __slots__ = (
        "_bytes",
        "_extra",
        "_instructions",
        "_pushes",
        "_start",
        "budget",
        "left",
        "native_calls",
    )

    def __init__(self, budget: int) -> None:
        self.budget = budget
        self.native_calls = 0
        self._instructions = self._bytes = self._pushes = self._extra = 0
        self._open_window()

    @property
    def spent(self) -> int:
        """The units used so far, at most the budget."""
        self._count()
        return min(self._cost(), self.budget)

    @property
    def instructions(self) -> int:
        """How many instructions were executed, with what counts as such."""
        self._count()
        return self._instructions

    def settle(self) -> None:
        """Work out the cost so far. Raises `OutOfGas`."""
        self._count()
        if self._cost() > self.budget:
            raise OutOfGas

    def charge(self, units: int) -> None:
        """Charge for work that is neither instruction nor stack. Raises `OutOfGas`."""
        self._extra += units
        self.settle()

    def charge_bytes(self, size: int) -> None:
        """Charge for a value of this many bytes that is pushed. Raises `OutOfGas`."""
        if size < _LARGE:
            self.left -= size << TOTAL_AT
            if self.left < 0:
                self.settle()
            return
        self._count()
        before = self._bytes
        self._bytes += size
        self._extra += size * price_at(STACK_BYTE_TIERS, self._bytes)
        self._extra -= tiered(STACK_BYTE_TIERS, self._bytes) - tiered(STACK_BYTE_TIERS, before)
        self.settle()

    def charge_native(self, units: int) -> None:
        """Charge for the work of a native function. Raises `OutOfGas`."""
        if self.native_calls > FREE_NATIVE_CALLS:
            self._count()
            before = self._instructions
            self._instructions += units
            self._extra += units * price_at(INSTRUCTION_TIERS, self._instructions)
            self._extra -= tiered(INSTRUCTION_TIERS, self._instructions)
            self._extra += tiered(INSTRUCTION_TIERS, before)
        else:
            self._extra += units
        self.settle()

    def _count(self) -> None:
        """Read what was counted in the window, and open another."""
        done = self._start - self.left
        instructions = done & _INSTRUCTION_MASK
        pushes = done >> _PUSHES_AT & _PUSH_MASK
        self._instructions += instructions
        self._bytes += (done >> TOTAL_AT) - instructions - pushes
        self._pushes += pushes
        self._open_window()

    def _open_window(self) -> None:
        # Every unit of a window costs one internal unit at least.
        window = min(_WINDOW, max(self.budget - self._cost(), 0))
        self._start = self.left = window << TOTAL_AT

    def _cost(self) -> int:
        return (
            tiered(INSTRUCTION_TIERS, self._instructions)
            + tiered(STACK_BYTE_TIERS, self._bytes)
            + self._pushes
            + self._extra
        )
