"""The lines of the author's program that error messages name."""

import ast
import linecache
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from pathlib import Path
from types import CodeType
from typing import Any, Self, TypeVar

from nexus_tools.errors import NexusError, ValidationError

_Error = TypeVar("_Error", bound=NexusError)

_HERE = str(Path(__file__).parent / "_").removesuffix("_")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file, counted from 1.

    As a context manager, a line adds itself to raised errors.
    """

    file: str
    number: int
    call: tuple[CodeType, int] | None = field(default=None, compare=False, repr=False)
    """The call on this line: the code object and the offset of the instruction."""

    @property
    def variable(self) -> str:
        """The variable to which the line assigns the call, or an empty string if there is none."""
        if self.call is None:
            return ""
        code, instruction = self.call
        *_, line, _, column = next(islice(code.co_positions(), instruction // 2, None))
        return _variables("".join(linecache.getlines(self.file))).get((line, column), "")

    def of(self, error: _Error) -> _Error:
        """Add this line to the message and the details of an error, unless the error has a line."""
        if "line" not in error.details:
            error.message = f"{self}: {error.message}"
            error.args = (error.message,)
            error.details |= self.as_json()
        return error

    def __enter__(self) -> Self:
        """Return the line itself."""
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, NexusError):
            self.of(error)

    def as_json(self) -> dict[str, Any]:
        """Return the line as entries for the `details` of an error."""
        return {"file": self.file, "line": self.number}

    def __str__(self) -> str:
        return f"{Path(self.file).name}:{self.number}"


class UnknownNameError(ValidationError, AttributeError):
    """The error for an unknown name, which is also the `AttributeError` that Python expects."""

    @classmethod
    def of(cls, error: ValidationError) -> Self:
        """Convert a validation error to this class, and add the author's line."""
        return caller_line().of(cls(error.code, error.message, hint=error.hint))


def caller_line() -> Line:
    """Return the author's line, which is the innermost executed line outside this package."""
    frame = sys._getframe(1)  # noqa: SLF001 - `inspect` reads whole files for the same answer
    while frame.f_back and frame.f_code.co_filename.startswith(_HERE):
        frame = frame.f_back
    return Line(frame.f_code.co_filename, frame.f_lineno, (frame.f_code, frame.f_lasti))


@lru_cache(maxsize=8)
def _variables(source: str) -> Mapping[tuple[int | None, int | None], str]:
    """Return the variables to which calls are assigned, by the end positions of the calls.

    In `summary = flow.add(…).retry(3)`, both calls have the variable `summary`, because the methods
    of a step return the step.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    found = {}
    for node in ast.walk(tree):
        match node:
            case (
                ast.Assign(targets=[ast.Name(name)], value=value)
                | ast.AnnAssign(ast.Name(name), value=value)
                | ast.NamedExpr(ast.Name(name), value=value)
                | ast.withitem(value, ast.Name(name))
            ):
                while isinstance(value, ast.Call):
                    found[value.end_lineno, value.end_col_offset] = name
                    value = value.func.value if isinstance(value.func, ast.Attribute) else None
    return found
