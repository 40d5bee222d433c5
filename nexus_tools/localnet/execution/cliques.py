"""Which values of a transaction are entangled, for the rule of non-public entry functions.

Values that are used in one command belong together from then on, with its results: a clique. A
clique is hot while it holds a hot potato, a value that can neither be dropped nor stored, and for
ever after a shared object was consumed in it. A non-public entry function takes no argument from a
hot clique, so that nobody can force what happens after it. Source: the Move Book, "Entry
functions", and `private_entry_arguments.rs` of `sui-adapter`.
"""

from collections.abc import Iterable
from math import inf


class Cliques:
    """Disjoint sets of values, each with the number of its hot potatoes."""

    __slots__ = ("_heat", "_parent")

    def __init__(self) -> None:
        self._parent: list[int] = []
        self._heat: list[float] = []

    def new(self) -> int:
        """A clique of its own."""
        self._parent.append(len(self._parent))
        self._heat.append(0)
        return len(self._parent) - 1

    def merge(self, cliques: Iterable[int]) -> int:
        """One clique of all these."""
        roots = {self._root(clique) for clique in cliques}
        if not roots:
            return self.new()
        merged = roots.pop()
        for root in roots:
            self._parent[root] = merged
            self._heat[merged] += self._heat[root]
        return merged

    def is_hot(self, clique: int) -> bool:
        """Whether there is a hot potato in the clique."""
        return self._heat[self._root(clique)] > 0

    def heat(self, clique: int) -> None:
        """A hot potato comes into being."""
        self._heat[self._root(clique)] += 1

    def cool(self, clique: int) -> None:
        """A hot potato is consumed."""
        self._heat[self._root(clique)] -= 1

    def heat_for_ever(self, clique: int) -> None:
        """A shared object is consumed."""
        self._heat[self._root(clique)] = inf

    def _root(self, clique: int) -> int:
        while self._parent[clique] != clique:
            self._parent[clique] = self._parent[self._parent[clique]]
            clique = self._parent[clique]
        return clique
