"""The positions of a function's statements, at which markers can be inserted.

A marker is a statement, so it can be inserted before each statement of a block. Braces around
fields or around the arms of a `match` are not blocks. If the content of braces is unclear, the
braces are treated as fields, without markers.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from nexus_tools.sui.move_source import Token

_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")
# After these tokens, a brace starts a block. After a name or a type, a brace starts fields.
_BEFORE_BLOCKS = frozenset(
    {"else", "loop", "return", "abort", "(", ",", ";", "{", "}", "[", "=", ":", "|", "&"}
) | frozenset("!+-*/%^<")
_CONDITIONS = frozenset({"if", "while"})
# `use` must precede the other items of a block, and specifications for the prover are not executed.
_UNMARKED = frozenset({"use", "#", "spec"})


class Place(Struct, frozen=True):
    """The position of a statement in the source.

    The expression of a `match` arm need not be in a block. In that case, the marker adds a block,
    which ends at `end`.
    """

    start: int
    end: int | None = None


def statement_positions(body: Sequence[Token]) -> list[Place]:
    """Return the statements of a body from its `{` to its `}`. An empty body is one statement."""
    closings = _closings(body)
    if closings.get(0) != len(body) - 1:
        return []
    if len(body) == len("{}"):
        return [Place(body[0].end)]
    return list(_Body(body, closings).block(0))


def _closings(tokens: Sequence[Token]) -> dict[int, int]:
    """Return the index of the closing bracket by the index of the opening bracket."""
    closings: dict[int, int] = {}
    open_brackets: list[int] = []
    for index, token in enumerate(tokens):
        if token.text in _OPEN:
            open_brackets.append(index)
        elif token.text in _CLOSE and open_brackets:
            closings[open_brackets.pop()] = index
    return {} if open_brackets else closings


class _Body:
    def __init__(self, tokens: Sequence[Token], closings: dict[int, int]) -> None:
        self._tokens = tokens
        self._closings = closings
        self._openings = {close: opening for opening, close in closings.items()}

    def block(self, opening: int) -> Iterator[Place]:
        """Yield the statements of a block, and the statements nested inside them."""
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
        """Return the index of the first token with this text outside nested brackets, or `end`."""
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
        previous = self._text(opening - 1)
        if previous in _BEFORE_BLOCKS or self._is_after(opening, _CONDITIONS):
            return True
        # The brace may follow `=>` of an arm, or `|x| -> Type` of a lambda.
        return self._is_pair("=>", opening - 2) or self._is_pair("->", opening - 3)

    def _is_after(self, opening: int, words: frozenset[str]) -> bool:
        """Return whether a brace follows one of the words and a condition in parentheses."""
        # For example, in `if (a) {`, the token before the brace is the end of the condition, and
        # the word `if` is before the condition.
        condition = self._openings.get(opening - 1)
        return condition is not None and self._text(condition - 1) in words

    def _arms(self, opening: int) -> Iterator[Place]:
        """Yield the arms without braces.

        Arms with type arguments are skipped, because their end is unclear.
        """
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
        first, second = self._tokens[position : position + 2]
        return first.end == second.start and first.text + second.text == pair

    def _text(self, position: int) -> str:
        return self._tokens[position].text if position >= 0 else ""
