"""Where data breaks a rule: a JSON pointer and what is wrong there."""

from collections.abc import Sequence
from dataclasses import dataclass

from nexus_tools.errors import ValidationError

MAX_MISMATCHES = 20
_MAX_MESSAGE = 300


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One place (RFC 6901 pointer, empty for the root) and what is wrong there.

    `rule` is the pointer of the keyword of a schema that the value breaks, or empty.
    """

    pointer: str
    message: str
    rule: str = ""

    def as_json(self) -> dict[str, str]:
        """As it stands in the `failures` of an error's details."""
        named = {"rule": self.rule[:_MAX_MESSAGE]} if self.rule else {}
        shown = {"pointer": self.pointer[:_MAX_MESSAGE], "message": self.message[:_MAX_MESSAGE]}
        return shown | named


def mismatch_error(code: str, what: str, mismatches: Sequence[Mismatch]) -> ValidationError:
    """One error for all mismatches; `details["failures"]` lists the first `MAX_MISMATCHES`."""
    listed = [mismatch.as_json() for mismatch in mismatches[:MAX_MISMATCHES]]
    first = listed[0]
    more = f" (and {len(mismatches) - 1} more)" if len(mismatches) > 1 else ""
    message = f"{what} at {first['pointer'] or 'the root'}: {first['message']}{more}"
    return ValidationError(code, message, details={"failures": listed})
