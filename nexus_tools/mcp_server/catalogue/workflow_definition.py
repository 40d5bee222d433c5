"""A workflow as if it were a tool: its inputs are the ports, how it ends is the variant."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nexus_tools.errors import UsageError, ValidationError
from nexus_tools.export import moved
from nexus_tools.tool import ToolDefinition, ToolFqn, canonical_json, pointer_of
from nexus_tools.workflow import (
    Document,
    InputPort,
    Status,
    chosen_group,
    entry_names,
    needed_names,
)

EARLY_ENDS = (Status.TERMINATED, Status.CANCELLED, Status.TIMED_OUT)
"""How an execution ends before it is done."""

MAX_PORTS = 256
"""The most entry ports of a workflow on offer, over all ways to begin, and its most outputs.

What is made of a document is made for each of them, whoever asks for a list.
"""

MAX_DEFINITION_BYTES = 65_536
"""How large the schemas of a workflow on offer may be as JSON.

Each entry port repeats what its tool says of it: a document of ten kilobytes, of a tool with a
large schema, would put megabytes into the list that every client reads.
"""

_TEXT = {"type": "string"}
_SENTENCES = {"type": "array", "items": _TEXT}


def variant_of(status: Status) -> str:
    """The variant for how an execution ended; ends before it was done are error variants."""
    return f"err_{status}" if status in EARLY_ENDS else str(status)


@dataclass(frozen=True, slots=True)
class WorkflowDefinition:
    """A published workflow as others are lent it.

    Its input schema has a property for each input, by the name that `workflow run --input` takes.
    Where it can begin in several ways, `group_port` is one more, with the name of the entry group;
    it is empty otherwise. `timeout_ms` is how long an execution may last.
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
        lasts_ms: int,
    ) -> "WorkflowDefinition":
        """That of a document, with the definitions of its tools by FQN.

        Raises `definition_too_large`.
        """
        _check_count(document)
        inputs = _Inputs(document, tools)
        names = [group.name for group in document.groups()]
        schema, group_port = inputs.of_group(names[0]), ""
        if len(names) > 1:
            schema, group_port = inputs.of_groups(names)
        outputs = _output_schema([each.name or str(each.source) for each in document.outputs])
        if len(canonical_json([schema, outputs])) > MAX_DEFINITION_BYTES:
            raise _too_large()
        return cls(fqn, description, lasts_ms, schema, outputs, group_port)

    def chosen(self, arguments: Mapping[str, Any]) -> tuple[str | None, dict[str, Any]]:
        """The entry group in the arguments of a call, and the inputs. Raises `group_missing`."""
        inputs = dict(arguments)
        if not self.group_port:
            return None, inputs
        group = inputs.pop(self.group_port, None)
        if not isinstance(group, str):
            known = ", ".join(self.input_schema["properties"][self.group_port]["enum"])
            message = f"the workflow can begin in several ways: {known}"
            hint = f"name one of them as {self.group_port!r}"
            raise UsageError("group_missing", message, hint=hint)
        return group, inputs


def _check_count(document: Document) -> None:
    """Raise `definition_too_large` before anything is made of a document that has too much."""
    ports = {vertex.name: len(vertex.entry_ports) for vertex in document.vertices}
    entered = sum(ports[name] for group in document.groups() for name in group.vertices)
    named = sum(len(given.targets) for given in document.inputs)
    if max(entered, named, len(document.outputs)) > MAX_PORTS:
        raise _too_large()


def _too_large() -> ValidationError:
    return ValidationError("definition_too_large", "the workflow is too large to be on offer")


