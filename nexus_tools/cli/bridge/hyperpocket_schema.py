"""The JSON Schema of the TOML file with Hyperpocket's providers and variables."""

from nexus_tools.bridges import providers_schema
from nexus_tools.cli.bridge.hyperpocket import TABLES
from nexus_tools.sui.support.json_schema import (
    SCHEMA_KEY,
    Schema,
    items,
    records,
    schema_key,
    text,
)


def hyperpocket_schema() -> Schema:
    """Return the schema of the file that `HyperpocketSettings` reads."""
    variables = {"type": "object", "additionalProperties": text()}
    tables = {
        "providers": providers_schema(),
        "variables": {
            "type": "object",
            "additionalProperties": variables,
            "description": "The values of variables, by the name of the tool.",
        },
        "credential-names": {
            "type": "object",
            "additionalProperties": items(text()),
            "description": "The variables in which a tool reads its credentials, by its name.",
        },
    }
    assert tables.keys() == set(TABLES)
    described = {"description": "Credential providers and variables of Hyperpocket's tools."}
    return described | records({SCHEMA_KEY: schema_key(), **tables})
