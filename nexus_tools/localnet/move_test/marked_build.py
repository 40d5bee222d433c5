"""A package compiled with markers; what the compiler refuses with them stays without."""

import re
from collections.abc import Mapping

from nexus_tools.dataclass import dataclass
from nexus_tools.errors import ValidationError
from nexus_tools.localnet.compiler.builder import MoveBuilder
from nexus_tools.localnet.move_test.attributes import MoveTestSource
from nexus_tools.localnet.move_test.build import MoveTestBuild, build_tests
from nexus_tools.localnet.move_test.compilation import read_test_sources
from nexus_tools.localnet.move_test.dependencies import NONE, BuiltDependencies
from nexus_tools.localnet.move_test.markers import FunctionPlace, Statement, mark
from nexus_tools.localnet.move_test.statements import statement_places

_PLACE = re.compile(r"(?:┌─|-->) *(?P<path>[^\n]+?):(?P<line>\d+):\d+")
_ATTEMPTS_MAX = 8


@dataclass(frozen=True, slots=True)
class MarkedBuild:
    """A build with markers, and the statements by the markers' numbers.

    `unmarked` are the functions that have statements, and no markers.
    """

    build: MoveTestBuild
    statements: tuple[Statement, ...]
    unmarked: frozenset[FunctionPlace] = frozenset()


def build_marked(
    builder: MoveBuilder, sources: Mapping[str, str], dependencies: BuiltDependencies = NONE
) -> MarkedBuild:
    """Compile a package with its tests, and with markers in as many functions as possible.

    Raises `ValidationError` only for what does not compile without markers either.
    """
    read = read_test_sources(sources)
    unmarked: set[FunctionPlace] = set()
    for _ in range(_ATTEMPTS_MAX):
        marked = mark(sources, read, unmarked)
        try:
            build = build_tests(builder, marked.sources, dependencies)
        except ValidationError as error:
            if unmarked >= _functions(read):
                break
            unmarked |= (refused_functions(str(error), read) - unmarked) or _functions(read)
        else:
            return MarkedBuild(build, marked.statements, frozenset(unmarked))
    return MarkedBuild(build_tests(builder, sources, dependencies), (), frozenset(_functions(read)))


def _functions(read: Mapping[str, MoveTestSource]) -> set[FunctionPlace]:
    return {
        (path, body.line)
        for path, source in read.items()
        for body in source.bodies
        if statement_places(body.tokens)
    }


def refused_functions(message: str, read: Mapping[str, MoveTestSource]) -> set[FunctionPlace]:
    """The functions at the places that the compiler's words name."""
    refused = set()
    for found in _PLACE.finditer(message):
        paths = [path for path in read if found["path"].endswith(path)]
        for path in sorted(paths, key=len)[-1:]:
            begins = [body.line for body in read[path].bodies if body.line <= int(found["line"])]
            refused |= {(path, max(begins))} if begins else set()
    return refused
