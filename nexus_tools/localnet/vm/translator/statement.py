"""Structured Python statements, and how they are written as text."""

from collections.abc import Iterator, Sequence

from nexus_tools.dataclass import dataclass

INDENT = "    "


@dataclass(frozen=True, slots=True)
class Line:
    """A statement of one line, after which the next one is executed.

    `call` is the offset of the instruction, if it calls a Move function.
    """

    text: str
    call: int | None = None


@dataclass(frozen=True, slots=True)
class Exit:
    """A statement after which the next one is not executed: return, raise, continue, break."""

    text: str


@dataclass(frozen=True, slots=True)
class If:
    """A condition with one or two branches."""

    condition: str
    then: "Statements"
    otherwise: "Statements" = ()


@dataclass(frozen=True, slots=True)
class Loop:
    """`while True`; `is_left` says whether a `break` leads to the statement after it."""

    body: "Statements"
    is_left: bool


Statement = Line | Exit | If | Loop
Statements = Sequence[Statement]


def falls_through(statements: Statements) -> bool:
    """Whether execution goes on after the last of them."""
    if not statements:
        return True
    last = statements[-1]
    if isinstance(last, If):
        return falls_through(last.then) or falls_through(last.otherwise)
    if isinstance(last, Loop):
        return last.is_left
    return isinstance(last, Line)


def branch(condition: str, then: Statements, otherwise: Statements) -> list[Statement]:
    """An `if` with as little nesting as its branches allow."""
    if not falls_through(then):
        return [If(condition, then), *otherwise]
    if not falls_through(otherwise):
        return [If(f"not {condition}", otherwise), *then]
    if then:
        return [If(condition, then, otherwise)]
    return [If(f"not {condition}", otherwise)] if otherwise else []


def render(statements: Statements, depth: int = 0) -> Iterator[tuple[str, int | None]]:
    """The lines of the statements, indented, each with the offset of its call."""
    margin = INDENT * depth
    if not statements:
        yield f"{margin}pass", None
    for statement in statements:
        if isinstance(statement, Line):
            yield margin + statement.text, statement.call
        elif isinstance(statement, Exit):
            yield margin + statement.text, None
        elif isinstance(statement, If):
            yield from _render_if(statement, depth, "if")
        else:
            yield f"{margin}while True:", None
            yield from render(statement.body, depth + 1)


def _render_if(statement: If, depth: int, keyword: str) -> Iterator[tuple[str, int | None]]:
    margin = INDENT * depth
    yield f"{margin}{keyword} {statement.condition}:", None
    yield from render(statement.then, depth + 1)
    if not statement.otherwise:
        return
    alternative = statement.otherwise[0]
    if len(statement.otherwise) == 1 and isinstance(alternative, If):
        yield from _render_if(alternative, depth, "elif")
    else:
        yield f"{margin}else:", None
        yield from render(statement.otherwise, depth + 1)
