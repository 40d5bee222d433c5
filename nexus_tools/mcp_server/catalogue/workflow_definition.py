"""A workflow in the form of a tool: its inputs are ports, and its ending is the variant."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nexus_tools.errors import UsageError, ValidationError
from nexus_tools.export import relocate_pointers
from nexus_tools.tool import ToolDefinition, ToolFqn, canonical_json, json_pointer
from nexus_tools.workflow import (
    Document,
    InputPort,
    Status,
    entry_names,
    needed_names,
    select_entry_group,
)

EARLY_END_STATUSES = (Status.TERMINATED, Status.CANCELLED, Status.TIMED_OUT)
"""The states of an execution that ended before it was complete."""

MAX_PORTS = 256
"""The maximum number of an offered workflow's entry ports, in all groups, and of its outputs.

The definition has a schema for each port and output, and every listing creates the definition.
"""

MAX_DEFINITION_BYTES = 65_536
"""The limit for the size of an offered workflow's schemas as JSON, in bytes.

Each entry port repeats the schema of its tool. Without a limit, a document of ten kilobytes with a
large tool schema would add megabytes to the list that every client reads.
"""

_TEXT = {"type": "string"}
_SENTENCES = {"type": "array", "items": _TEXT}


def variant_of(status: Status) -> str:
    """Return the variant for the end of an execution. Early ends are error variants."""
    return f"err_{status}" if status in EARLY_END_STATUSES else str(status)


@dataclass(frozen=True, slots=True)
class WorkflowDefinition:
    """The exportable definition of a published workflow.

    The input schema has a property for each input, with its name in `workflow run --input`. If the
    workflow has several entry groups, `group_port` names an additional property for the entry
    group. Otherwise `group_port` is empty. `timeout_ms` is the maximum duration of an execution.
    """

    fqn: ToolFqn
    description: str
    timeout_ms: int
    input_schema: dict[str, Any]
    output_schema: dict[str, Any]
    group_port: str
    type: str = "workflow"

    @classmethod
    def of(
        cls,
        fqn: ToolFqn,
        description: str,
        document: Document,
        tools: Mapping[str, ToolDefinition],
        *,
        duration_ms: int,
    ) -> "WorkflowDefinition":
        """Return the definition of a document, with the definitions of its tools by FQN.

        Raises:
            ValidationError: with code `definition_too_large`.
        """
        _check_count(document)
        inputs = _Inputs(document, tools)
        names = [group.name for group in document.groups()]
        schema, group_port = inputs.of_group(names[0]), ""
        if len(names) > 1:
            schema, group_port = inputs.of_groups(names)
        outputs = _output_schema([output.name or str(output.source) for output in document.outputs])
        if len(canonical_json([schema, outputs])) > MAX_DEFINITION_BYTES:
            raise _too_large()
        return cls(fqn, description, duration_ms, schema, outputs, group_port)

    def chosen(self, arguments: Mapping[str, Any]) -> tuple[str | None, dict[str, Any]]:
        """Return the entry group in the arguments of a call, and the inputs.

        Raises:
            UsageError: with code `group_missing`.
        """
        inputs = dict(arguments)
        if not self.group_port:
            return None, inputs
        group = inputs.pop(self.group_port, None)
        if not isinstance(group, str):
            groups = ", ".join(self.input_schema["properties"][self.group_port]["enum"])
            message = f"the workflow has several entry groups: {groups}"
            hint = f"Pass the name of an entry group as {self.group_port!r}."
            raise UsageError("group_missing", message, hint=hint)
        return group, inputs


def _check_count(document: Document) -> None:
    """Raise `definition_too_large` for a large document before it is converted."""
    ports = {vertex.name: len(vertex.entry_ports) for vertex in document.vertices}
    entry_count = sum(ports[name] for group in document.groups() for name in group.vertices)
    target_count = sum(len(entry.targets) for entry in document.inputs)
    if max(entry_count, target_count, len(document.outputs)) > MAX_PORTS:
        raise _too_large()


def _too_large() -> ValidationError:
    return ValidationError("definition_too_large", "the workflow is too large to be offered")


class _Inputs:
    """The schemas of a document's inputs. `$defs` has the targets of references, by tool."""

    def __init__(self, document: Document, tools: Mapping[str, ToolDefinition]) -> None:
        self._document = document
        self._fqns = {vertex.name: vertex.fqn for vertex in document.vertices}
        entry_fqns = {vertex.fqn for vertex in document.vertices if vertex.entry_ports}
        self._schemas = {fqn: _in_definitions(tools[fqn]) for fqn in entry_fqns}
        self._definitions: dict[str, Any] = {}
        self._left_bytes = MAX_DEFINITION_BYTES

    def of_group(self, name: str) -> dict[str, Any]:
        """Return the schema for a workflow with one entry group."""
        properties = self._properties(name)
        return self._closed(properties, list(properties))

    def of_groups(self, names: list[str]) -> tuple[dict[str, Any], str]:
        """Return the schema for several entry groups, and the port that selects the group."""
        schemas_by_input: dict[str, dict[str, Any]] = {}
        by_group = {name: self._properties(name) for name in names}
        for name, properties in by_group.items():
            for key, schema in properties.items():
                schemas_by_input.setdefault(key, {})[name] = schema
        port = "group"
        while port in schemas_by_input:
            port = f"entry_{port}"
        group_summary = "; ".join(
            f"{name}: {', '.join(inputs)}" for name, inputs in by_group.items()
        )
        choice = {
            "type": "string",
            "enum": names,
            "description": f"The entry group, which determines the inputs. {group_summary}.",
        }
        properties = {key: _any_of(schemas.values()) for key, schemas in schemas_by_input.items()}
        always = [key for key, schemas in schemas_by_input.items() if len(schemas) == len(names)]
        return self._closed({port: choice} | properties, [port, *always]), port

    def _closed(self, properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
        schema = {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": False,
        }
        return schema | ({"$defs": self._definitions} if self._definitions else {})

    def _properties(self, group: str) -> dict[str, Any]:
        entry_group = select_entry_group(self._document, group)
        targets = entry_names(self._document, entry_group)
        needed = needed_names(self._document, entry_group)
        return {name: _all_of([self._port(target) for target in targets[name]]) for name in needed}

    def _port(self, target: InputPort) -> Any:
        """Return the tool's schema of a port. Unknown or unused ports accept any value."""
        fqn = self._fqns[target.vertex]
        schema = self._schemas[fqn]
        port = schema.get("properties", {}).get(target.port, {})
        self._count_bytes(port)
        if _has_references(port) and fqn not in self._definitions:
            self._count_bytes(schema)
            self._definitions[fqn] = schema
        return port

    def _count_bytes(self, schema: Any) -> None:
        """Raise `definition_too_large` as soon as the total size of the schemas is too large."""
        self._left_bytes -= len(canonical_json(schema))
        if self._left_bytes < 0:
            raise _too_large()


def _in_definitions(tool: ToolDefinition) -> dict[str, Any]:
    """Return a tool's input schema with references to its own location in `$defs`."""
    place = f"/$defs{json_pointer((str(tool.fqn),))}"
    return relocate_pointers(tool.input_schema, lambda pointer: place + pointer)


def _has_references(schema: Any) -> bool:
    if isinstance(schema, list):
        return any(map(_has_references, schema))
    if isinstance(schema, dict):
        return not schema.keys().isdisjoint(("$ref", "$dynamicRef")) or _has_references(
            [*schema.values()]
        )
    return False


def _all_of(schemas: list[Any]) -> Any:
    """Return the schema of a value that goes to several ports."""
    distinct_schemas = _distinct(schemas)
    return distinct_schemas[0] if len(distinct_schemas) == 1 else {"allOf": distinct_schemas}


def _any_of(schemas: Any) -> Any:
    """Return the schema of a value that goes to one of several ports."""
    distinct_schemas = _distinct(schemas)
    return distinct_schemas[0] if len(distinct_schemas) == 1 else {"anyOf": distinct_schemas}


def _distinct(schemas: Any) -> list[Any]:
    unique: list[Any] = []
    for schema in schemas:
        if schema not in unique:
            unique.append(schema)
    return unique


def _output_schema(outputs: list[str]) -> dict[str, Any]:
    """Return the output schema with one variant per ending. Output values can have any schema."""
    values: dict[str, Any] = {"type": "object"}
    if outputs:
        values["properties"] = {name: {} for name in outputs}
    ports = {
        "execution": {"type": "string", "description": "The ID of the execution on Sui."},
        "outputs": values
        | {"description": "The outputs by name. Several runs produce a list of values."},
        "failures": _SENTENCES | {"description": "The reasons why runs failed."},
        "waiting": _SENTENCES
        | {"description": "The steps that did not start, and their missing inputs."},
    }
    reason = {"reason": _TEXT | {"description": "The reason why the execution ended early."}}
    return {
        "type": "object",
        "oneOf": [
            _branch(Status.COMPLETED, ports),
            _branch(Status.COMPLETED_WITH_FAILURES, ports),
            *(_branch(status, reason | ports) for status in EARLY_END_STATUSES),
        ],
    }


def _branch(status: Status, ports: dict[str, Any]) -> dict[str, Any]:
    variant = variant_of(status)
    required = [name for name in ports if name not in ("failures", "waiting")]
    schema = {"type": "object", "properties": ports, "required": required}
    return {"type": "object", "properties": {variant: schema}, "required": [variant]}
