"""What breaks a rule of workflows: which rule, where, and what to do about it."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from nexus_tools.errors import ValidationError

MAX_LISTED = 100


class Severity(StrEnum):
    """Whether a violation makes a document unfit, or is only worth knowing."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Violation:
    """One rule that is broken in one place.

    `rule` is the number of a rule that the reference has too (1 to 25), or a word; `pointer` is an
    RFC 6901 pointer into the document.
    """

    rule: int | str
    message: str
    pointer: str
    severity: Severity = Severity.ERROR

    @property
    def is_error(self) -> bool:
        """Whether the document is unfit for it."""
        return self.severity is Severity.ERROR

    def as_json(self) -> dict[str, Any]:
        """As it stands in the `violations` of an error's details."""
        return {
            "rule": self.rule,
            "message": self.message,
            "pointer": self.pointer,
            "severity": self.severity.value,
        }


def violations_error(violations: Sequence[Violation]) -> ValidationError:
    """One error, `workflow_invalid`, for all violations; the message has the first.

    `details["violations"]` lists the first `MAX_LISTED`.
    """
    first = violations[0]
    more = f" (and {len(violations) - 1} more)" if len(violations) > 1 else ""
    return ValidationError(
        "workflow_invalid",
        f"{first.message} at {first.pointer or 'the root'}{more}",
        details={"violations": [each.as_json() for each in violations[:MAX_LISTED]]},
    )
