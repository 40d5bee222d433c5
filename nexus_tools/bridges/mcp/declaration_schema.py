"""The JSON Schema of `mcp.json`, generated from the rules of the parser."""

from nexus_tools.bridges.mcp.declaration import HEADER_NAME, HEADER_VALUE, TRANSPORTS
from nexus_tools.sui.support.json_schema import (
    SCHEMA_KEY,
    Schema,
    items,
    records,
    reference,
    text,
    whole_match,
)

UNSTATED_RULES = {
    "placeholder": "The rules apply after placeholders such as `${TOKEN}` are replaced. A variable"
    " without a default must be set and shared.",
    "folder": "`cwd` is an existing folder.",
    "url": "A URL has a valid host and port, and no user name or password. `http` is allowed only"
    " for a server on this machine.",
}
"""The rules for `mcp.json` that the JSON Schema does not state. The bridge checks them."""

# A placeholder `${NAME}` is replaced before the parser checks a value.
_FILLED = r"[\s\S]*\$\{[\s\S]*"
_NOT_EMPTY = r"^[^\u0000]+$"


def mcp_schema() -> Schema:
    """Return the schema of `mcp.json`.

    The format belongs to MCP clients, so unknown fields are allowed. A disabled server is not
    checked. `UNSTATED_RULES` lists the rules that the schema does not state.
    """
    servers = {
        "type": "object",
        "additionalProperties": reference("server"),
        "description": "The MCP servers by name.",
    }
    disabled = {"properties": {"disabled": {"const": True}}, "required": ["disabled"]}
    return {
        "description": "The MCP servers whose tools are bridged.",
        **records({SCHEMA_KEY: True, "mcpServers": servers}, ["mcpServers"], is_closed=False),
        "$defs": {
            "server": {
                "if": {"type": "object", **disabled},
                "else": {
                    "type": "object",
                    "properties": {
                        "disabled": {"description": "If true, skip the server."},
                        "env": _texts(),
                        "headers": _texts(),
                    },
                    "if": {"required": ["command"]},
                    "then": reference("program"),
                    "else": reference("remote"),
                },
            },
            "program": _program(),
            "remote": _remote(),
        },
    }


def _program() -> Schema:
    variables = {
        "description": "Environment variables of the server.",
        "propertyNames": {"pattern": r"^[^=\u0000]+$"},
        "additionalProperties": {"pattern": r"^[^\u0000]*$"},
    }
    properties = {
        "type": {"anyOf": [{"const": "stdio"}, _filled()], "default": "stdio"},
        "command": text(
            "The program. A name with a slash is relative to the file.", pattern=_NOT_EMPTY
        ),
        "args": items(text(pattern=r"^[^\u0000]*$"), "The arguments of the program.", default=[]),
        "env": variables,
        "cwd": text("The working directory, relative to the file.", pattern=_NOT_EMPTY),
        "url": False,
    }
    return {
        "description": "A server that is a program on this machine.",
        **records(properties, ["command"], is_closed=False),
    }


def _remote() -> Schema:
    headers = {
        "description": "The headers of every request.",
        "propertyNames": {"pattern": whole_match(HEADER_NAME)},
        "additionalProperties": {"pattern": whole_match(HEADER_VALUE, _FILLED)},
    }
    properties = {
        "type": {"anyOf": [{"enum": [*TRANSPORTS]}, _filled()], "default": "http"},
        "url": text(
            "The URL: `https`, or `http` on this machine.",
            pattern=whole_match(r"[Hh][Tt][Tt][Pp][Ss]?://[^@/?#]+(?:[/?#][\s\S]*)?", _FILLED),
        ),
        "headers": headers,
    }
    return {
        "description": "A server that is reached over HTTP.",
        **records(properties, ["url"], is_closed=False),
    }


def _texts() -> Schema:
    return {"type": "object", "additionalProperties": text()}


def _filled() -> Schema:
    return text("A placeholder.", pattern=r"\$\{")
