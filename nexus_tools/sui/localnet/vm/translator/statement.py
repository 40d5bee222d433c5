"""Structured Python statements, and their source text."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec import Struct

from nexus_tools.sui.localnet.vm.metering import Work

INDENT = "    "


class Line(Struct, frozen=True):
    """A statement of one line. Execution continues with the next statement.

    If the statement calls a Move function, `call` is the offset of the call instruction. `note`
    becomes a comment in the source that users see.
    """

    text: str
    call: int | None = None
    note: object = None


class Exit(Struct, frozen=True):
    """A statement that leaves the current sequence: return, raise, continue or break."""

    text: str
    note: object = None


class If(Struct, frozen=True):
    """A condition with one or two branches."""

    condition: str
    then: "Statements"
    otherwise: "Statements" = ()


class Loop(Struct, frozen=True):
    """A `while True` loop.

    `is_left` is true if a `break` leads to the statement after the loop.
    """

    body: "Statements"
    is_left: bool


Statement = Line | Exit | If | Loop
Statements = Sequence[Statement]


class BlockBody(Struct, frozen=True):
    """A translated block: its work, its lines, and the expression that selects its successor.

    The expression is `condition`, or `tag` for VARIANT_SWITCH. Both attributes are None if the
    block has at most one successor.
    """

    work: Work
    lines: list[Statement]
    condition: str | None = None
    tag: str | None = None


def falls_through(statements: Statements) -> bool:
    """Return whether execution continues after the last statement."""
    if not statements:
        return True
    last = statements[-1]
    if isinstance(last, If):
        return falls_through(last.then) or falls_through(last.otherwise)
    if isinstance(last, Loop):
        return last.is_left
    return isinstance(last, Line)


def branch(condition: str, then: Statements, otherwise: Statements) -> list[Statement]:
    """Return statements for an `if`, with the least nesting that its branches allow."""
    if not falls_through(then):
        return [If(condition, then), *otherwise]
    if not falls_through(otherwise):
        return [If(f"not {condition}", otherwise), *then]
    if then:
        return [If(condition, then, otherwise)]
    return [If(f"not {condition}", otherwise)] if otherwise else []


class SourceLine(NamedTuple):
    """A line of Python, the offset of its call instruction, and its comment."""

    text: str
    call: int | None = None
    note: object = None

    def __str__(self) -> str:
        return self.text if self.note is None else f"{self.text}  # {self.note}"


def render(statements: Statements, depth: int = 0) -> Iterator[SourceLine]:
    """Yield the source lines of the statements, indented by `depth` levels."""
    margin = INDENT * depth
    if not statements:
        yield SourceLine(f"{margin}pass")
    for statement in statements:
        if isinstance(statement, Line):
            yield SourceLine(margin + statement.text, statement.call, statement.note)
        elif isinstance(statement, Exit):
            yield SourceLine(margin + statement.text, None, statement.note)
        elif isinstance(statement, If):
            yield from _render_if(statement, depth, "if")
        else:
            yield SourceLine(f"{margin}while True:")
            yield from render(statement.body, depth + 1)


def _render_if(statement: If, depth: int, keyword: str) -> Iterator[SourceLine]:
    margin = INDENT * depth
    yield SourceLine(f"{margin}{keyword} {statement.condition}:")
    yield from render(statement.then, depth + 1)
    if not statement.otherwise:
        return
    alternative = statement.otherwise[0]
    if len(statement.otherwise) == 1 and isinstance(alternative, If):
        yield from _render_if(alternative, depth, "elif")
    else:
        yield SourceLine(f"{margin}else:")
        yield from render(statement.otherwise, depth + 1)
