"""Where the statements of a function begin: the places at which a marker can stand.

A marker is a statement of its own, so that it can stand before each statement of a block. Braces
are no blocks where they hold fields or the arms of a `match`; what cannot be told is taken for
fields, and gets no marker.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from nexus_tools.sui.move_source import Token

_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")
# After these a brace begins a block; names and types come before fields.
_BEFORE_BLOCKS = frozenset(
    {"else", "loop", "return", "abort", "(", ",", ";", "{", "}", "[", "=", ":", "|", "&"}
) | frozenset("!+-*/%^<")
_CONDITIONS = frozenset({"if", "while"})
# `use` has to come first in a block, and what is for the prover is not executed.
_UNMARKED = frozenset({"use", "#", "spec"})


class Place(Struct, frozen=True):
    """A statement: where it begins in the source.

    The expression of an arm has no block around it. It becomes one, and `end` is where that ends.
    """

    start: int
    end: int | None = None


def statement_places(body: Sequence[Token]) -> list[Place]:
    """The statements of a body, from its `{` to its `}`. An empty body is a statement, too."""
    closings = _closings(body)
    if closings.get(0) != len(body) - 1:
        return []
    if len(body) == len("{}"):
        return [Place(body[0].end)]
    return list(_Body(body, closings).block(0))


def _closings(tokens: Sequence[Token]) -> dict[int, int]:
    """The place of the closing bracket for that of each opening one."""
    found: dict[int, int] = {}
    opened: list[int] = []
    for index, token in enumerate(tokens):
        if token.text in _OPEN:
            opened.append(index)
        elif token.text in _CLOSE and opened:
            found[opened.pop()] = index
    return {} if opened else found


class _Body:
    def __init__(self, tokens: Sequence[Token], closings: dict[int, int]) -> None:
        self._tokens = tokens
        self._closings = closings
        self._openings = {close: opening for opening, close in closings.items()}

    def block(self, opening: int) -> Iterator[Place]:
        """The statements of a block, and those inside of them."""
        position, end = opening + 1, self._closings[opening]
        while position < end:
            following = self._find(";", position, end)
            token = self._tokens[position]
            if token.text not in _UNMARKED:
                if token.text != ";":
                    yield Place(token.start)
                yield from self._inside(position, following)
            position = following + 1

    def _find(self, text: str, position: int, end: int) -> int:
        """The first place of a token that is in no further bracket; `end` if there is none."""
        while position < end and self._text(position) != text:
            position = self._closings.get(position, position) + 1
        return min(position, end)

    def _inside(self, position: int, end: int) -> Iterator[Place]:
        while position < end:
            close = self._closings.get(position)
            if close is not None:
                yield from self._bracket(position)
                position = close
            position += 1

    def _bracket(self, opening: int) -> Iterator[Place]:
        if self._text(opening) != "{":
            yield from self._inside(opening + 1, self._closings[opening])
        elif self._is_block(opening):
            yield from self.block(opening)
        elif self._text(opening - 1) != "spec":
            if self._is_after(opening, frozenset({"match"})):
                yield from self._arms(opening)
            yield from self._inside(opening + 1, self._closings[opening])

    def _is_block(self, opening: int) -> bool:
        before = self._text(opening - 1)
        if before in _BEFORE_BLOCKS or self._is_after(opening, _CONDITIONS):
            return True
        # `=> {` of an arm, and `|x| -> Type {` of a lambda.
        return self._is_pair("=>", opening - 2) or self._is_pair("->", opening - 3)

    def _is_after(self, opening: int, words: frozenset[str]) -> bool:
        """Whether a condition in parentheses stands before, and one of the words before that."""
        # In `if (a) {` the token before the brace closes the condition, before which the word
        # stands.
        condition = self._openings.get(opening - 1)
        return condition is not None and self._text(condition - 1) in words

    def _arms(self, opening: int) -> Iterator[Place]:
        """The arms without braces; where one ends is known if no type arguments are about."""
        end = self._closings[opening]
        arrow = self._arrow(opening + 1, end)
        while arrow < end:
            following = self._arrow(arrow + 2, end)
            stop = self._find(",", arrow + 2, end)
            expression = self._tokens[arrow + 2 : stop]
            words = {token.text for token in expression}
            if expression and stop <= following and "<" not in words and expression[0].text != "{":
                yield Place(expression[0].start, expression[-1].end)
            arrow = following

    def _arrow(self, position: int, end: int) -> int:
        while position < end and not self._is_pair("=>", position):
            position = self._closings.get(position, position) + 1
        return min(position, end)

    def _is_pair(self, pair: str, position: int) -> bool:
        if position < 0 or position + 1 >= len(self._tokens):
            return False
        one, other = self._tokens[position : position + 2]
        return one.end == other.start and one.text + other.text == pair

    def _text(self, position: int) -> str:
        return self._tokens[position].text if position >= 0 else ""
