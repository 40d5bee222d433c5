"""Which references were made from which others.

An edge says that a reference was borrowed from another one, by a path of labels (a local, a field):
exactly there if it is strong, there or anywhere further in if it is weak.

    let a = &mut local;     frame -[local]-> a
    let b = &mut a.left;    frame -[local]-> a -[left]-> b
    let c = &mut a.right;   a can still be borrowed at `right`: nothing is borrowed there
    (a is dropped)          frame -[local, left]-> b, frame -[local, right]-> c
    let d = f(b);           b -[]-> d, weak: d leads somewhere into what b leads to

Source: `move-borrow-graph/src/graph.rs`.
"""

from collections.abc import Iterator

Label = tuple[str | int, ...]
_Path = tuple[Label, ...]
# Whether the edge is strong, and its path.
_Edge = tuple[bool, _Path] | tuple[bool, _Path, str]

# `MAX_EDGE_SET_SIZE` of `references.rs`.
_EDGES_MAX = 10
# Where there were more edges than are kept, the borrow may be of anything.
_ANYTHING: _Edge = (False, (), "overflown")


class BorrowGraph:
    """References by their numbers. `size` is the number of references and edges."""

    __slots__ = ("_borrowed_by", "_borrows_from", "_mutable", "size")

    def __init__(self) -> None:
        self._mutable: dict[int, bool] = {}
        self._borrowed_by: dict[int, dict[int, set[_Edge]]] = {}
        self._borrows_from: dict[int, set[int]] = {}
        self.size = 0

    def copy(self) -> "BorrowGraph":
        """A graph that changes independently."""
        other = BorrowGraph()
        other.size = self.size
        other._mutable = dict(self._mutable)
        other._borrowed_by = {
            ref: {child: set(edges) for child, edges in children.items()}
            for ref, children in self._borrowed_by.items()
        }
        other._borrows_from = {ref: set(parents) for ref, parents in self._borrows_from.items()}
        return other

    def renumbered(self, numbers: dict[int, int]) -> "BorrowGraph":
        """The same graph with other numbers for some references."""
        new = numbers.get
        other = BorrowGraph()
        other.size = self.size
        other._mutable = {new(ref, ref): mutable for ref, mutable in self._mutable.items()}
        other._borrowed_by = {
            new(ref, ref): {new(child, child): set(edges) for child, edges in children.items()}
            for ref, children in self._borrowed_by.items()
        }
        other._borrows_from = {
            new(ref, ref): {new(parent, parent) for parent in parents}
            for ref, parents in self._borrows_from.items()
        }
        return other

    def add(self, ref: int, *, mutable: bool) -> None:
        """Add a reference that borrows from none."""
        self._mutable[ref] = mutable
        self._borrowed_by[ref] = {}
        self._borrows_from[ref] = set()
        self.size += 1

    def is_mutable(self, ref: int) -> bool:
        """Whether a reference is mutable."""
        return self._mutable[ref]

    def is_borrowed(self, ref: int, label: Label | None = None) -> bool:
        """Whether there is a reference into this one; with a label, one that may be there."""
        return any(True for _ in self._borrowers(ref, label))

    def is_mutably_borrowed(self, ref: int, label: Label | None = None) -> bool:
        """As `is_borrowed`, for mutable references."""
        return any(self._mutable[child] for child in self._borrowers(ref, label))

    def is_fully_borrowed(self, ref: int) -> bool:
        """Whether there is a reference to the very same, or to an unknown part of it."""
        children = self._borrowed_by[ref].values()
        return any(not edge[1] for edges in children for edge in edges)

    def borrow(self, parent: int, child: int) -> None:
        """`child` was made from `parent` in an unknown way."""
        self._add_edge(parent, child, (False, ()))

    def borrow_at(self, parent: int, path: _Path, child: int) -> None:
        """`child` is what `parent` leads to at the path.

        What was borrowed from `parent` there or further in is borrowed from `child` from now on.
        """
        length = len(path)
        # What was borrowed of `parent` at `path` is borrowed of the new reference instead: after
        # `b = &mut a.left`, a second `&mut a.left` stands between the two, and b blocks it.
        moved: list[tuple[int, _Edge]] = [
            (borrower, edge)
            for borrower, edges in self._borrowed_by[parent].items()
            for edge in edges
            if edge[1][:length] == path
        ]
        for borrower, edge in moved:
            self._remove_edge(parent, borrower, edge)
        for borrower, edge in moved:
            self._add_edge(child, borrower, (edge[0], edge[1][length:]))
        self._add_edge(parent, child, (True, path))

    def release(self, ref: int) -> int:
        """Forget a reference: its borrowers borrow from its lenders. The number of new edges.

        They are counted before equal ones are joined, as the genuine verifier charges for them.
        """
        children = self._borrowed_by.pop(ref)
        parents = self._borrows_from.pop(ref)
        del self._mutable[ref]
        self.size -= 1 + sum(map(len, children.values()))
        made = 0
        for parent in parents:
            above = self._borrowed_by[parent].pop(ref)
            self.size -= len(above)
            for first in above:
                for child, below in children.items():
                    made += len(below)
                    for second in below:
                        self._splice(parent, first, child, second)
        for child in children:
            self._borrows_from[child].discard(ref)
        return made

    def edges(self) -> Iterator[tuple[int, int, _Edge]]:
        """Each edge with the references that it leads from and to."""
        for parent, children in self._borrowed_by.items():
            for child, edges in children.items():
                for edge in edges:
                    yield parent, child, edge

    def missing(self, other: "BorrowGraph") -> list[tuple[int, int, _Edge]]:
        """The edges of a graph with the same references that no edge of this one covers."""
        return [edge for edge in other.edges() if not self._covers(*edge)]

    def add_edges(self, edges: list[tuple[int, int, _Edge]]) -> None:
        """Add edges that `missing` gave."""
        for parent, child, edge in edges:
            self._add_edge(parent, child, edge)

    def _borrowers(self, ref: int, label: Label | None) -> Iterator[int]:
        for child, edges in self._borrowed_by[ref].items():
            if label is None or any(not edge[1] or edge[1][0] == label for edge in edges):
                yield child

    def _covers(self, parent: int, child: int, edge: _Edge) -> bool:
        # The same edge, or a weak one that ends before it: that says less, and so includes it.
        # A weak edge with the path [left] covers the strong one [left, x], not the other way round.
        mine = self._borrowed_by[parent].get(child, ())
        return any(
            own[:2] == edge[:2] or (not own[0] and edge[1][: len(own[1])] == own[1]) for own in mine
        )

    def _add_edge(self, parent: int, child: int, edge: _Edge) -> None:
        edges = self._borrowed_by[parent].setdefault(child, set())
        self._borrows_from[child].add(parent)
        if _ANYTHING in edges:
            return
        self.size -= len(edges)
        if len(edges) >= _EDGES_MAX:
            # Otherwise a loop that borrows further in at each turn would never come to an end.
            edges.clear()
            edge = _ANYTHING
        edges.add(edge)
        self.size += len(edges)

    def _remove_edge(self, parent: int, child: int, edge: _Edge) -> None:
        edges = self._borrowed_by[parent][child]
        edges.discard(edge)
        self.size -= 1
        if not edges:
            del self._borrowed_by[parent][child]
            self._borrows_from[child].discard(parent)

    def _splice(self, parent: int, first: _Edge, child: int, second: _Edge) -> None:
        if parent == child:
            return
        # Behind a weak edge, nobody knows where the second one begins.
        # From p -[]-> a, weak, and a -[left]-> b comes p -[]-> b, weak: b is the field `left` of
        # something inside of what p leads to.
        path = first[1] + second[1] if first[0] else first[1]
        self._add_edge(parent, child, (first[0] and second[0], path))
