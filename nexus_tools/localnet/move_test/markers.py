"""Markers in sources, because the compiler tells no lines: each says which statement comes next.

They stand on the lines of the statements, so that all lines keep their numbers.
"""

from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet

from nexus_tools.dataclass import dataclass
from nexus_tools.localnet.move_test.attributes import FunctionBody, MoveTestSource
from nexus_tools.localnet.move_test.source_text import line_of
from nexus_tools.localnet.move_test.statements import Place, statement_places
from nexus_tools.localnet.natives.table import NativeTable
from nexus_tools.localnet.vm import Context, Native
from nexus_tools.sui.address import ZERO

MODULE, FUNCTION = "nexus_tools_lines", "passed"
PATH = f"sources/{MODULE}.move"
SOURCE = f"module 0x0::{MODULE} {{ public native fun {FUNCTION}(statement: u64); }}\n"

FunctionPlace = tuple[str, int]
"""A function by its file and its line."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement with a marker, and its function."""

    path: str
    line: int
    function: FunctionBody


@dataclass(frozen=True, slots=True)
class MarkedSources:
    """The sources of a package with markers; a marker's number is the place of its statement."""

    sources: Mapping[str, str]
    statements: tuple[Statement, ...]


def mark(
    sources: Mapping[str, str],
    read: Mapping[str, MoveTestSource],
    unmarked: AbstractSet[FunctionPlace] = frozenset(),
) -> MarkedSources:
    """Put markers into all functions but the `unmarked` ones; `read` are the sources as read."""
    statements: list[Statement] = []
    marked = dict(sources)
    for path, source in read.items():
        text = sources[path]
        insertions: list[tuple[int, str]] = []
        for body in source.bodies:
            if (path, body.line) in unmarked:
                continue
            for place in statement_places(body.tokens):
                insertions += _marker(place, len(statements))
                statements.append(Statement(path, line_of(text, place.start), body))
        marked[path] = _inserted(text, insertions)
    return MarkedSources({**marked, PATH: SOURCE}, tuple(statements))


def marker_native(passed: Callable[[int], None]) -> NativeTable:
    """The native function behind the markers, which tells the number of the statement."""

    def tell(_context: Context, _types: object, statement: int) -> None:
        passed(statement)

    native: Native = tell
    return {(bytes(ZERO), MODULE, FUNCTION): native}


def _marker(place: Place, number: int) -> Iterator[tuple[int, str]]:
    call = f"0x0::{MODULE}::{FUNCTION}({number}); "
    if place.end is None:
        yield place.start, call
    else:
        yield place.start, f"{{ {call}"
        yield place.end, " }"


def _inserted(text: str, insertions: list[tuple[int, str]]) -> str:
    parts, end = [], 0
    for position, insertion in sorted(insertions, key=lambda pair: pair[0]):
        parts += [text[end:position], insertion]
        end = position
    return "".join(parts) + text[end:]
