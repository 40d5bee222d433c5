"""The input of a run: the ports of the tool, and their conversion to the protocol.

`file`, `settings`, and `metadata` are separate ports. The `parameters` of the tool's properties
become further ports.
"""

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nexus_tools.bridges.schemas.ports import PortMapping, map_ports
from nexus_tools.bridges.schemas.variants import closed_object_schema, with_description
from nexus_tools.bridges.unstract.properties import (
    FileInput,
    Parameter,
    Restrictions,
    ToolProperties,
)
from nexus_tools.bridges.unstract.settings import Settings
from nexus_tools.errors import ValidationError
from nexus_tools.tool import MAX_PORTS, Mismatch, SchemaDocument, mismatch_error, relocated

MAX_NAME = 200


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file with its original name, which is a single path component."""

    name: str
    content: bytes

    @classmethod
    def parse(cls, port: Mapping[str, Any], restrictions: Restrictions) -> "InputFile":
        """Parse the port `file`, which matches its schema.

        Raises:
            ValidationError: with code `input_invalid` if the name leads to another folder, if the
                content is not base64, or if the tool does not accept the file.
        """
        name = port["name"]
        if name in (".", ".."):
            raise input_error("/file/name", "the value is not a valid file name")
        file = cls(name, _content(port))
        problem = restrictions.problem(name, len(file.content))
        if problem:
            raise input_error("/file", problem)
        return file


def file_schema(restrictions: Restrictions, description: str) -> dict[str, Any]:
    """Return the schema of the port `file`."""
    extension = next((name for name in restrictions.types if "/" not in name), "txt")
    return {
        "type": "object",
        "description": _described(restrictions, description),
        "properties": {
            "name": {
                "type": "string",
                "description": "The name of the file, without folders.",
                "maxLength": MAX_NAME,
                "pattern": r"^[^/\\\x00-\x1f\x7f]+$",
            },
            "text": {"type": "string", "description": "The content, as UTF-8."},
            "content_base64": {
                "type": "string",
                "description": "The content, as base64.",
                "contentEncoding": "base64",
            },
        },
        "required": ["name"],
        "oneOf": [{"required": ["text"]}, {"required": ["content_base64"]}],
        "additionalProperties": False,
        "examples": [{"name": f"document.{extension}", "text": "Hello"}],
    }


def input_error(pointer: str, message: str) -> ValidationError:
    """Return the error for an input that matches the schema but is invalid."""
    return mismatch_error("input_invalid", "the input is not valid", [Mismatch(pointer, message)])


def _content(port: Mapping[str, Any]) -> bytes:
    if "text" in port:
        return str(port["text"]).encode()
    try:
        return base64.b64decode(port["content_base64"], validate=True)
    except (binascii.Error, ValueError) as error:
        raise input_error("/file/content_base64", "the value is not valid base64") from error


def _described(restrictions: Restrictions, description: str) -> str:
    types = ", ".join(restrictions.types)
    parts = [
        description,
        f"Types: {types}." if types else "",
        f"At most {restrictions.max_bytes} bytes." if restrictions.max_bytes is not None else "",
    ]
    return " ".join(part for part in parts if part) or "The file that the tool processes."


# --- The whole input


MAX_SETTINGS_BYTES = 127 * 1024
"""The limit for settings, which are one argument of a command line. Linux allows 128 KiB."""

INPUT_FILE_PARAMETER = "input_file"
"""The parameter in the protocol's own example: the path of the input file."""

_OWN_PORTS = frozenset({"file", "settings", "metadata"})
_ID = {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9_.:-]*$", "maxLength": 200}

_METADATA = closed_object_schema(
    {
        "workflow_id": _ID,
        "execution_id": _ID,
        "file_execution_id": _ID,
        "organization_id": _ID,
        "llm_profile_id": _ID,
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 100},
        "custom_data": {"type": "object"},
    }
) | {"description": "The context of the run, for the METADATA.json of the tool."}


