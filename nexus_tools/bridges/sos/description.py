"""The child's description of a tool, and the tool's interface as a Nexus tool."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nexus_tools.bridges.schemas.ports import PortMapping, map_ports
from nexus_tools.bridges.schemas.variants import closed_object_schema, error_schema, output_schema

CONTEXT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "The SOSContext by its sections: namespace, service, meta, action, hook.",
}
_RESULT_SCHEMA = closed_object_schema(
    {"data": {"type": "object", "description": "The return value of the tool."}}, required=["data"]
) | {"description": "The result of the previous tool."}
_CALLBACKS_SCHEMA: dict[str, Any] = {
    "type": "array",
    "items": {"type": "object"},
    "description": "The actions that the tool requests but that the bridge does not run.",
}


@dataclass(frozen=True, slots=True)
class ToolDescription:
    """A registered tool. `schema` describes the arguments from a caller."""

    namespace: str
    name: str
    file: Path
    text: str
    schema: dict[str, Any]
    takes_context: bool
    takes_result: bool

    @classmethod
    def of(cls, described: Mapping[str, Any]) -> "ToolDescription":
        """Return the description from the child's reply."""
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
        """The name by which actions refer to the tool."""
        return f"{self.namespace}.{self.name}"


@dataclass(frozen=True, slots=True)
class Interface:
    """The schemas of a tool, and the argument names for `__CTX__` and `__RESULT__`.

    An argument name is None if the tool does not have this parameter.
    """

    mapping: PortMapping
    output_schema: dict[str, Any]
    context: str | None
    result: str | None

    @classmethod
    def of(cls, tool: ToolDescription) -> "Interface":
        """Return the interface of a described tool.

        Raises:
            ValidationError: with code `schema_invalid` if the schema is not supported.
        """
        properties = tool.schema["properties"]
        context = _unused_name("context", properties) if tool.takes_context else None
        result = _unused_name("result", properties) if tool.takes_result else None
        special = {context: CONTEXT_SCHEMA, result: _RESULT_SCHEMA}
        schema = tool.schema | {
            "properties": properties | {name: part for name, part in special.items() if name},
            "required": [*tool.schema["required"], *filter(None, [result])],
        }
        return cls(map_ports(schema), _outputs(tool), context, result)


def _unused_name(name: str, properties: Mapping[str, Any]) -> str:
    return f"sos_{name}" if name in properties else name


def _outputs(tool: ToolDescription) -> dict[str, Any]:
    result = {
        "type": "object",
        "description": "The returned object. Any other value becomes {'result': value}.",
    }
    ports = {"result": result, "callbacks": _CALLBACKS_SCHEMA}
    if tool.takes_context:
        ports["context"] = CONTEXT_SCHEMA
    return output_schema(
        {"ok": closed_object_schema(ports, required=["result"]), "err": error_schema()}
    )
