"""Coverage as a table for people, as JSON values, and as LCOV for editors and CI services."""

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from nexus_tools.localnet.move_test.coverage import (
    Coverage,
    ModuleCoverage,
    lines_in_words,
)


def coverage_rows(coverage: Coverage) -> list[dict[str, Any]]:
    """A row for each module, and the last one for all together."""
    rows = [
        _row(module.module, len(module.lines), module.covered, ", ".join(_missed_in_words(module)))
        for module in coverage.modules
    ]
    return [*rows, _row("total", coverage.lines, coverage.covered, "")]


def coverage_in_words(coverage: Coverage) -> Iterator[str]:
    """The rows as lines of text."""
    for row in coverage_rows(coverage):
        missed = f"  missed: {row['missed']}" if row["missed"] else ""
        yield f"{row['percent']:>8} of {row['lines']:>5} lines  {row['module']}{missed}"


def coverage_record(coverage: Coverage) -> dict[str, Any]:
    """The coverage as JSON values."""
    return {
        "lines": coverage.lines,
        "covered": coverage.covered,
        "percent": _percent(coverage.covered, coverage.lines),
        "modules": [_module_record(module) for module in coverage.modules],
    }


def coverage_lcov(coverage: Coverage, folder: PurePath) -> str:
    """A tracefile of LCOV; `folder` is put before the paths. Source: geninfo(1), FILES."""
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
    """With one digit, and 100 only if all are covered."""
    return 1000 * covered // lines / 10 if lines else 100.0


def _missed_in_words(module: ModuleCoverage) -> Iterator[str]:
    yield from lines_in_words(module.missed())
    if module.unmeasured:
        yield f"not measured: {' '.join(module.unmeasured)}"


def _module_record(module: ModuleCoverage) -> dict[str, Any]:
    return {
        "module": module.module,
        "file": module.path,
        "lines": len(module.lines),
        "covered": module.covered,
        "percent": _percent(module.covered, len(module.lines)),
        "missed": [list(found) for found in module.missed()],
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