@dataclass(frozen=True, slots=True)
class RunInput:
    """The input of one run. `settings` include the defaults."""

    file: InputFile | None
    settings: dict[str, Any]
    parameters: dict[str, Any]
    metadata: dict[str, Any]

    @property
    def settings_argument(self) -> str:
        """The settings as an argument of the tool's command line."""
        return json.dumps(self.settings, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class ToolInput:
    """The input of a tool: the schema of its ports, and their conversion."""

    schema: dict[str, Any]
    properties: ToolProperties
    settings: Settings
    parameters: PortMapping | None
    takes_path: bool

    @classmethod
    def of(cls, properties: ToolProperties, settings: Settings) -> "ToolInput":
        """Return the input of a tool with these properties and settings.

        Raises:
            ValidationError: with code `schema_invalid` if the settings or parameters cannot be
                converted to ports.
        """
        declared = [entry for entry in properties.parameters if not _is_path(entry, properties)]
        parameters = _parameter_ports(declared, len(_OWN_PORTS))
        ports = dict(_own_ports(properties, settings))
        required = [name for name in ports if _is_required(name, properties, settings)]
        if parameters is not None:
            ports |= parameters.schema["properties"]
            required += parameters.schema.get("required", [])
        schema = closed_object_schema(ports, required=required)
        takes_path = len(declared) < len(properties.parameters)
        return cls(schema, properties, settings, parameters, takes_path)

    def read(self, ports: Mapping[str, Any]) -> RunInput:
        """Return the input of a run from ports that match the schema.

        Raises:
            ValidationError: with code `input_invalid` if the tool does not accept the file, or if
                the settings are too large.
        """
        parameter_ports = {name: value for name, value in ports.items() if name not in _OWN_PORTS}
        file = ports.get("file")
        run = RunInput(
            file=None if file is None else InputFile.parse(file, self.properties.restrictions),
            settings=self.settings.filled(ports.get("settings", {})),
            parameters={}
            if self.parameters is None
            else self.parameters.to_arguments(parameter_ports),
            metadata=dict(ports.get("metadata", {})),
        )
        size = len(run.settings_argument)
        if size > MAX_SETTINGS_BYTES:
            message = f"expected at most {MAX_SETTINGS_BYTES} bytes of settings, got {size}"
            raise input_error("/settings", message)
        return run


def _own_ports(properties: ToolProperties, settings: Settings) -> dict[str, Any]:
    ports: dict[str, Any] = {}
    if properties.file_input is not FileInput.NONE:
        description = with_description(properties.input_description)
        ports["file"] = file_schema(properties.restrictions, description)
    settings_schema = relocated(
        SchemaDocument.parse(settings.schema), lambda pointer: f"/properties/settings{pointer}"
    )
    return ports | {"settings": settings_schema, "metadata": _METADATA}


def _is_required(port: str, properties: ToolProperties, settings: Settings) -> bool:
    if port == "file":
        return properties.file_input is FileInput.REQUIRED
    return port == "settings" and settings.are_required


def _parameter_ports(parameters: list[Parameter], other_ports: int) -> PortMapping | None:
    """Return ports for the parameters, or the single port `parameters` if names conflict."""
    if not parameters:
        return None
    schemas = {
        parameter.name: {
            "type": parameter.type,
            "description": with_description(parameter.description),
        }
        for parameter in parameters
    }
    schema = closed_object_schema(schemas, required=schemas)
    mapping = map_ports(schema, wrapped="parameters")
    names = mapping.schema["properties"].keys()
    if mapping.wrapped is None and (names & _OWN_PORTS or len(names) + other_ports > MAX_PORTS):
        return _wrapped(schema)
    return mapping


def _wrapped(schema: dict[str, Any]) -> PortMapping:
    return PortMapping(
        closed_object_schema({"parameters": schema}, required=["parameters"]), "parameters"
    )


def _is_path(parameter: Parameter, properties: ToolProperties) -> bool:
    return (
        parameter.name == INPUT_FILE_PARAMETER
        and parameter.type == "string"
        and properties.file_input is not FileInput.NONE
    )
