"""What is known of the references at one place of a function: in locals, and on the stack.

Source: `move-bytecode-verifier/src/reference_safety/abstract_state.rs`.
"""

from collections.abc import Sequence

from nexus_tools.sui.localnet.verifier.context import FunctionContext, Meter
from nexus_tools.sui.localnet.verifier.errors import VerificationError
from nexus_tools.sui.localnet.verifier.references.borrow_graph import BorrowGraph, Label

VALUE = -1
"""Stands for a value that is no reference; references are numbers from 0."""

# `PER_GRAPH_ITEM_COST`, `ADD_BORROW_COST`, `RELEASE_ITEM_COST` and
# `RELEASE_ITEM_QUADRATIC_THRESHOLD`.
_GRAPH_UNITS = 4
_BORROW_UNITS = 3
_RELEASE_UNITS = 3
_RELEASE_MANY = 5


class ReferenceState:
    """The locals, each a reference or `VALUE`, and the graph of borrows.

    The number after those of the locals is the frame itself, of which locals are borrowed.
    Between blocks, the reference in a local has the number of the local.
    """

    __slots__ = ("frame", "graph", "locals", "meter", "next_number")

    def __init__(self, values: list[int], graph: BorrowGraph, meter: Meter) -> None:
        self.locals = values
        self.graph = graph
        self.meter = meter
        self.frame = len(values)
        self.next_number = self.frame + 1

    def copy(self) -> "ReferenceState":
        """A state that changes independently."""
        return ReferenceState(list(self.locals), self.graph.copy(), self.meter)

    def settled(self) -> "ReferenceState":
        """The state with each reference numbered by its local.

        Two ways to a block may have made references of other numbers for the same locals: what is
        known at the end of each can only be compared, and joined, under numbers that they share.
        Nothing else is alive there, for the stack is empty.
        """
        numbers = {ref: local for local, ref in enumerate(self.locals) if ref != VALUE}
        values = [VALUE if ref == VALUE else local for local, ref in enumerate(self.locals)]
        return ReferenceState(values, self.graph.renumbered(numbers), self.meter)

    def new(self, *, mutable: bool) -> int:
        """A new reference."""
        ref = self.next_number
        self.next_number += 1
        self.graph.add(ref, mutable=mutable)
        return ref

    def copied(self, ref: int, *, mutable: bool) -> int:
        """A new reference to the same.

        Every path begins with the empty one: all that was borrowed from `ref` is borrowed from the
        new reference from now on, and `ref` has no borrower but that one.
        """
        return self.borrowed_at(ref, None, mutable=mutable)

    def borrowed_at(self, ref: int, label: Label | None, *, mutable: bool) -> int:
        """A new reference to a local of the frame, a field of what `ref` leads to, or the same."""
        new = self.new(mutable=mutable)
        self.meter.add(_BORROW_UNITS)
        self.graph.borrow_at(ref, () if label is None else (label,), new)
        return new

    def borrowed_from(self, refs: Sequence[int], *, mutable: bool) -> int:
        """A new reference that leads somewhere into what the others lead to."""
        new = self.new(mutable=mutable)
        self.meter.add(_BORROW_UNITS * len(refs))
        for ref in refs:
            self.graph.borrow(ref, new)
        return new

    def release(self, value: int) -> None:
        """Forget a value; what was borrowed through a reference is kept in mind."""
        if value != VALUE:
            made = max(self.graph.release(value), 1)
            self.meter.add(_RELEASE_UNITS * max(made, made * made // _RELEASE_MANY))

    def is_writable(self, ref: int) -> bool:
        """Whether nothing is borrowed from a mutable reference."""
        self.charge_graph()
        return not self.graph.is_borrowed(ref)

    def is_readable(self, ref: int, label: Label | None = None) -> bool:
        """Whether nothing is borrowed mutably from a reference, or at a field of it."""
        if not self.graph.is_mutable(ref):
            return True
        self.charge_graph()
        return not self.graph.is_mutably_borrowed(ref, label)

    def is_local_borrowed(self, local: int, *, mutably: bool) -> bool:
        """Whether there is a reference to a local."""
        self.charge_graph()
        if mutably:
            return self.graph.is_mutably_borrowed(self.frame, local_label(local))
        return self.graph.is_borrowed(self.frame, local_label(local))

    def charge_graph(self) -> None:
        """Pay for looking at the graph."""
        self.meter.add(_GRAPH_UNITS * max(self.graph.size, 1))


def local_label(local: int) -> Label:
    """The label of borrows of a local."""
    return ("local", local)


class ReferenceChecker:
    """The stack of one block (references and `VALUE`), the state, and where in it the check is."""

    def __init__(self, context: FunctionContext, state: ReferenceState) -> None:
        self.context = context
        self.module = context.module
        self.state = state
        self.stack: list[int] = []
        self.offset = 0

    def refused(self, status: str, message: str) -> VerificationError:
        """The error to raise at the present instruction."""
        return self.context.refused(status, message, self.offset)
