"""A workflow as a command finds it: a JSON document, with the places of its parts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nexus_tools.cli.framework import Output, read_bytes
from nexus_tools.errors import ValidationError

if TYPE_CHECKING:
    from nexus_tools.workflow import Document

_COLUMNS = {
    "place": "Place",
    "severity": "Severity",
    "rule": "Rule",
    "pointer": "Pointer",
    "message": "Message",
}


@dataclass(frozen=True, slots=True)
class WorkflowFile:
    """A file, its document, and what is wrong with it; no document if it has not the shape of one.

    `rows` are the violations with their places.
    """

    name: str
    document: "Document | None"
    rows: Sequence[dict[str, Any]]

    @property
    def errors(self) -> list[dict[str, Any]]:
        """The violations that make it unfit."""
        return [row for row in self.rows if row["severity"] == "error"]

    def print_violations(self, output: Output, *, aside: bool = False) -> None:
        """Print a table of them for people, if there are any."""
        if self.rows and not output.as_json:
            output.table(self.rows, _COLUMNS, empty="", aside=aside)

    def invalid(self) -> ValidationError:
        """The error that goes with violations."""
        count = len(self.errors)
        rules = "a rule" if count == 1 else f"rules in {count} places"
        return ValidationError(
            "workflow_invalid",
            f"{self.name} breaks {rules}",
            details={"violations": self.errors},
        )


def read_workflow(name: str, *, strict: bool = False) -> WorkflowFile:
    """The workflow in a file, or on stdin for `-`, with all its violations.

    With `strict` warnings are errors. Raises `file_unreadable` or `json_invalid`.
    """
    from nexus_tools.workflow import Severity, lint, place_of, places_in, read_document

    text = read_bytes(name)
    document, violations = None, []
    try:
        document, warnings = read_document(text)
    except ValidationError as error:
        if error.code != "workflow_invalid":
            raise ValidationError(error.code, f"{name}: {error.message}") from error
        found = error.details["violations"]
    else:
        violations = [*warnings, *lint(document, strict=strict)]
        found = [violation.as_json() for violation in violations]
    places = places_in(text.decode())
    rows = []
    for each in found:
        line, column = place_of(places, each["pointer"]) or (1, 1)
        severity = Severity.ERROR.value if strict else each["severity"]
        place = {"place": f"{name}:{line}:{column}", "line": line, "column": column}
        rows.append(each | place | {"severity": severity})
    return WorkflowFile(name, document, rows)


def valid_workflow(output: Output, name: str) -> "Document":
    """The document in a file that breaks no rule; raises `workflow_invalid` behind a table."""
    found = read_workflow(name)
    if found.document is None or found.errors:
        found.print_violations(output, aside=True)
        raise found.invalid()
    return found.document
