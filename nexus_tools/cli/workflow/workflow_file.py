"""A workflow as a command finds it, in JSON or Python, and where what is wrong with it stands."""

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
    "place": "Place",
    "severity": "Severity",
    "rule": "Rule",
    "pointer": "Pointer",
    "message": "Message",
}


Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class WorkflowFile:
    """A file, its document, and what is wrong with it; no document if it has not the shape of one.

    `rows` are the violations with their places, which `place` finds. In Python it may say as what,
    and with which description, it is to be published. `tools` are those that are known, by FQN.
    """

    name: str
    document: "Document | None"
    rows: Sequence[Row]
    place: "Callable[[Violation], Row]"
    fqn: str = ""
    description: str = ""
    tools: "Mapping[str, ToolPorts]" = field(default_factory=dict)

    def with_violations(self, violations: "Iterable[Violation]") -> "WorkflowFile":
        """The same with more violations of its document, those left out that it has already."""
        more = (row for row in map(self.place, violations) if row not in self.rows)
        return replace(self, rows=[*self.rows, *more])

    @property
    def errors(self) -> list[Row]:
        """The violations that make it unfit."""
        return [row for row in self.rows if row["severity"] == "error"]

    def print_violations(self, output: Output, *, aside: bool = False) -> None:
        """Print a table of them for people, if there are any."""
        if self.rows and not output.as_json:
            output.table(self.rows, _COLUMNS, empty="", aside=aside)

    def invalid(self) -> ValidationError:
        """The error that goes with violations."""
        details = {"violations": self.errors}
        if self.errors and all(each["rule"] == "unregistered" for each in self.errors):
            lacking = len({each["message"] for each in self.errors})
            return ValidationError(
                "workflow_invalid",
                f"{self.name} keeps the rules, but {units.count(lacking, 'tool')} of it"
                f" {'is' if lacking == 1 else 'are'} not registered on this network",
                hint="`nexus-tools tool register` registers a tool; -n names another network",
                details=details,
            )
        count = len(self.errors)
        rules = "a rule" if count == 1 else f"rules in {count} places"
        return ValidationError("workflow_invalid", f"{self.name} breaks {rules}", details=details)


def read_workflow(
    name: str, definitions: "Mapping[str, ToolDefinition] | None" = None, *, strict: bool = False
) -> WorkflowFile:
    """The workflow in a file, with all its violations; with `strict` warnings are errors.

    It is a JSON document, on stdin for `-`, in a folder `workflow.json`, or a `Workflow` in a
    Python file, and is held against the `definitions` that are known, by FQN, and against the tools
    that the package itself has. Raises `file_unreadable` or `json_invalid`, or as `load_module` and
    the author's own lines do.
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
    from nexus_tools.workflow import TOOLS_THAT_WAIT, ToolPorts

    known = {**TOOLS_THAT_WAIT, **(definitions or {})}
    used = known.keys() & {vertex.fqn for vertex in found.document.vertices}
    tools = {**found.tools, **{fqn: ToolPorts(known[fqn]) for fqn in used}}
    return replace(found, tools=tools).with_violations(_mismatches(found.document, known))


def _from_json(name: str, *, strict: bool) -> WorkflowFile:
    from nexus_tools.workflow import lint, place_of, places_in, read_document

    text = read_bytes(name)
    document = None
    try:
        document, warnings = read_document(text)
        found = [violation.as_json() for violation in (*warnings, *lint(document))]
    except ValidationError as error:
        if error.code != "workflow_invalid":
            raise ValidationError(error.code, f"{name}: {error.message}") from error
        found = error.details["violations"]
    places = places_in(text.decode())

    def row(violation: Mapping[str, Any]) -> Row:
        line, column = place_of(places, violation["pointer"]) or (1, 1)
        place = {"place": f"{name}:{line}:{column}", "line": line, "column": column}
        return {**violation, **place, "severity": _severity(violation, strict=strict)}

    return WorkflowFile(name, document, list(map(row, found)), lambda each: row(each.as_json()))


def _mismatches(
    document: "Document", definitions: "Mapping[str, ToolDefinition]"
) -> "Iterator[Violation]":
    """Where a document uses ports and variants that tools do not have; others may be anywhere."""
    from nexus_tools.workflow import ToolFacts, lint_interfaces

    facts = {fqn: ToolFacts(definition) for fqn, definition in definitions.items()}
    found = lint_interfaces(document, facts)
    yield from (violation for violation in found if violation.rule != "unregistered")


def _from_python(name: str, place: str, attribute: str, *, strict: bool) -> WorkflowFile:
    from nexus_tools.tool_server import load_module

    read_bytes(place)  # whoever names no file is told so as of a JSON document
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
    """The workflow that a module has, or that an attribute of it is."""
    from nexus_tools.workflow import Workflow

    found = {key: value for key, value in vars(module).items() if isinstance(value, Workflow)}
    if attribute:
        found = {key: value for key, value in found.items() if key == attribute}
    if len({*map(id, found.values())}) == 1:
        return next(iter(found.values()))
    message = f"{name} has {len(found) or 'no'} workflow{'s' if len(found) > 1 else ''}"
    hint = f"name one: {name}:{next(iter(found))}" if found else "assign a Workflow to a variable"
    raise UsageError("workflow_unclear", message, hint=hint)


def _severity(row: Mapping[str, Any], *, strict: bool) -> str:
    return "error" if strict else str(row["severity"])


def valid_workflow(
    output: Output, name: str, definitions: "Mapping[str, ToolDefinition]"
) -> "tuple[Document, Mapping[str, ToolPorts]]":
    """The document in a file that breaks no rule, and the tools that are known, by FQN.

    Raises `workflow_invalid` behind a table.
    """
    found = read_workflow(name, definitions)
    if found.document is None or found.errors:
        found.print_violations(output, aside=True)
        raise found.invalid()
    return found.document, found.tools
