"""Which references of a transaction extend which others, and what they borrow from.

Paths begin at the places of values: a reference to a place is the place itself; what a function
returns may be anything inside of what it was lent (`.*`). For example, with a table T:

    0  a = table::borrow_mut(&mut T, 1)    r = &mut T, then a: r -.*-> a; a borrows from T
                                           r ends with the command; a still borrows from T
    1  b = table::borrow_mut(&mut T, 2)    s = &mut T is extended by a (s -.*-> a): refused, for a
                                           mutable reference that is given away must be alone
    2  record::set(a, 7)                   without 1: a is extended by nothing, and may go

What is inside of T need not be told apart: nobody can say which entry a and b are, so that all
`.*` may be the same place. Source: `move-regex-borrow-graph`, with places for labels: as nothing
but places has labels, a path from a reference is empty or `.*`.
"""

from collections.abc import Hashable, Iterable, Sequence
from enum import Enum

from msgspec import Struct, field

Place = Hashable


class Path(Enum):
    """From a reference to one that extends it: to the very same, or to anything inside."""

    SAME = ""
    INSIDE = ".*"


class BorrowedReference(Struct, eq=False):
    """A reference that is alive: `extensions` and `bases` are other references, with the paths.

    `places` are those that it borrows from, and whether it may be inside of their values.
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
    """The references that are alive."""

    def __init__(self) -> None:
        self._count = 0
        self._of_places: dict[Place, set[BorrowedReference]] = {}

    def is_borrowed(self, place: Place) -> bool:
        """Whether a reference borrows from a place."""
        return bool(self._of_places.get(place))

    def borrow(self, place: Place, *, mutable: bool) -> BorrowedReference:
        """A reference to the value of a place."""
        new = self._new(mutable)
        # The new one may be the very same as each that is there; and each that is there, as its
        # path says, the very same as the new one, or inside of its value.
        for other in sorted(self._of_places.get(place, ()), key=_number):
            _extend(other, new, Path.SAME)
            for where, path in other.places:
                if where == place:
                    _extend(new, other, path)
        self._add_place(new, place, Path.SAME)
        return new

    def copy(self, source: BorrowedReference, *, mutable: bool) -> BorrowedReference:
        """Another reference to the same value."""
        new = self._new(mutable)
        self._derive(source, new, Path.SAME, frozenset())
        return new

    def call(
        self, sources: Sequence[BorrowedReference], mutable: Sequence[bool]
    ) -> list[BorrowedReference]:
        """The references that a function returns which was given `sources`.

        Mutable ones come of mutable ones, and are apart from all others that are returned.
        """
        returned = [self._new(each) for each in mutable]
        # A function cannot return two references to one value of which one is mutable: Move has
        # verified that. So these do not extend each other, though all come of the same sources.
        apart = frozenset(returned)
        apart_if_mutable = frozenset(each for each in returned if each.mutable)
        for new in returned:
            for source in sources:
                if source.mutable or not new.mutable:
                    exclude = apart if new.mutable else apart_if_mutable
                    self._derive(source, new, Path.INSIDE, exclude)
        return returned

    def release(self, reference: BorrowedReference) -> None:
        """A reference ends."""
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
        """Add what follows when `new` extends `source` by a path."""
        # From all that leads to the source a path leads to the new one: p, then `path`. From the
        # new one a path may lead to all that the source leads to, and back, if both may be inside
        # of the same value.
        for place, there in source.places:
            self._add_place(new, place, _joined(there, path))
        bases = [(other, each) for other, paths in source.bases.items() for each in paths]
        extensions = [(other, each) for other, paths in source.extensions.items() for each in paths]
        for other, there in [*bases, (source, Path.SAME)]:
            if other not in exclude:
                _extend(other, new, _joined(there, path))
        for other, there in [*extensions, (source, Path.SAME)]:
            if other not in exclude:
                _extend(new, other, there)
                _extend(other, new, path)


def _joined(first: Path, second: Path) -> Path:
    return Path.INSIDE if Path.INSIDE in (first, second) else Path.SAME


def _extend(base: BorrowedReference, extension: BorrowedReference, path: Path) -> None:
    if base is not extension:
        base.extensions.setdefault(extension, set()).add(path)
        extension.bases.setdefault(base, set()).add(path)


def _number(reference: BorrowedReference) -> int:
    return reference.number


def not_transferable(references: Iterable[BorrowedReference]) -> BorrowedReference | None:
    """The first of the references that cannot be given to a function together with the others.

    A mutable one must not be extended at all, and by none of the others.
    """
    given = set(references)
    for reference in sorted(given, key=_number):
        for other in sorted(reference.extensions, key=_number):
            if not reference.mutable:
                if other.mutable and other in given:
                    return other
            elif other in given or Path.INSIDE in reference.extensions[other]:
                return reference
    return None
