"""The state of all references at one point of a function, in locals and on the stack.

Source: `move-bytecode-verifier/src/reference_safety/abstract_state.rs`.
"""

from collections.abc import Sequence

from nexus_tools.sui.localnet.verifier.context import FunctionContext, Meter
from nexus_tools.sui.localnet.verifier.errors import VerificationError
from nexus_tools.sui.localnet.verifier.references.borrow_graph import BorrowGraph, Label

VALUE = -1
"""The marker of a value that is not a reference. References are numbers from 0."""

# In Sui, these numbers are `PER_GRAPH_ITEM_COST`, `ADD_BORROW_COST`, `RELEASE_ITEM_COST` and
# `RELEASE_ITEM_QUADRATIC_THRESHOLD`.
_GRAPH_UNITS = 4
_BORROW_UNITS = 3
_RELEASE_UNITS = 3
_RELEASE_MANY = 5


class ReferenceState:
    """The locals of a function, each a reference or `VALUE`, and the borrow graph.

    `frame` is the first number after the numbers of the locals. `frame` represents the stack frame,
    from which references to locals borrow. At the start of a basic block, the number of the
    reference in a local is the number of the local.
    """

    __slots__ = ("frame", "graph", "locals", "meter", "next_number")

    def __init__(self, values: list[int], graph: BorrowGraph, meter: Meter) -> None:
        self.locals = values
        self.graph = graph
        self.meter = meter
        self.frame = len(values)
        self.next_number = self.frame + 1

    def copy(self) -> "ReferenceState":
        """Return an independent copy."""
        return ReferenceState(list(self.locals), self.graph.copy(), self.meter)

    def settled(self) -> "ReferenceState":
        """Return the state with each reference numbered by its local.

        On two paths to a block, a local may have references with different numbers. `join` can
        compare the states of both paths only with common numbers. Between blocks, the stack is
        empty, so references exist only in locals.
        """
        numbers = {ref: local for local, ref in enumerate(self.locals) if ref != VALUE}
        values = [VALUE if ref == VALUE else local for local, ref in enumerate(self.locals)]
        return ReferenceState(values, self.graph.renumbered(numbers), self.meter)

    def new(self, *, mutable: bool) -> int:
        """Return a new reference."""
        ref = self.next_number
        self.next_number += 1
        self.graph.add(ref, mutable=mutable)
        return ref

    def copied(self, ref: int, *, mutable: bool) -> int:
        """Return a new reference to the target of `ref`.

        The new reference borrows from `ref` with an empty path, and every path starts with the
        empty path. So all references that borrowed from `ref` now borrow from the new reference,
        and only the new reference borrows from `ref`.
        """
        return self.borrowed_at(ref, None, mutable=mutable)

    def borrowed_at(self, ref: int, label: Label | None, *, mutable: bool) -> int:
        """Return a new reference to the part of `ref` at a label, or to the whole target."""
        new = self.new(mutable=mutable)
        self.meter.add(_BORROW_UNITS)
        self.graph.borrow_at(ref, () if label is None else (label,), new)
        return new

    def borrowed_from(self, refs: Sequence[int], *, mutable: bool) -> int:
        """Return a new reference that may point to any part of the targets of `refs`."""
        new = self.new(mutable=mutable)
        self.meter.add(_BORROW_UNITS * len(refs))
        for ref in refs:
            self.graph.borrow(ref, new)
        return new

    def release(self, value: int) -> None:
        """Drop a value. If the value is a reference, borrows through it stay in the graph."""
        if value != VALUE:
            new_edges = max(self.graph.release(value), 1)
            self.meter.add(_RELEASE_UNITS * max(new_edges, new_edges * new_edges // _RELEASE_MANY))

    def is_writable(self, ref: int) -> bool:
        """Return whether a mutable reference is writable, because no reference borrows from it."""
        self.charge_graph()
        return not self.graph.is_borrowed(ref)

    def is_readable(self, ref: int, label: Label | None = None) -> bool:
        """Return whether no mutable reference borrows from `ref`, or from its part at a label."""
        if not self.graph.is_mutable(ref):
            return True
        self.charge_graph()
        return not self.graph.is_mutably_borrowed(ref, label)

    def is_local_borrowed(self, local: int, *, mutably: bool) -> bool:
        """Return whether a reference to a local exists.

        If `mutably` is set, consider only mutable references.
        """
        self.charge_graph()
        if mutably:
            return self.graph.is_mutably_borrowed(self.frame, local_label(local))
        return self.graph.is_borrowed(self.frame, local_label(local))

    def charge_graph(self) -> None:
        """Charge for searching the graph."""
        self.meter.add(_GRAPH_UNITS * max(self.graph.size, 1))


def local_label(local: int) -> Label:
    """Return the label of borrows of a local."""
    return ("local", local)


class ReferenceChecker:
    """The stack of a block, the state, and the current offset.

    The stack has references and `VALUE`.
    """

    def __init__(self, context: FunctionContext, state: ReferenceState) -> None:
        self.context = context
        self.module = context.module
        self.state = state
        self.stack: list[int] = []
        self.offset = 0

    def refused(self, status: str, message: str) -> VerificationError:
        """Return the error to raise at the current instruction."""
        return self.context.refused(status, message, self.offset)
