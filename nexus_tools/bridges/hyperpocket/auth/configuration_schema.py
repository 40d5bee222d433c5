"""The JSON Schema of the configuration of auth providers, generated from the parser's rules."""

from nexus_tools.bridges.credentials import PROVIDER
from nexus_tools.bridges.hyperpocket.auth.configuration import ENDPOINTS, KINDS, NAME
from nexus_tools.sui.support.json_schema import Schema, items, records, text, whole_match

UNSTATED_RULES = {
    "endpoint": "An endpoint has a valid host and port. `http` is allowed only for a server on this"
    " machine.",
}
"""The rules for providers that the JSON Schema does not state. The bridge checks them."""

_KINDS = {
    "token": "A token that you stored. An expired token is not used.",
    "api_key": "An API key that you stored.",
    "device_flow": "An OAuth 2.0 token, for which users sign in on another device.",
}
_FIELDS = {
    "client_id": text("The client ID at the authorization server.", minLength=1),
    "client_secret": text("The client secret. Keep the file private.", minLength=1),
}


def providers_schema() -> Schema:
    """Return the schema of the table that `auth_providers` reads."""
    kind = {
        "oneOf": [{"const": name, "description": _KINDS[name]} for name in KINDS],
        "description": "The kind of credential.",
    }
    by_kind = [
        {
            "if": {"properties": {"kind": {"const": name}}, "required": ["kind"]},
            "then": records(*_fields(extra)),
        }
        for name, (_, extra) in KINDS.items()
    ]
    provider = {
        "type": "object",
        "properties": {"kind": kind},
        "required": ["kind"],
        "allOf": by_kind,
    }
    return {
        "type": "object",
        "propertyNames": {"pattern": whole_match(PROVIDER)},
        "additionalProperties": provider,
        "description": "The auth providers by name, such as `github`, or by name and handler.",
    }


def _fields(extra: tuple[str, ...]) -> tuple[dict[str, Schema], list[str]]:
    """Return the fields of a provider, and the names of the required fields."""
    variable = text(pattern=whole_match(NAME))
    endpoint = text(
        "The URL: `https`, or `http` on this machine.", pattern=r"^[Hh][Tt]{2}[Pp][Ss]?:"
    )
    known = {
        **_FIELDS,
        "token_endpoint": endpoint,
        "device_authorization_endpoint": endpoint,
        "scopes": _one_or_more(text(minLength=1), "The scopes to request."),
    }
    env = _one_or_more(variable, "The environment variables that tools read.")
    fields = {"kind": {}, "env": env, **{name: known[name] for name in extra}}
    return fields, [name for name in extra if name in ENDPOINTS]


def _one_or_more(schema: Schema, description: str) -> Schema:
    return {"anyOf": [schema, items(schema)], "description": description}
