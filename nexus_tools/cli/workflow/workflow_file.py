"""Reading of workflows in JSON or Python, with the locations of violations."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nexus_tools.cli.framework import Output, read_bytes
from nexus_tools.errors import NexusError, UsageError, ValidationError
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from types import ModuleType

    from nexus_tools.tool import ToolDefinition
    from nexus_tools.workflow import Document, ToolPorts, Violation, Workflow

DOCUMENT = "workflow.json"
"""The name of the document in a project."""

_COLUMNS = {
    "place": "Location",
    "severity": "Severity",
    "rule": "Rule",
    "pointer": "Pointer",
    "message": "Message",
}


Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class WorkflowFile:
    """A file, its document, and its violations. The document is None if it cannot be parsed.

    `rows` has the violations with their locations, which `place` computes. A Python file may also
    set the FQN and the description. `tools` has the known tools by FQN.
    """

    name: str
    document: "Document | None"
    rows: Sequence[Row]
    place: "Callable[[Violation], Row]"
    fqn: str = ""
    description: str = ""
    tools: "Mapping[str, ToolPorts]" = field(default_factory=dict)

    def with_violations(self, violations: "Iterable[Violation]") -> "WorkflowFile":
        """Return a copy with more violations, without duplicates."""
        more = (row for row in map(self.place, violations) if row not in self.rows)
        return replace(self, rows=[*self.rows, *more])

    @property
    def errors(self) -> list[Row]:
        """The violations that make the workflow invalid."""
        return [row for row in self.rows if row["severity"] == "error"]

    def print_violations(self, output: Output, *, aside: bool = False) -> None:
        """Print a table of the violations, if there are any."""
        if self.rows and not output.as_json:
            output.table(self.rows, _COLUMNS, empty="", aside=aside)

    def invalid(self) -> ValidationError:
        """Return the error for the violations."""
        details = {"violations": self.errors}
        if self.errors and all(error["rule"] == "unregistered" for error in self.errors):
            lacking = len({error["message"] for error in self.errors})
            return ValidationError(
                "workflow_invalid",
                f"{self.name} is valid, but {lacking} of its tools"
                f" {'is' if lacking == 1 else 'are'} not registered on this network",
                hint="Run `nexus-tools tool register`, or select another network with -n.",
                details=details,
            )
        count = len(self.errors)
        rules = units.count(count, "error")
        message = f"{self.name} is invalid: {rules}"
        return ValidationError("workflow_invalid", message, details=details)


def read_workflow(
    name: str, definitions: "Mapping[str, ToolDefinition] | None" = None, *, strict: bool = False
) -> WorkflowFile:
    """Read the workflow in a file, with all its violations. `strict` turns warnings into errors.

    The file is a JSON document, `-` for stdin, a folder with `workflow.json`, or a Python file with
    a `Workflow`. The function checks the workflow against `definitions` by FQN, and against the
    package's own tools. Raises `output_file_unreadable`, `json_invalid`, the errors of
    `load_module`, or an error of the author's code.
    """
    place, _, attribute = name.partition(":")
    if place.endswith(".py"):
        found = _from_python(name, place, attribute, strict=strict)
    else:
        found = _from_json(
            str(Path(name) / DOCUMENT) if Path(name).is_dir() else name, strict=strict
        )
    if found.document is None:
        return found
    from nexus_tools.workflow import WAITING_TOOLS, ToolPorts

    known = {**WAITING_TOOLS, **(definitions or {})}
    used = known.keys() & {vertex.fqn for vertex in found.document.vertices}
    tools = {**found.tools, **{fqn: ToolPorts(known[fqn]) for fqn in used}}
    return replace(found, tools=tools).with_violations(_mismatches(found.document, known))


def _from_json(name: str, *, strict: bool) -> WorkflowFile:
    from nexus_tools.workflow import json_positions, lint, place_of, read_document

    text = read_bytes(name)
    document = None
    try:
        document, warnings = read_document(text)
        found = [violation.as_json() for violation in (*warnings, *lint(document))]
    except ValidationError as error:
        if error.code != "workflow_invalid":
            raise ValidationError(error.code, f"{name}: {error.message}") from error
        found = error.details["violations"]
    places = json_positions(text.decode())

    def row(violation: Mapping[str, Any]) -> Row:
        line, column = place_of(places, violation["pointer"]) or (1, 1)
        place = {"place": f"{name}:{line}:{column}", "line": line, "column": column}
        return {**violation, **place, "severity": _severity(violation, strict=strict)}

    return WorkflowFile(
        name, document, list(map(row, found)), lambda violation: row(violation.as_json())
    )


def _mismatches(
    document: "Document", definitions: "Mapping[str, ToolDefinition]"
) -> "Iterator[Violation]":
    """Yield uses of ports and variants that known tools do not have."""
    from nexus_tools.workflow import ToolFacts, lint_interfaces

    facts = {fqn: ToolFacts(definition) for fqn, definition in definitions.items()}
    found = lint_interfaces(document, facts)
    yield from (violation for violation in found if violation.rule != "unregistered")


def _from_python(name: str, place: str, attribute: str, *, strict: bool) -> WorkflowFile:
    from nexus_tools.tool_server import load_module

    read_bytes(place)  # report a missing file with the same error as for JSON
    flow = _workflow(load_module(place), name, attribute)
    document = None
    try:
        document = flow.document()
        found = [located.as_json() for located in flow.check()]
    except NexusError as error:
        if "violations" not in error.details:
            raise
        found = error.details["violations"]

    def row(violation: Mapping[str, Any]) -> Row:
        file = place if Path(violation["file"]).name == Path(place).name else violation["file"]
        severity = _severity(violation, strict=strict)
        return {**violation, "place": f"{file}:{violation['line']}", "severity": severity}

    def placed(violation: "Violation") -> Row:
        [located] = flow.located([violation])
        return row(located.as_json())

    rows = list(map(row, found))
    return WorkflowFile(name, document, rows, placed, str(flow.fqn), flow.description, flow.tools)


def _workflow(module: "ModuleType", name: str, attribute: str) -> "Workflow":
    """Return the only workflow in a module, or the workflow in an attribute."""
    from nexus_tools.workflow import Workflow

    found = {key: value for key, value in vars(module).items() if isinstance(value, Workflow)}
    if attribute:
        found = {key: value for key, value in found.items() if key == attribute}
    if len({*map(id, found.values())}) == 1:
        return next(iter(found.values()))
    message = f"expected one workflow in {name}, found {len(found)}"
    hint = f"Pass {name}:{next(iter(found))}." if found else "Assign a Workflow to a variable."
    raise UsageError("workflow_ambiguous", message, hint=hint)


def _severity(row: Mapping[str, Any], *, strict: bool) -> str:
    return "error" if strict else str(row["severity"])


def valid_workflow(
    output: Output, name: str, definitions: "Mapping[str, ToolDefinition]"
) -> "tuple[Document, Mapping[str, ToolPorts]]":
    """Return the document in a file without errors, and the known tools by FQN.

    Raises `workflow_invalid` after printing a table of violations.
    """
    found = read_workflow(name, definitions)
    if found.document is None or found.errors:
        found.print_violations(output, aside=True)
        raise found.invalid()
    return found.document, found.tools