class _Inputs:
    """The schemas of the inputs of a document; what they refer to stands in `$defs`, by tool."""

    def __init__(self, document: Document, tools: Mapping[str, ToolDefinition]) -> None:
        self._document = document
        self._fqns = {vertex.name: vertex.fqn for vertex in document.vertices}
        entered = {vertex.fqn for vertex in document.vertices if vertex.entry_ports}
        self._schemas = {fqn: _in_definitions(tools[fqn]) for fqn in entered}
        self._definitions: dict[str, Any] = {}
        self._left_bytes = MAX_DEFINITION_BYTES

    def of_group(self, name: str) -> dict[str, Any]:
        """The schema where there is one way to begin."""
        properties = self._properties(name)
        return self._closed(properties, list(properties))

    def of_groups(self, names: list[str]) -> tuple[dict[str, Any], str]:
        """The schema where one of several entry groups has to be named, and the port for that."""
        found: dict[str, dict[str, Any]] = {}
        by_group = {name: self._properties(name) for name in names}
        for name, properties in by_group.items():
            for key, schema in properties.items():
                found.setdefault(key, {})[name] = schema
        port = "group"
        while port in found:
            port = f"entry_{port}"
        how = "; ".join(f"{name}: {', '.join(taken)}" for name, taken in by_group.items())
        choice = {
            "type": "string",
            "enum": names,
            "description": f"How the workflow begins, and with which inputs. {how}.",
        }
        properties = {key: _any_of(schemas.values()) for key, schemas in found.items()}
        always = [key for key, schemas in found.items() if len(schemas) == len(names)]
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
        chosen = chosen_group(self._document, group)
        targets = entry_names(self._document, chosen)
        needed = needed_names(self._document, chosen)
        return {name: _all_of([self._port(each) for each in targets[name]]) for name in needed}

    def _port(self, target: InputPort) -> Any:
        """What the tool says of a port; anything for one that it does not name, or never gets."""
        fqn = self._fqns[target.vertex]
        schema = self._schemas[fqn]
        port = schema.get("properties", {}).get(target.port, {})
        self._take(port)
        if _refers(port) and fqn not in self._definitions:
            self._take(schema)
            self._definitions[fqn] = schema
        return port

    def _take(self, schema: Any) -> None:
        """Raise `definition_too_large` as soon as schemas are too large together."""
        self._left_bytes -= len(canonical_json(schema))
        if self._left_bytes < 0:
            raise _too_large()


def _in_definitions(tool: ToolDefinition) -> dict[str, Any]:
    """A tool's input schema for a place of its own: its references lead there."""
    place = f"/$defs{pointer_of((str(tool.fqn),))}"
    return moved(tool.input_schema, lambda pointer: place + pointer)


def _refers(schema: Any) -> bool:
    if isinstance(schema, list):
        return any(map(_refers, schema))
    if isinstance(schema, dict):
        return not schema.keys().isdisjoint(("$ref", "$dynamicRef")) or _refers([*schema.values()])
    return False


def _all_of(schemas: list[Any]) -> Any:
    """The schema of a value that goes to several ports."""
    different = _distinct(schemas)
    return different[0] if len(different) == 1 else {"allOf": different}


def _any_of(schemas: Any) -> Any:
    """The schema of a value that goes to one port or another."""
    different = _distinct(schemas)
    return different[0] if len(different) == 1 else {"anyOf": different}


def _distinct(schemas: Any) -> list[Any]:
    found: list[Any] = []
    for schema in schemas:
        if schema not in found:
            found.append(schema)
    return found


def _output_schema(outputs: list[str]) -> dict[str, Any]:
    """One variant for each way to end; values are what tools gave, and those know their schemas."""
    values: dict[str, Any] = {"type": "object"}
    if outputs:
        values["properties"] = {name: {} for name in outputs}
    ports = {
        "execution": {"type": "string", "description": "The id of the execution on Sui."},
        "outputs": values | {"description": "By name; a list where several runs gave one."},
        "failures": _SENTENCES | {"description": "Why some runs failed."},
        "waiting": _SENTENCES | {"description": "What did not start, and what it lacked."},
    }
    reason = {"reason": _TEXT | {"description": "Why it ended before it was done."}}
    return {
        "type": "object",
        "oneOf": [
            _branch(Status.COMPLETED, ports),
            _branch(Status.COMPLETED_WITH_FAILURES, ports),
            *(_branch(status, reason | ports) for status in EARLY_ENDS),
        ],
    }


def _branch(status: Status, ports: dict[str, Any]) -> dict[str, Any]:
    variant = variant_of(status)
    required = [name for name in ports if name not in ("failures", "waiting")]
    schema = {"type": "object", "properties": ports, "required": required}
    return {"type": "object", "properties": {variant: schema}, "required": [variant]}
