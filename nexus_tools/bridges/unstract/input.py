"""What goes into a run: the ports of the tool, and what they become on its side.

`file`, `settings` and `metadata` are ports of their own; the document's `parameters` become ports
beside them.
"""

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nexus_tools.bridges.schemas.ports import PortMapping, map_ports
from nexus_tools.bridges.schemas.variants import described, object_of
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
    """A file by the name that it had at its source; the name is one component of a path."""

    name: str
    content: bytes

    @classmethod
    def parse(cls, port: Mapping[str, Any], restrictions: Restrictions) -> "InputFile":
        """Read the port `file`, which matches its schema.

        Raises `ValidationError` with code `input_invalid` for a name that leads elsewhere, for
        what is no base64, and for a file that the tool does not take.
        """
        name = port["name"]
        if name in (".", ".."):
            raise wrong_input("/file/name", "it is no name of a file")
        file = cls(name, _content(port))
        problem = restrictions.problem(name, len(file.content))
        if problem:
            raise wrong_input("/file", problem)
        return file


def file_schema(restrictions: Restrictions, description: str) -> dict[str, Any]:
    """The schema of the port `file`."""
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


def wrong_input(pointer: str, message: str) -> ValidationError:
    """The error of an input that matches the schema, and is wrong nevertheless."""
    return mismatch_error("input_invalid", "the input is wrong", [Mismatch(pointer, message)])


def _content(port: Mapping[str, Any]) -> bytes:
    if "text" in port:
        return str(port["text"]).encode()
    try:
        return base64.b64decode(port["content_base64"], validate=True)
    except (binascii.Error, ValueError) as error:
        raise wrong_input("/file/content_base64", "it is no base64") from error


def _described(restrictions: Restrictions, description: str) -> str:
    types = ", ".join(restrictions.types)
    parts = [
        description,
        f"Types: {types}." if types else "",
        f"At most {restrictions.max_bytes} bytes." if restrictions.max_bytes is not None else "",
    ]
    return " ".join(part for part in parts if part) or "The file that the tool works on."


# --- The whole input


MAX_SETTINGS_BYTES = 127 * 1024
"""Settings are one argument of a command line, of which Linux takes 128 KiB."""

INPUT_FILE_PARAMETER = "input_file"
"""The parameter of the protocol's own example, which is the path of the file of the run."""

_OWN_PORTS = frozenset({"file", "settings", "metadata"})
_ID = {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9_.:-]*$", "maxLength": 200}

_METADATA = object_of(
    {
        "workflow_id": _ID,
        "execution_id": _ID,
        "file_execution_id": _ID,
        "organization_id": _ID,
        "llm_profile_id": _ID,
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 100},
        "custom_data": {"type": "object"},
    }
) | {"description": "What the run is a part of; it is in the METADATA.json of the tool."}


@dataclass(frozen=True, slots=True)
class RunInput:
    """What one run works on; `settings` have their defaults."""

    file: InputFile | None
    settings: dict[str, Any]
    parameters: dict[str, Any]
    metadata: dict[str, Any]

    @property
    def settings_argument(self) -> str:
        """The settings as the tool's command line has them."""
        return json.dumps(self.settings, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class ToolInput:
    """The input of a tool: the schema of its ports, and how they are read."""

    schema: dict[str, Any]
    properties: ToolProperties
    settings: Settings
    parameters: PortMapping | None
    takes_path: bool

    @classmethod
    def of(cls, properties: ToolProperties, settings: Settings) -> "ToolInput":
        """The input of a tool with these properties and settings.

        Raises `ValidationError` with code `schema_invalid` if ports cannot be made of them.
        """
        given = [each for each in properties.parameters if not _is_path(each, properties)]
        parameters = _parameter_ports(given, len(_OWN_PORTS))
        ports = dict(_own_ports(properties, settings))
        required = [name for name in ports if _is_required(name, properties, settings)]
        if parameters is not None:
            ports |= parameters.schema["properties"]
            required += parameters.schema.get("required", [])
        schema = object_of(ports, required=required)
        takes_path = len(given) < len(properties.parameters)
        return cls(schema, properties, settings, parameters, takes_path)

    def read(self, ports: Mapping[str, Any]) -> RunInput:
        """What a run works on, from ports that match the schema.

        Raises `ValidationError` with code `input_invalid` for a file that the tool does not take
        and for settings that are too large.
        """
        given = {name: value for name, value in ports.items() if name not in _OWN_PORTS}
        file = ports.get("file")
        run = RunInput(
            file=None if file is None else InputFile.parse(file, self.properties.restrictions),
            settings=self.settings.filled(ports.get("settings", {})),
            parameters={} if self.parameters is None else self.parameters.to_arguments(given),
            metadata=dict(ports.get("metadata", {})),
        )
        size = len(run.settings_argument)
        if size > MAX_SETTINGS_BYTES:
            message = f"settings have {size} bytes, {MAX_SETTINGS_BYTES} are allowed"
            raise wrong_input("/settings", message)
        return run


def _own_ports(properties: ToolProperties, settings: Settings) -> dict[str, Any]:
    ports: dict[str, Any] = {}
    if properties.file_input is not FileInput.NONE:
        description = described(properties.input_description)
        ports["file"] = file_schema(properties.restrictions, description)
    moved = relocated(
        SchemaDocument.parse(settings.schema), lambda pointer: f"/properties/settings{pointer}"
    )
    return ports | {"settings": moved, "metadata": _METADATA}


def _is_required(port: str, properties: ToolProperties, settings: Settings) -> bool:
    if port == "file":
        return properties.file_input is FileInput.REQUIRED
    return port == "settings" and settings.are_required


def _parameter_ports(parameters: list[Parameter], taken: int) -> PortMapping | None:
    """Ports for the parameters; in the one port `parameters` where they cannot stand alone."""
    if not parameters:
        return None
    schemas = {
        each.name: {"type": each.type, "description": described(each.description)}
        for each in parameters
    }
    schema = object_of(schemas, required=schemas)
    mapping = map_ports(schema, wrapped="parameters")
    names = mapping.schema["properties"].keys()
    if mapping.wrapped is None and (names & _OWN_PORTS or len(names) + taken > MAX_PORTS):
        return _wrapped(schema)
    return mapping


def _wrapped(schema: dict[str, Any]) -> PortMapping:
    return PortMapping(object_of({"parameters": schema}, required=["parameters"]), "parameters")


def _is_path(parameter: Parameter, properties: ToolProperties) -> bool:
    return (
        parameter.name == INPUT_FILE_PARAMETER
        and parameter.type == "string"
        and properties.file_input is not FileInput.NONE
    )
