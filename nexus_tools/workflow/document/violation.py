"""The violation of a workflow rule: the rule, the location and the severity."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from nexus_tools.errors import ValidationError

MAX_LISTED = 100


class Severity(StrEnum):
    """The severity of a violation. An error makes the document invalid."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Violation:
    """The violation of a rule at one location.

    `rule` is the number of a rule of the reference (1 to 25), or a word. `pointer` is an RFC 6901
    pointer into the document.
    """

    rule: int | str
    message: str
    pointer: str
    severity: Severity = Severity.ERROR

    @property
    def is_error(self) -> bool:
        """Whether the violation makes the document invalid."""
        return self.severity is Severity.ERROR

    def as_json(self) -> dict[str, Any]:
        """Return the entry for `violations` in an error's details."""
        return {
            "rule": self.rule,
            "message": self.message,
            "pointer": self.pointer,
            "severity": self.severity.value,
        }


def violations_error(violations: Sequence[Violation]) -> ValidationError:
    """Return one error, `workflow_invalid`, for all violations, with the message of the first.

    `details["violations"]` lists the first `MAX_LISTED`.
    """
    first = violations[0]
    more = f" (and {len(violations) - 1} more)" if len(violations) > 1 else ""
    return ValidationError(
        "workflow_invalid",
        f"{first.message} at {first.pointer or 'the root'}{more}",
        details={"violations": [violation.as_json() for violation in violations[:MAX_LISTED]]},
    )
