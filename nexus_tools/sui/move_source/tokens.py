"""The tokenizer of Move sources. Any text is accepted, because unknown characters become tokens."""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

_TOKEN = re.compile(
    r"""
    (?P<doc>///(?!/)[^\n]*)
  | (?P<skip>\s+ | //[^\n]* )
  | (?P<block>/\*)
  | (?P<text>[bx]?"(?:\\.|[^"\\])*")
  | (?P<word>@?[A-Za-z0-9_$`]+)
  | (?P<path>::)
  | (?P<sign>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_BLOCK_EDGE = re.compile(r"/\*|\*/")
_BLOCK_DOC = re.compile(r"/\*\*(?![*/])")
_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")


class Token(Struct, frozen=True):
    """A token, which is a word, a `::`, a symbol or a literal, with its start and end position.

    `doc` is the text of the doc comments between the previous token and this token.
    """

    text: str
    start: int
    end: int
    doc: str = ""


def tokens_of(source: str) -> list[Token]:
    """Return the tokens of a source. Spaces and comments are not tokens."""
    return list(_tokens(source))


def _tokens(source: str) -> Iterator[Token]:
    position, doc = 0, ""
    while match := _TOKEN.match(source, position):
        position = match.end()
        if match["doc"]:
            doc += match[0].removeprefix("///").removeprefix(" ").rstrip() + "\n"
        elif match["block"]:
            position = _after_block(source, position)
            doc += _block_doc(source[match.start() : position])
        elif not match["skip"]:
            yield Token(match[0], match.start(), match.end(), doc.strip("\n"))
            doc = ""


def _after_block(source: str, position: int) -> int:
    """Return the end position of a block comment, which may contain other block comments."""
    depth = 1
    while depth:
        edge = _BLOCK_EDGE.search(source, position)
        if edge is None:
            return len(source)
        depth += 1 if edge[0] == "/*" else -1
        position = edge.end()
    return position


def _block_doc(comment: str) -> str:
    """Return the text of a doc comment in `/**` and `*/`, or "" for any other comment.

    The asterisks at the starts of lines are removed.
    """
    if not _BLOCK_DOC.match(comment):
        return ""
    lines = comment[3:].removesuffix("*/").strip().split("\n")
    return "".join(
        line.strip().removeprefix("*").removeprefix(" ").rstrip() + "\n" for line in lines
    )


def line_of(source: str, position: int) -> int:
    """Return the line number of a position. The first line is 1."""
    return source.count("\n", 0, position) + 1


def closing(tokens: Sequence[Token], position: int) -> int:
    """Return the index of the bracket that closes the bracket at `position`.

    If no bracket closes it, return the number of tokens.
    """
    depth = 0
    for index in range(position, len(tokens)):
        depth += (tokens[index].text in _OPEN) - (tokens[index].text in _CLOSE)
        if depth == 0:
            return index
    return len(tokens)


def split(tokens: Sequence[Token]) -> list[list[Token]]:
    """Split tokens at the commas outside all brackets, including the angle brackets of types.

    For example, `a: Map<K, V>, f: |u8| -> u8, c` is split into three parts. The comma in `Map<K,
    V>` does not split because it is between angle brackets. The `>` of the arrow `->` does not
    close a bracket.
    """
    parts: list[list[Token]] = [[]]
    depth = 0
    for index, token in enumerate(tokens):
        depth += (token.text in _OPEN) - (token.text in _CLOSE)
        depth += (token.text == "<") - (token.text == ">" and not _is_arrow(tokens, index))
        if token.text == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return [part for part in parts if part]


def _is_arrow(tokens: Sequence[Token], index: int) -> bool:
    """Return whether the `>` at an index is part of the `->` in a lambda's type."""
    return index > 0 and tokens[index - 1].text == "-"
