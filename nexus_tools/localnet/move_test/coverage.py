"""Which lines of a package its tests have passed; what is for tests alone does not count."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from nexus_tools.dataclass import dataclass
from nexus_tools.localnet.move_test.attributes import FunctionBody
from nexus_tools.localnet.move_test.marked_build import MarkedBuild
from nexus_tools.localnet.move_test.markers import Statement


@dataclass(frozen=True, slots=True)
class FunctionCoverage:
    """A function, its line, and how often it was called."""

    name: str
    line: int
    calls: int


@dataclass(frozen=True, slots=True)
class ModuleCoverage:
    """How often each line of a module was passed: those on which statements begin.

    `unmeasured` are functions whose lines cannot be told and do not count.
    """

    module: str
    path: str
    lines: Mapping[int, int]
    functions: tuple[FunctionCoverage, ...]
    unmeasured: tuple[str, ...] = ()

    @property
    def covered(self) -> int:
        """How many lines were passed."""
        return sum(1 for count in self.lines.values() if count)

    def missed(self) -> list[tuple[int, int]]:
        """First and last lines of what was not passed; lines without statements do not divide."""
        ranges = []
        for is_missed, lines in groupby(sorted(self.lines), lambda line: not self.lines[line]):
            if is_missed:
                found = list(lines)
                ranges.append((found[0], found[-1]))
        return ranges


@dataclass(frozen=True, slots=True)
class Coverage:
    """The coverage of a package by module, in the order of files and lines."""

    modules: tuple[ModuleCoverage, ...]

    @property
    def lines(self) -> int:
        """How many lines have statements."""
        return sum(len(module.lines) for module in self.modules)

    @property
    def covered(self) -> int:
        """How many of them were passed."""
        return sum(module.covered for module in self.modules)


def coverage_of(marked: MarkedBuild, counts: Mapping[int, int]) -> Coverage:
    """The coverage from how often each marker was passed, by number."""
    bodies = [
        (path, body)
        for path, source in marked.build.sources.items()
        for body in source.bodies
        if not body.is_test_only
    ]
    passed: dict[tuple[str, int], list[tuple[Statement, int]]] = {}
    for number, statement in enumerate(marked.statements):
        place = (statement.path, statement.function.line)
        passed.setdefault(place, []).append((statement, counts.get(number, 0)))
    grouped: dict[tuple[str, str], list[FunctionBody]] = {}
    for path, body in sorted(bodies, key=lambda pair: (pair[0], pair[1].line)):
        grouped.setdefault((path, body.module), []).append(body)
    return Coverage(
        tuple(_module(path, bodies, passed, marked) for (path, _), bodies in grouped.items())
    )


def _module(
    path: str,
    bodies: Sequence[FunctionBody],
    passed: Mapping[tuple[str, int], Sequence[tuple[Statement, int]]],
    marked: MarkedBuild,
) -> ModuleCoverage:
    lines: Counter[int] = Counter()
    functions, unmeasured = [], []
    for body in bodies:
        statements = passed.get((path, body.line), ())
        if (path, body.line) in marked.unmarked:
            unmeasured.append(body.name)
        for statement, count in statements:
            lines[statement.line] = max(lines[statement.line], count)
        if statements:
            functions.append(FunctionCoverage(body.name, body.line, statements[0][1]))
    return ModuleCoverage(bodies[0].module, path, lines, tuple(functions), tuple(unmeasured))


def lines_in_words(ranges: Sequence[tuple[int, int]]) -> Iterator[str]:
    """Ranges as people write them: `3`, `5-8`."""
    for first, last in ranges:
        yield str(first) if first == last else f"{first}-{last}"
