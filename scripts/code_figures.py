"""Statistics of the code: `scripts/figures [ROOT]`, for this checkout or another.

The columns about lines describe files. A body is the code of a function without its docstring,
comments and blank lines. Comments are counted per 100 lines that are neither blank nor part of a
docstring.
"""

import argparse
import ast
import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median, quantiles

import grimp

from benchmarks.ethereum import InProcess

ROOT = Path(__file__).resolve().parents[1]
SHORT = 30
# Packages that are too large for a single total.
LARGE = ("bridges", "cli", "leader", "registry", "sui")


def main() -> None:
    """Print all figures of one checkout."""
    parser = argparse.ArgumentParser(prog="scripts/figures", description=__doc__)
    parser.add_argument("root", type=Path, nargs="?", default=ROOT, help="root of another checkout")
    root = parser.parse_args().root.resolve()
    files = {path: path.read_text() for path in sorted((root / "nexus_tools").rglob("*.py"))}
    print(
        f"{'package':24}{'files':>6}{'lines':>8}{'median':>8}{'p90':>6}{'<30':>5}{'comments':>10}"
    )
    for room, inside in _rooms(root / "nexus_tools", list(files)):
        _print_room(room, {path: files[path] for path in inside})
    _print_room("all", files)
    bodies = [size for text in files.values() for size in _bodies(text)]
    print(f"\nmedian body: {median(bodies):g} lines, p90 {_p90(bodies):g}, of {len(bodies)}")
    print(f"noqa: {sum(text.count('# noqa') for text in files.values())}")
    importers = _importers(root)
    alone = [name for name, count in importers.items() if count == 1]
    print(f"modules that only one module imports:  {len(alone)} of {len(importers)}")
    if root == ROOT:
        _print_entered()


def _rooms(package: Path, paths: list[Path]) -> Iterator[tuple[str, list[Path]]]:
    rooms: dict[str, list[Path]] = {}
    for path in paths:
        parts = path.relative_to(package).parts[:-1]
        depth = 2 if parts and parts[0] in LARGE else 1
        rooms.setdefault("/".join(parts[:depth]) or "(beside)", []).append(path)
    yield from sorted(rooms.items())


def _print_room(room: str, files: dict[Path, str]) -> None:
    lengths = [len(text.splitlines()) for text in files.values()]
    short = sum(1 for length in lengths if length < SHORT)
    comments, code = map(sum, zip(*map(_comments_and_code, files.values()), strict=True))
    print(
        f"{room:24}{len(lengths):6}{sum(lengths):8}{median(lengths):8g}{_p90(lengths):6g}"
        f"{short:5}{100 * comments / max(code, 1):10.1f}"
    )


def _p90(values: list[int]) -> float:
    return quantiles(values, n=10)[-1] if len(values) > 1 else values[0]


def _comments_and_code(text: str) -> tuple[int, int]:
    """Return the number of comments, without those for tools, and the number of code lines."""
    comments, code = 0, set[int]()
    docstrings = _docstring_lines(text)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            comments += not re.match(r"#\s*(noqa|type:|!)", token.string)
        elif token.type not in _LAYOUT:
            code.update(range(token.start[0], token.end[0] + 1))
    return comments, len(code - docstrings)


_LAYOUT = (
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
)


def _docstring_lines(text: str) -> set[int]:
    lines: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                lines.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return lines


def _bodies(text: str) -> Iterator[int]:
    docstrings, lines = _docstring_lines(text), text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1)
            yield sum(
                1
                for number in body
                if number not in docstrings
                and (line := lines[number - 1].strip())
                and not line.startswith("#")
            )


def _importers(root: Path) -> dict[str, int]:
    """Return how many modules import each module, including late and type-only imports."""
    sys.path.insert(0, str(root))
    graph = grimp.build_graph("nexus_tools", cache_dir=None)
    return {
        module: len(graph.find_modules_that_directly_import(module))
        for module in graph.modules
        if not (root / module.replace(".", "/")).is_dir()
    }


def _print_entered() -> None:
    """Print the number of files whose code a transfer and a publish execute."""
    chain = InProcess()
    for name in ("transfer", "call"):
        chain.rate(name)  # fill the caches
    print(f"files whose code a transfer executes:  {len(_entered(chain.transfer))}")
    print(f"files whose code a publish executes:  {len(_entered(chain.publish_package))}")


def _entered(action: Callable[[], object]) -> Counter[str]:
    seen: Counter[str] = Counter()

    def note(frame: object, event: str, _: object) -> None:
        name = frame.f_code.co_filename  # type: ignore[attr-defined]  # a frame
        if event == "call" and name.startswith(f"{ROOT}/nexus_tools/"):
            seen[name] += 1

    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(None)
    return seen


if __name__ == "__main__":
    main()
