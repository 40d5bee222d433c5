"""The ports of a tool: its arguments as they are, or wrapped with a profile and a thread."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nexus_tools.bridges.credentials import DEFAULT
from nexus_tools.bridges.schemas.json_schema_upgrade import as_2020_12
from nexus_tools.bridges.schemas.ports import PortMapping, map_ports
from nexus_tools.bridges.schemas.variants import error_ports, object_of, output_schema
from nexus_tools.tool import SchemaDocument, relocated

_NO_ARGUMENTS = object_of({})
_SESSION = {"type": "string", "minLength": 1, "maxLength": 256, "default": DEFAULT}
_RESULT = {"description": "What the tool gave: its JSON value, or what it printed as a text."}
_DEFINITIONS = ("$defs", "definitions")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call as the document has it: the arguments, and on whose behalf."""

    body: dict[str, Any]
    profile: str = DEFAULT
    thread_id: str = DEFAULT


@dataclass(frozen=True, slots=True)
class Interface:
    """The input schema of a tool, and what a call becomes."""

    schema: dict[str, Any]
    mapping: PortMapping | None

    @classmethod
    def of(cls, schema: Mapping[str, Any] | None, *, profile: bool) -> "Interface":
        """The interface for a tool's `argument_json_schema`; None means no arguments.

        With `profile`, the arguments are the port `body`, beside `profile` and `thread_id`.
        Raises `ValidationError` with code `schema_invalid`.
        """
        own = as_2020_12(_NO_ARGUMENTS if schema is None else schema)
        mapping = map_ports(own)
        return cls(_wrapped(own), None) if profile else cls(mapping.schema, mapping)

    def call(self, ports: Mapping[str, Any]) -> ToolCall:
        """The call that an input is, which the schema has accepted."""
        if self.mapping is not None:
            return ToolCall(self.mapping.to_arguments(ports))
        session = (ports.get(name, DEFAULT) for name in ("profile", "thread_id"))
        return ToolCall(dict(ports["body"]), *session)


def output_of(*, needs_auth: bool) -> dict[str, Any]:
    """The output schema; `auth_required` is a variant of tools that need authentication."""
    variants = {
        "ok": object_of({"result": _RESULT}, required=["result"]),
        "err": error_ports(),
    }
    if needs_auth:
        variants["auth_required"] = _auth_required()
    return output_schema(variants)


def _auth_required() -> dict[str, Any]:
    text = {"type": "string"}
    texts = {"type": "array", "items": text}
    described = {
        "provider": text | {"description": "Whose credentials the tool needs."},
        "handler": text | {"description": "The way of authentication that it asks for."},
        "scopes": texts | {"description": "What the credentials have to allow."},
        "env": texts | {"description": "The variables in which it looks for them."},
        "url": text | {"description": "Where a person can sign in."},
        "user_code": text | {"description": "The code to enter there."},
        "reason": text | {"description": "What is missing, in one sentence."},
    }
    return object_of(described, required=["provider", "env", "reason"])


def _wrapped(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a body, a profile and a thread; definitions stay at the top."""
    roots = tuple(f"/{keyword}/" for keyword in _DEFINITIONS)

    def place(pointer: str) -> str:
        return pointer if pointer.startswith(roots) else f"/properties/body{pointer}"

    moved = relocated(SchemaDocument.parse(schema), place)
    definitions = {key: moved.pop(key) for key in _DEFINITIONS if key in moved}
    ports = {
        "body": moved | {"type": "object"},
        "thread_id": _SESSION | {"description": "The thread in which the tool is called."},
        "profile": _SESSION | {"description": "On whose behalf the tool is called."},
    }
    return object_of(ports, required=["body"]) | definitions
