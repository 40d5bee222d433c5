"""What the child says of one tool, and the interface that it has as a Nexus tool."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nexus_tools.bridges.schemas.ports import PortMapping, map_ports
from nexus_tools.bridges.schemas.variants import error_ports, object_of, output_schema

CONTEXT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "The SOSContext by its sections: namespace, service, meta, action, hook.",
}
_RESULT_SCHEMA = object_of(
    {"data": {"type": "object", "description": "What that tool returned."}}, required=["data"]
) | {"description": "The result of a tool that was called before."}
_CALLBACKS_SCHEMA: dict[str, Any] = {
    "type": "array",
    "items": {"type": "object"},
    "description": "The actions that it asks to be run after it; they are not run.",
}


@dataclass(frozen=True, slots=True)
class ToolDescription:
    """A tool as it was registered; `schema` describes the arguments that a caller gives."""

    namespace: str
    name: str
    file: Path
    text: str
    schema: dict[str, Any]
    takes_context: bool
    takes_result: bool

    @classmethod
    def of(cls, described: Mapping[str, Any]) -> "ToolDescription":
        """From what the child said."""
        return cls(
            namespace=described["namespace"],
            name=described["name"],
            file=Path(described["file"]),
            text=described["description"],
            schema=described["schema"],
            takes_context=described["takes_context"],
            takes_result=described["takes_result"],
        )

    @property
    def full_name(self) -> str:
        """What actions call it."""
        return f"{self.namespace}.{self.name}"


@dataclass(frozen=True, slots=True)
class Interface:
    """The schemas of a tool, and the arguments that stand for `__CTX__` and `__RESULT__`.

    Those are None where the tool takes none.
    """

    mapping: PortMapping
    output_schema: dict[str, Any]
    context: str | None
    result: str | None

    @classmethod
    def of(cls, tool: ToolDescription) -> "Interface":
        """Raises `ValidationError` with code `schema_invalid` if the house takes no such schema."""
        taken = tool.schema["properties"]
        context = _free("context", taken) if tool.takes_context else None
        result = _free("result", taken) if tool.takes_result else None
        special = {context: CONTEXT_SCHEMA, result: _RESULT_SCHEMA}
        schema = tool.schema | {
            "properties": taken | {name: part for name, part in special.items() if name},
            "required": [*tool.schema["required"], *filter(None, [result])],
        }
        return cls(map_ports(schema), _outputs(tool), context, result)


def _free(name: str, taken: Mapping[str, Any]) -> str:
    return f"sos_{name}" if name in taken else name


def _outputs(tool: ToolDescription) -> dict[str, Any]:
    result = {"type": "object", "description": "What the tool returned; else {'result': that}."}
    ports = {"result": result, "callbacks": _CALLBACKS_SCHEMA}
    if tool.takes_context:
        ports["context"] = CONTEXT_SCHEMA
    return output_schema({"ok": object_of(ports, required=["result"]), "err": error_ports()})
