"""Lines of the author's program, which errors name."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

from nexus_tools.errors import NexusError, ValidationError

_Error = TypeVar("_Error", bound=NexusError)

_HERE = str(Path(__file__).parent / "_").removesuffix("_")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file, counted from 1; errors that leave its `with` block name it."""

    file: str
    number: int

    def of(self, error: _Error) -> _Error:
        """The error with this line in its message and its details, if it has none yet."""
        if "line" not in error.details:
            error.message = f"{self}: {error.message}"
            error.args = (error.message,)
            error.details |= self.as_json()
        return error

    def __enter__(self) -> Self:
        """The line itself."""
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, NexusError):
            self.of(error)

    def as_json(self) -> dict[str, Any]:
        """As it stands in the details of an error."""
        return {"file": self.file, "line": self.number}

    def __str__(self) -> str:
        return f"{Path(self.file).name}:{self.number}"


class UnknownNameError(ValidationError, AttributeError):
    """A name that something has not: an attribute that is not there, as Python expects it."""

    @classmethod
    def of(cls, error: ValidationError) -> Self:
        """The same error, with the author's line."""
        return authors_line().of(cls(error.code, error.message, hint=error.hint))


def authors_line() -> Line:
    """The line that is being executed outside of this room: the author's own."""
    frame = sys._getframe(1)  # noqa: SLF001 - `inspect` reads whole files for the same answer
    while frame.f_back and frame.f_code.co_filename.startswith(_HERE):
        frame = frame.f_back
    return Line(frame.f_code.co_filename, frame.f_lineno)
