"""The borrow graph of a transaction's references, which records what each reference borrows from.

A reference borrows from the slot of a value along a path, and it *extends* another reference if it
may point into the target of that reference. The path of a reference to a slot is empty. A reference
that a function returns may point anywhere inside its arguments (`.*`). For example, with a table T:

    0  a = table::borrow_mut(&mut T, 1)    r = &mut T, then a: r -.*-> a; a borrows from T
                                           r ends with the command; a still borrows from T
    1  b = table::borrow_mut(&mut T, 2)    s = &mut T is extended by a (s -.*-> a): refused, because
                                           a mutable reference that is passed on must be unique
    2  record::set(a, 7)                   without 1: nothing extends a, so a may be passed

The graph does not distinguish locations inside T, because it does not know the entries of a and b.
So any two paths `.*` may lead to the same location. Source: `move-regex-borrow-graph`, with slots
as labels. Only slots have labels, so a path from a reference is empty or `.*`.
"""

from collections.abc import Hashable, Iterable, Sequence
from enum import Enum

from msgspec import Struct, field

Place = Hashable


class Path(Enum):
    """The path from a reference to its extension: the same location, or anywhere inside it."""

    SAME = ""
    INSIDE = ".*"


class BorrowedReference(Struct, eq=False):
    """A live reference. `extensions` and `bases` map other references to the paths between them.

    `places` are the slots from which the reference borrows, each with the path into the slot's
    value.
    """

    number: int
    mutable: bool
    places: set[tuple[Place, Path]] = field(default_factory=set)
    extensions: dict["BorrowedReference", set[Path]] = field(default_factory=dict)
    bases: dict["BorrowedReference", set[Path]] = field(default_factory=dict)

    @property
    def is_writable(self) -> bool:
        """Whether no other reference points into the target of this reference."""
        return all(paths == {Path.SAME} for paths in self.extensions.values())


class BorrowGraph:
    """The graph of all live references."""

    def __init__(self) -> None:
        self._count = 0
        self._of_places: dict[Place, set[BorrowedReference]] = {}

    def is_borrowed(self, place: Place) -> bool:
        """Return whether a reference borrows from a slot."""
        return bool(self._of_places.get(place))

    def borrow(self, place: Place, *, mutable: bool) -> BorrowedReference:
        """Return a new reference to the value of a slot."""
        new = self._new(mutable)
        # The new reference may extend any existing reference to this slot. Depending on its path,
        # an existing reference has the target of the new reference or points into this target.
        for other in sorted(self._of_places.get(place, ()), key=_number):
            _extend(other, new, Path.SAME)
            for where, path in other.places:
                if where == place:
                    _extend(new, other, path)
        self._add_place(new, place, Path.SAME)
        return new

    def copy(self, source: BorrowedReference, *, mutable: bool) -> BorrowedReference:
        """Return a new reference to the target of `source`."""
        new = self._new(mutable)
        self._derive(source, new, Path.SAME, frozenset())
        return new

    def call(
        self, sources: Sequence[BorrowedReference], mutable: Sequence[bool]
    ) -> list[BorrowedReference]:
        """Return the references that a function with the arguments `sources` returns.

        Mutable results derive only from mutable arguments, and are distinct from all other results.
        """
        references = [self._new(is_mutable) for is_mutable in mutable]
        # The Move verifier ensures that a function does not return two references to one value if
        # one of them is mutable. So returned references do not extend each other, although all of
        # them derive from the sources.
        distinct = frozenset(references)
        distinct_mutable = frozenset(reference for reference in references if reference.mutable)
        for new in references:
            for source in sources:
                if source.mutable or not new.mutable:
                    exclude = distinct if new.mutable else distinct_mutable
                    self._derive(source, new, Path.INSIDE, exclude)
        return references

    def release(self, reference: BorrowedReference) -> None:
        """Remove a reference from the graph."""
        for place, _ in reference.places:
            self._of_places[place].discard(reference)
        for other in reference.extensions:
            other.bases.pop(reference, None)
        for other in reference.bases:
            other.extensions.pop(reference, None)

    def _new(self, mutable: bool) -> BorrowedReference:
        self._count += 1
        return BorrowedReference(self._count, mutable)

    def _add_place(self, reference: BorrowedReference, place: Place, path: Path) -> None:
        reference.places.add((place, path))
        self._of_places.setdefault(place, set()).add(reference)

    def _derive(
        self,
        source: BorrowedReference,
        new: BorrowedReference,
        path: Path,
        exclude: frozenset[BorrowedReference],
    ) -> None:
        """Add all edges that result when `new` extends `source`, except edges to `exclude`."""
        # A base that reaches the source by a path p reaches the new reference by p followed by
        # `path`. The new reference may reach every extension of the source, and every extension may
        # reach the new reference, because both may point into the same value.
        for place, step in source.places:
            self._add_place(new, place, _joined(step, path))
        bases = [(base, step) for base, steps in source.bases.items() for step in steps]
        extensions = [(other, step) for other, steps in source.extensions.items() for step in steps]
        for other, step in [*bases, (source, Path.SAME)]:
            if other not in exclude:
                _extend(other, new, _joined(step, path))
        for other, step in [*extensions, (source, Path.SAME)]:
            if other not in exclude:
                _extend(new, other, step)
                _extend(other, new, path)


def _joined(first: Path, second: Path) -> Path:
    return Path.INSIDE if Path.INSIDE in (first, second) else Path.SAME


def _extend(base: BorrowedReference, extension: BorrowedReference, path: Path) -> None:
    if base is not extension:
        base.extensions.setdefault(extension, set()).add(path)
        extension.bases.setdefault(base, set()).add(path)


def _number(reference: BorrowedReference) -> int:
    return reference.number


def first_conflict(references: Iterable[BorrowedReference]) -> BorrowedReference | None:
    """Return the first reference that conflicts with another reference passed to the same call.

    None of the other passed references, and no reference into its target, may extend a mutable
    reference. Return None if the references do not conflict.
    """
    passed = set(references)
    for reference in sorted(passed, key=_number):
        for other in sorted(reference.extensions, key=_number):
            if not reference.mutable:
                if other.mutable and other in passed:
                    return other
            elif other in passed or Path.INSIDE in reference.extensions[other]:
                return reference
    return None
