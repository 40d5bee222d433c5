"""The graph of a transaction's references: which extend which, and what they borrow from.

Paths start at slots of values. A reference to a slot is the slot itself; a reference that a
function returns may point anywhere inside its arguments (`.*`). For example, with a table T:

    0  a = table::borrow_mut(&mut T, 1)    r = &mut T, then a: r -.*-> a; a borrows from T
                                           r ends with the command; a still borrows from T
    1  b = table::borrow_mut(&mut T, 2)    s = &mut T is extended by a (s -.*-> a): refused, because
                                           a mutable reference that is passed on must be unique
    2  record::set(a, 7)                   without 1: nothing extends a, so a may be passed

Locations inside T are not distinguished, because the entries of a and b are unknown. So all `.*`
may be the same location. Source: `move-regex-borrow-graph`, with slots as labels. Only slots have
labels, so a path from a reference is empty or `.*`.
"""

from collections.abc import Hashable, Iterable, Sequence
from enum import Enum

from msgspec import Struct, field

Place = Hashable


class Path(Enum):
    """The path from a reference to its extension: the same location, or anywhere inside."""

    SAME = ""
    INSIDE = ".*"


class BorrowedReference(Struct, eq=False):
    """A live reference. `extensions` and `bases` are other references, with the paths.

    `places` are the slots that it borrows from, each with the path into the slot's value.
    """

    number: int
    mutable: bool
    places: set[tuple[Place, Path]] = field(default_factory=set)
    extensions: dict["BorrowedReference", set[Path]] = field(default_factory=dict)
    bases: dict["BorrowedReference", set[Path]] = field(default_factory=dict)

    @property
    def is_writable(self) -> bool:
        """Whether no other reference points into its value."""
        return all(paths == {Path.SAME} for paths in self.extensions.values())


class BorrowGraph:
    """The live references."""

    def __init__(self) -> None:
        self._count = 0
        self._of_places: dict[Place, set[BorrowedReference]] = {}

    def is_borrowed(self, place: Place) -> bool:
        """Return whether a reference borrows from a slot."""
        return bool(self._of_places.get(place))

    def borrow(self, place: Place, *, mutable: bool) -> BorrowedReference:
        """Return a new reference to the value of a slot."""
        new = self._new(mutable)
        # The new reference may be the same as any existing one. An existing one is, according to
        # its path, the same as the new one or points into its value.
        for other in sorted(self._of_places.get(place, ()), key=_number):
            _extend(other, new, Path.SAME)
            for where, path in other.places:
                if where == place:
                    _extend(new, other, path)
        self._add_place(new, place, Path.SAME)
        return new

    def copy(self, source: BorrowedReference, *, mutable: bool) -> BorrowedReference:
        """Return another reference to the same value."""
        new = self._new(mutable)
        self._derive(source, new, Path.SAME, frozenset())
        return new

    def call(
        self, sources: Sequence[BorrowedReference], mutable: Sequence[bool]
    ) -> list[BorrowedReference]:
        """Return the references that a function with the arguments `sources` returns.

        Mutable ones derive from mutable ones, and are distinct from all other returned ones.
        """
        references = [self._new(is_mutable) for is_mutable in mutable]
        # Move has verified that a function does not return two references to one value if one
        # is mutable. So these do not extend each other, although all derive from the sources.
        distinct = frozenset(references)
        distinct_mutable = frozenset(reference for reference in references if reference.mutable)
        for new in references:
            for source in sources:
                if source.mutable or not new.mutable:
                    exclude = distinct if new.mutable else distinct_mutable
                    self._derive(source, new, Path.INSIDE, exclude)
        return references

    def release(self, reference: BorrowedReference) -> None:
        """End a reference."""
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
        """Add the edges that follow when `new` extends `source` by a path."""
        # A base that reaches the source by a path p reaches the new reference by p, then `path`.
        # The new reference may reach every extension of the source, and the reverse, because both
        # may point into the same value.
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
    """Return the first reference that cannot be passed together with the others, or None.

    A mutable reference must not be extended by one of the others, nor by any reference into its
    value.
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
