"""The line coverage of a package's tests, formatted as text, JSON or LCOV."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import PurePath
from typing import Any

from msgspec import Struct

from nexus_tools.sui.localnet.move_test.compilation.annotated_sources import FunctionBody
from nexus_tools.sui.localnet.move_test.compilation.markers import MarkedBuild, Statement


class FunctionCoverage(Struct, frozen=True):
    """A function with its line and the number of its calls."""

    name: str
    line: int
    calls: int


class ModuleCoverage(Struct, frozen=True):
    """The coverage of a module. `lines` counts executions of each line on which a statement starts.

    `unmeasured` are functions without markers, whose lines are not included.
    """

    module: str
    path: str
    lines: Mapping[int, int]
    functions: tuple[FunctionCoverage, ...]
    unmeasured: tuple[str, ...] = ()

    @property
    def covered(self) -> int:
        """The number of executed lines."""
        return sum(1 for count in self.lines.values() if count)

    def missed(self) -> list[tuple[int, int]]:
        """Return the first and the last line of each range without executed statements.

        Lines without statements do not split a range. For example, if the statements are on lines
        3, 5, 6, 9 and 12, and only line 6 was executed, the ranges are 3-5 and 9-12.
        """
        ranges = []
        for is_missed, lines in groupby(sorted(self.lines), lambda line: not self.lines[line]):
            if is_missed:
                range_lines = list(lines)
                ranges.append((range_lines[0], range_lines[-1]))
        return ranges


class Coverage(Struct, frozen=True):
    """The coverage of a package's modules, in the order of files and lines."""

    modules: tuple[ModuleCoverage, ...]

    @property
    def lines(self) -> int:
        """The number of lines with statements."""
        return sum(len(module.lines) for module in self.modules)

    @property
    def covered(self) -> int:
        """The number of executed lines."""
        return sum(module.covered for module in self.modules)


def coverage_of(marked: MarkedBuild, counts: Mapping[int, int]) -> Coverage:
    """Return the coverage from the number of executions of each marker."""
    bodies = [
        (path, body)
        for path, source in marked.build.sources.items()
        for body in source.bodies
        if not body.is_test_only
    ]
    executed: dict[tuple[str, int], list[tuple[Statement, int]]] = {}
    for number, statement in enumerate(marked.statements):
        function_key = (statement.path, statement.function.line)
        executed.setdefault(function_key, []).append((statement, counts.get(number, 0)))
    bodies_by_module: dict[tuple[str, str], list[FunctionBody]] = {}
    for path, body in sorted(bodies, key=lambda pair: (pair[0], pair[1].line)):
        bodies_by_module.setdefault((path, body.module), []).append(body)
    return Coverage(
        tuple(
            _module(path, bodies, executed, marked)
            for (path, _), bodies in bodies_by_module.items()
        )
    )


def _module(
    path: str,
    bodies: Sequence[FunctionBody],
    executed: Mapping[tuple[str, int], Sequence[tuple[Statement, int]]],
    marked: MarkedBuild,
) -> ModuleCoverage:
    lines: Counter[int] = Counter()
    functions, unmeasured = [], []
    for body in bodies:
        statements = executed.get((path, body.line), ())
        if (path, body.line) in marked.unmarked:
            unmeasured.append(body.name)
        for statement, count in statements:
            # If several statements start on one line, the line has the highest of their counts.
            lines[statement.line] = max(lines[statement.line], count)
        if statements:
            # The first statement of a body is executed once per call.
            functions.append(FunctionCoverage(body.name, body.line, statements[0][1]))
    return ModuleCoverage(bodies[0].module, path, lines, tuple(functions), tuple(unmeasured))


def line_range_texts(ranges: Sequence[tuple[int, int]]) -> Iterator[str]:
    """Yield each range as text, such as `3` or `5-8`."""
    for first, last in ranges:
        yield str(first) if first == last else f"{first}-{last}"


def coverage_rows(coverage: Coverage) -> list[dict[str, Any]]:
    """Return one row for each module, and a last row with the total."""
    rows = [
        _row(module.module, len(module.lines), module.covered, ", ".join(_missed_in_words(module)))
        for module in coverage.modules
    ]
    return [*rows, _row("total", coverage.lines, coverage.covered, "")]


def coverage_text_lines(coverage: Coverage) -> Iterator[str]:
    """Yield the coverage as lines of text."""
    for row in coverage_rows(coverage):
        missed = f"  missed: {row['missed']}" if row["missed"] else ""
        yield f"{row['percent']:>8} of {row['lines']:>5} lines  {row['module']}{missed}"


def coverage_record(coverage: Coverage) -> dict[str, Any]:
    """Return the coverage as JSON values."""
    return {
        "lines": coverage.lines,
        "covered": coverage.covered,
        "percent": _percent(coverage.covered, coverage.lines),
        "modules": [_module_record(module) for module in coverage.modules],
    }


def coverage_lcov(coverage: Coverage, folder: PurePath) -> str:
    """Return an LCOV tracefile in which paths start with `folder`. Source: geninfo(1), FILES."""
    return "".join(
        f"{line}\n" for module in coverage.modules for line in _lcov_lines(module, folder)
    )


def _row(module: str, lines: int, covered: int, missed: str) -> dict[str, Any]:
    percent = f"{_percent(covered, lines):.1f} %"
    return {
        "module": module,
        "lines": lines,
        "covered": covered,
        "percent": percent,
        "missed": missed,
    }


def _percent(covered: int, lines: int) -> float:
    """Return the percentage with one decimal, rounded down. Only complete coverage results in 100.

    For example, 999 of 1000 and 9999 of 10000 are both 99.9.
    """
    return 1000 * covered // lines / 10 if lines else 100.0


def _missed_in_words(module: ModuleCoverage) -> Iterator[str]:
    yield from line_range_texts(module.missed())
    if module.unmeasured:
        yield f"not measured: {' '.join(module.unmeasured)}"


def _module_record(module: ModuleCoverage) -> dict[str, Any]:
    return {
        "module": module.module,
        "file": module.path,
        "lines": len(module.lines),
        "covered": module.covered,
        "percent": _percent(module.covered, len(module.lines)),
        "missed": [list(missed_range) for missed_range in module.missed()],
        "unmeasured": list(module.unmeasured),
        "functions": {function.name: function.calls for function in module.functions},
        "hits": {str(line): count for line, count in sorted(module.lines.items())},
    }


def _lcov_lines(module: ModuleCoverage, folder: PurePath) -> Iterator[str]:
    functions = [(function, f"{module.module}::{function.name}") for function in module.functions]
    yield "TN:"
    yield f"SF:{(folder / module.path).as_posix()}"
    yield from (f"FN:{function.line},{name}" for function, name in functions)
    yield from (f"FNDA:{function.calls},{name}" for function, name in functions)
    yield f"FNF:{len(functions)}"
    yield f"FNH:{sum(1 for function, _ in functions if function.calls)}"
    yield from (f"DA:{line},{count}" for line, count in sorted(module.lines.items()))
    yield f"LF:{len(module.lines)}"
    yield f"LH:{module.covered}"
    yield "end_of_record"
