"""What execution may cost, so that hostile code ends.

A unit is about one instruction. A basic block is charged when it is entered; the budget is looked
at when a function is entered and at every turn of a loop. What costs more than an instruction pays
by size: copies and comparisons of vectors, constants, packing, growing a vector.
"""

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

# Units beyond the instruction itself.
GROW_VECTOR = 3
INSTANTIATE = 10
BYTES_PER_UNIT = 8


class Meter:
    """The units that a transaction has left; `left` is below zero once it is exhausted."""

    __slots__ = ("budget", "left")

    def __init__(self, budget: int) -> None:
        self.budget = budget
        self.left = budget

    @property
    def spent(self) -> int:
        """The units used so far."""
        return self.budget - self.left

    def charge(self, units: int) -> None:
        """Use up units. Raises `OutOfGas`."""
        self.left -= units
        if self.left < 0:
            raise OutOfGas
