"""The description of invalid data: a JSON pointer and the problem."""

from collections.abc import Sequence
from dataclasses import dataclass

from nexus_tools.errors import ValidationError

MAX_MISMATCHES = 20
_MAX_MESSAGE = 300


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A location in a value, and the problem at that location.

    `pointer` is an RFC 6901 pointer, which is empty for the root. `rule` is the pointer of the
    schema keyword that the value violates, or empty.
    """

    pointer: str
    message: str
    rule: str = ""

    def as_json(self) -> dict[str, str]:
        """Return the entry for the list `failures` in an error's details."""
        rule = {"rule": self.rule[:_MAX_MESSAGE]} if self.rule else {}
        problem = {"pointer": self.pointer[:_MAX_MESSAGE], "message": self.message[:_MAX_MESSAGE]}
        return problem | rule


def mismatch_error(code: str, what: str, mismatches: Sequence[Mismatch]) -> ValidationError:
    """Return one error for all mismatches.

    The error's `details["failures"]` lists the first `MAX_MISMATCHES` mismatches.
    """
    listed = [mismatch.as_json() for mismatch in mismatches[:MAX_MISMATCHES]]
    first = listed[0]
    more = f" (and {len(mismatches) - 1} more)" if len(mismatches) > 1 else ""
    message = f"{what} at {first['pointer'] or 'the root'}: {first['message']}{more}"
    return ValidationError(code, message, details={"failures": listed})
