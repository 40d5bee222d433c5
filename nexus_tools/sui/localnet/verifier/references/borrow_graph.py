"""The borrow graph, which records the references from which each reference borrows.

An edge means that a reference borrows from another reference along a path. The labels of a path are
locals and fields. With a strong edge, the reference points exactly to the target of the path. With
a weak edge, the reference points to the target or to any part of the target.

    let a = &mut local;     frame -[local]-> a
    let b = &mut a.left;    frame -[local]-> a -[left]-> b
    let c = &mut a.right;   allowed, because a has no borrow at `right`
    (a is dropped)          frame -[local, left]-> b, frame -[local, right]-> c
    let d = f(b);           b -[]-> d, weak: d points to any part of the target of b

Source: `move-borrow-graph/src/graph.rs`.
"""

from collections.abc import Iterator

Label = tuple[str | int, ...]
_Path = tuple[Label, ...]
# An edge consists of a flag for strong edges, a path, and a marker if the edge is `_ANYTHING`.
_Edge = tuple[bool, _Path] | tuple[bool, _Path, str]

# `MAX_EDGE_SET_SIZE` of `references.rs`.
_EDGES_MAX = 10
# The edge that replaces too many edges between two references. Its child may point to any part.
_ANYTHING: _Edge = (False, (), "overflown")


class BorrowGraph:
    """A borrow graph, in which references are numbers. `size` counts its references and edges."""

    __slots__ = ("_borrowed_by", "_borrows_from", "_mutable", "size")

    def __init__(self) -> None:
        self._mutable: dict[int, bool] = {}
        self._borrowed_by: dict[int, dict[int, set[_Edge]]] = {}
        self._borrows_from: dict[int, set[int]] = {}
        self.size = 0

    def copy(self) -> "BorrowGraph":
        """Return an independent copy."""
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
        """Return a copy in which references are renumbered as `numbers` specifies."""
        new_number = numbers.get
        other = BorrowGraph()
        other.size = self.size
        other._mutable = {new_number(ref, ref): mutable for ref, mutable in self._mutable.items()}
        other._borrowed_by = {
            new_number(ref, ref): {
                new_number(child, child): set(edges) for child, edges in children.items()
            }
            for ref, children in self._borrowed_by.items()
        }
        other._borrows_from = {
            new_number(ref, ref): {new_number(parent, parent) for parent in parents}
            for ref, parents in self._borrows_from.items()
        }
        return other

    def add(self, ref: int, *, mutable: bool) -> None:
        """Add a reference that does not borrow from another reference."""
        self._mutable[ref] = mutable
        self._borrowed_by[ref] = {}
        self._borrows_from[ref] = set()
        self.size += 1

    def is_mutable(self, ref: int) -> bool:
        """Return whether a reference is mutable."""
        return self._mutable[ref]

    def is_borrowed(self, ref: int, label: Label | None = None) -> bool:
        """Return whether a reference borrows from `ref`, or may borrow from its part at `label`."""
        return any(True for _ in self._borrowers(ref, label))

    def is_mutably_borrowed(self, ref: int, label: Label | None = None) -> bool:
        """Return whether `is_borrowed` is true for a mutable reference."""
        return any(self._mutable[child] for child in self._borrowers(ref, label))

    def is_fully_borrowed(self, ref: int) -> bool:
        """Return whether a reference borrows all of `ref`, or an unknown part of it."""
        children = self._borrowed_by[ref].values()
        return any(not edge[1] for edges in children for edge in edges)

    def borrow(self, parent: int, child: int) -> None:
        """Record that `child` may point to any part of the target of `parent`."""
        self._add_edge(parent, child, (False, ()))

    def borrow_at(self, parent: int, path: _Path, child: int) -> None:
        """Record that `child` points to the part of `parent` at the path.

        References that borrowed from `parent` at or below the path then borrow from `child`.
        """
        length = len(path)
        # Borrows from `parent` at `path` become borrows from the new reference. After `b = &mut
        # a.left`, a second `&mut a.left` is placed between a and b. As long as b exists, the code
        # cannot write through the second reference.
        moved_edges: list[tuple[int, _Edge]] = [
            (borrower, edge)
            for borrower, edges in self._borrowed_by[parent].items()
            for edge in edges
            if edge[1][:length] == path
        ]
        for borrower, edge in moved_edges:
            self._remove_edge(parent, borrower, edge)
        for borrower, edge in moved_edges:
            self._add_edge(child, borrower, (edge[0], edge[1][length:]))
        self._add_edge(parent, child, (True, path))

    def release(self, ref: int) -> int:
        """Remove a reference and return the number of new edges from its parents to its children.

        Equal new edges count separately, because Sui's verifier charges for each of them.
        """
        children = self._borrowed_by.pop(ref)
        parents = self._borrows_from.pop(ref)
        del self._mutable[ref]
        self.size -= 1 + sum(map(len, children.values()))
        new_edges = 0
        for parent in parents:
            parent_edges = self._borrowed_by[parent].pop(ref)
            self.size -= len(parent_edges)
            for first in parent_edges:
                for child, child_edges in children.items():
                    new_edges += len(child_edges)
                    for second in child_edges:
                        self._splice(parent, first, child, second)
        for child in children:
            self._borrows_from[child].discard(ref)
        return new_edges

    def edges(self) -> Iterator[tuple[int, int, _Edge]]:
        """Yield each edge as (parent, child, edge)."""
        for parent, children in self._borrowed_by.items():
            for child, edges in children.items():
                for edge in edges:
                    yield parent, child, edge

    def missing(self, other: "BorrowGraph") -> list[tuple[int, int, _Edge]]:
        """Return the edges that only `other` has. Both graphs must have the same references."""
        return [edge for edge in other.edges() if not self._covers(*edge)]

    def add_edges(self, edges: list[tuple[int, int, _Edge]]) -> None:
        """Add the edges that `missing` returned."""
        for parent, child, edge in edges:
            self._add_edge(parent, child, edge)

    def _borrowers(self, ref: int, label: Label | None) -> Iterator[int]:
        for child, edges in self._borrowed_by[ref].items():
            if label is None or any(not edge[1] or edge[1][0] == label for edge in edges):
                yield child

    def _covers(self, parent: int, child: int, edge: _Edge) -> bool:
        # An equal edge covers an edge. A weak edge also covers every edge whose path starts with
        # its own path. A weak edge with the path [left] covers the strong edge with the path [left,
        # x], but not vice versa.
        own_edges = self._borrowed_by[parent].get(child, ())
        return any(
            own_edge[:2] == edge[:2]
            or (not own_edge[0] and edge[1][: len(own_edge[1])] == own_edge[1])
            for own_edge in own_edges
        )

    def _add_edge(self, parent: int, child: int, edge: _Edge) -> None:
        edges = self._borrowed_by[parent].setdefault(child, set())
        self._borrows_from[child].add(parent)
        if _ANYTHING in edges:
            return
        self.size -= len(edges)
        if len(edges) >= _EDGES_MAX:
            # Without this limit, the analysis of a loop that borrows a deeper part in each
            # iteration would never end.
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
        # After a weak edge, the start of the second path is unknown. So the weak edge p -[]-> a and
        # the edge a -[left]-> b become the weak edge p -[]-> b. Here b is the field `left` of an
        # unknown part of p's target.
        path = first[1] + second[1] if first[0] else first[1]
        self._add_edge(parent, child, (first[0] and second[0], path))
