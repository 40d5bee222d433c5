"""Markers in sources that report executed statements, because bytecode has no line numbers.

A marker is inserted on the line of its statement, so line numbers do not change. If the compiler
rejects a function with markers, no markers are inserted into this function.

For example, if m is the function that reports a number, `let y = 1; if (x) { y } else 2` becomes
`m(0); let y = 1; m(1); if (x) { m(2); y } else 2`. An arm `_ => x` of a `match` becomes `_ => {
m(3); x }`.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet

from msgspec import Struct

from nexus_tools.sui.errors import ValidationError
from nexus_tools.sui.localnet.compiler import MoveBuilder
from nexus_tools.sui.localnet.move_test.compilation.annotated_sources import (
    FunctionBody,
    MoveTestSource,
)
from nexus_tools.sui.localnet.move_test.compilation.build import MoveTestBuild, build_tests
from nexus_tools.sui.localnet.move_test.compilation.compilation import (
    NONE,
    BuiltDependencies,
    read_test_sources,
)
from nexus_tools.sui.localnet.move_test.compilation.statements import Place, statement_positions
from nexus_tools.sui.localnet.natives import NativeTable
from nexus_tools.sui.localnet.vm import Context, Native
from nexus_tools.sui.move_source import line_of
from nexus_tools.sui.types.address import ZERO

MODULE, FUNCTION = "nexus_tools_lines", "passed"
PATH = f"sources/{MODULE}.move"
SOURCE = f"module 0x0::{MODULE} {{ public native fun {FUNCTION}(statement: u64); }}\n"

FunctionLocation = tuple[str, int]
"""The location of a function: the path of its file, and its line."""


class Statement(Struct, frozen=True):
    """A statement with a marker, and the function that contains it."""

    path: str
    line: int
    function: FunctionBody


class MarkedSources(Struct, frozen=True):
    """The sources of a package with markers. A marker reports the index of its statement."""

    sources: Mapping[str, str]
    statements: tuple[Statement, ...]


def mark(
    sources: Mapping[str, str],
    read: Mapping[str, MoveTestSource],
    unmarked: AbstractSet[FunctionLocation] = frozenset(),
) -> MarkedSources:
    """Insert markers into all functions that are not in `unmarked`.

    `read` are the parsed sources.
    """
    statements: list[Statement] = []
    marked_sources = dict(sources)
    for path, source in read.items():
        text = sources[path]
        insertions: list[tuple[int, str]] = []
        for body in source.bodies:
            if (path, body.line) in unmarked:
                continue
            for position in statement_positions(body.tokens):
                insertions += _marker(position, len(statements))
                statements.append(Statement(path, line_of(text, position.start), body))
        marked_sources[path] = _insert(text, insertions)
    return MarkedSources({**marked_sources, PATH: SOURCE}, tuple(statements))


def marker_native(passed: Callable[[int], None]) -> NativeTable:
    """Return the native function that markers call.

    The function calls `passed` with the number of the statement.
    """

    def report(_context: Context, _types: object, statement: int) -> None:
        passed(statement)

    native: Native = report
    return {(bytes(ZERO), MODULE, FUNCTION): native}


def _marker(place: Place, number: int) -> Iterator[tuple[int, str]]:
    call = f"0x0::{MODULE}::{FUNCTION}({number}); "
    if place.end is None:
        yield place.start, call
    else:
        yield place.start, f"{{ {call}"
        yield place.end, " }"


def _insert(text: str, insertions: list[tuple[int, str]]) -> str:
    parts, end = [], 0
    for position, insertion in sorted(insertions, key=lambda pair: pair[0]):
        parts += [text[end:position], insertion]
        end = position
    return "".join(parts) + text[end:]


_PLACE = re.compile(r"(?:┌─|-->) *(?P<path>[^\n]+?):(?P<line>\d+):\d+")
_ATTEMPTS_MAX = 8


class MarkedBuild(Struct, frozen=True):
    """A build with markers, and the statements in the order of the markers' numbers.

    `unmarked` are the functions that contain statements but no markers.
    """

    build: MoveTestBuild
    statements: tuple[Statement, ...]
    unmarked: frozenset[FunctionLocation] = frozenset()


def build_marked(
    builder: MoveBuilder, sources: Mapping[str, str], dependencies: BuiltDependencies = NONE
) -> MarkedBuild:
    """Compile a package and its tests with markers in as many functions as possible.

    Raises:
        ValidationError: The package does not compile without markers either.
    """
    test_sources = read_test_sources(sources)
    unmarked: set[FunctionLocation] = set()
    for _ in range(_ATTEMPTS_MAX):
        marked_sources = mark(sources, test_sources, unmarked)
        try:
            build = build_tests(builder, marked_sources.sources, dependencies)
        except ValidationError as error:
            if unmarked >= _functions(test_sources):
                break
            # The compiler may reject a function only because of its markers. If the compiler's
            # output has no known location, all markers are removed. Each attempt removes more
            # markers, so the loop terminates.
            unmarked |= (rejected_functions(str(error), test_sources) - unmarked) or _functions(
                test_sources
            )
        else:
            return MarkedBuild(build, marked_sources.statements, frozenset(unmarked))
    return MarkedBuild(
        build_tests(builder, sources, dependencies), (), frozenset(_functions(test_sources))
    )


def _functions(read: Mapping[str, MoveTestSource]) -> set[FunctionLocation]:
    return {
        (path, body.line)
        for path, source in read.items()
        for body in source.bodies
        if statement_positions(body.tokens)
    }


def rejected_functions(message: str, read: Mapping[str, MoveTestSource]) -> set[FunctionLocation]:
    """Return the functions at the error locations in the compiler's output."""
    refused = set()
    for match in _PLACE.finditer(message):
        paths = [path for path in read if match["path"].endswith(path)]
        for path in sorted(paths, key=len)[-1:]:
            lines = [body.line for body in read[path].bodies if body.line <= int(match["line"])]
            refused |= {(path, max(lines))} if lines else set()
    return refused
