"""Move source as tokens, as far as attributes and constants ask for it."""

import re
from collections.abc import Iterator

from nexus_tools.dataclass import dataclass

_TOKEN = re.compile(
    r"""
    (?P<skip>\s+ | //[^\n]* )
  | (?P<block>/\*)
  | (?P<text>[bx]?"(?:\\.|[^"\\])*")
  | (?P<word>@?[A-Za-z0-9_$`]+)
  | (?P<path>::)
  | (?P<sign>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_BLOCK_EDGE = re.compile(r"/\*|\*/")


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a `::`, a sign or a literal, and where it begins and ends."""

    text: str
    start: int
    end: int


def tokens_of(source: str) -> list[Token]:
    """The tokens of a source without spaces and comments."""
    return list(_tokens(source))


def _tokens(source: str) -> Iterator[Token]:
    position = 0
    while match := _TOKEN.match(source, position):
        position = match.end()
        if match["block"]:
            position = _after_block(source, position)
        elif not match["skip"]:
            yield Token(match[0], match.start(), match.end())


def _after_block(source: str, position: int) -> int:
    """Where a block comment ends; they nest."""
    depth = 1
    while depth:
        edge = _BLOCK_EDGE.search(source, position)
        if edge is None:
            return len(source)
        depth += 1 if edge[0] == "/*" else -1
        position = edge.end()
    return position


def line_of(source: str, position: int) -> int:
    """The line of a position, from 1."""
    return source.count("\n", 0, position) + 1
