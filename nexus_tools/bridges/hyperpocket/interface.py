"""The ports of a tool: its arguments, unchanged or wrapped with a profile and a thread."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nexus_tools.bridges.credentials import DEFAULT_LABEL
from nexus_tools.bridges.schemas.json_schema_upgrade import upgrade_schema
from nexus_tools.bridges.schemas.ports import PortMapping, map_ports
from nexus_tools.bridges.schemas.variants import closed_object_schema, error_schema, output_schema
from nexus_tools.tool import SchemaDocument, relocated

_NO_ARGUMENTS = closed_object_schema({})
_SESSION = {"type": "string", "minLength": 1, "maxLength": 256, "default": DEFAULT_LABEL}
_RESULT = {"description": "The result of the tool: a JSON value, or its output as a string."}
_DEFINITIONS = ("$defs", "definitions")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool: the arguments, the profile, and the thread."""

    body: dict[str, Any]
    profile: str = DEFAULT_LABEL
    thread_id: str = DEFAULT_LABEL


@dataclass(frozen=True, slots=True)
class Interface:
    """The input schema of a tool, and the conversion of its input to a call."""

    schema: dict[str, Any]
    mapping: PortMapping | None

    @classmethod
    def of(cls, schema: Mapping[str, Any] | None, *, profile: bool) -> "Interface":
        """Return the interface for an `argument_json_schema`, which is None without arguments.

        With `profile`, the arguments are in the port `body`, beside `profile` and `thread_id`.

        Raises:
            ValidationError: with code `schema_invalid`.
        """
        upgraded_schema = upgrade_schema(_NO_ARGUMENTS if schema is None else schema)
        mapping = map_ports(upgraded_schema)
        return cls(_wrapped(upgraded_schema), None) if profile else cls(mapping.schema, mapping)

    def call(self, ports: Mapping[str, Any]) -> ToolCall:
        """Return the call for an input that the schema accepts."""
        if self.mapping is not None:
            return ToolCall(self.mapping.to_arguments(ports))
        session = (ports.get(name, DEFAULT_LABEL) for name in ("profile", "thread_id"))
        return ToolCall(dict(ports["body"]), *session)


def output_of(*, needs_auth: bool) -> dict[str, Any]:
    """Return the output schema. With `needs_auth`, the schema has the variant `auth_required`."""
    variants = {
        "ok": closed_object_schema({"result": _RESULT}, required=["result"]),
        "err": error_schema(),
    }
    if needs_auth:
        variants["auth_required"] = _auth_required()
    return output_schema(variants)


def _auth_required() -> dict[str, Any]:
    text = {"type": "string"}
    texts = {"type": "array", "items": text}
    properties = {
        "provider": text | {"description": "The provider of the credentials that the tool needs."},
        "handler": text | {"description": "The authentication handler that the tool requests."},
        "scopes": texts | {"description": "The scopes that the credentials must have."},
        "env": texts
        | {"description": "The environment variables from which the tool reads the credentials."},
        "url": text | {"description": "The URL at which a user can sign in."},
        "user_code": text | {"description": "The code to enter at the URL."},
        "reason": text
        | {"description": "The reason why credentials are missing, in one sentence."},
    }
    return closed_object_schema(properties, required=["provider", "env", "reason"])


def _wrapped(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of body, profile, and thread. Definitions stay at the root."""
    roots = tuple(f"/{keyword}/" for keyword in _DEFINITIONS)

    def place(pointer: str) -> str:
        return pointer if pointer.startswith(roots) else f"/properties/body{pointer}"

    body = relocated(SchemaDocument.parse(schema), place)
    definitions = {key: body.pop(key) for key in _DEFINITIONS if key in body}
    ports = {
        "body": body | {"type": "object"},
        "thread_id": _SESSION | {"description": "The thread in which the tool is called."},
        "profile": _SESSION | {"description": "The profile for which the tool is called."},
    }
    return closed_object_schema(ports, required=["body"]) | definitions
