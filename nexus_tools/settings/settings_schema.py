"""The JSON Schema of the configuration file, generated from the settings and their parsers."""

from nexus_tools.settings.setting_values import DEFAULT_TIMEOUT
from nexus_tools.settings.settings_file import KEYS, NETWORK_FIELDS
from nexus_tools.sui.support import units
from nexus_tools.sui.support.json_schema import (
    SCHEMA_KEY,
    Schema,
    records,
    schema_key,
    text,
    whole_match,
)

_ADDRESS = r"0[xX][0-9a-fA-F]{64}"
_URL = r"[Hh][Tt][Tt][Pp][Ss]?://[^,?#]+"
_TYPES = {str: "string", int: "integer"}

UNSTATED_RULES = {
    "names": "A network, a key, a signer and a model must exist on this machine.",
    "keystore": "The name of a keystore, after links are resolved, ends with `.keystore`.",
    "amounts": "A timeout is at least 1 ms. A timeout and a gas price fit into 64 bits.",
    "url": "A URL of an index has a host, and a valid port if it has a port.",
}
"""The rules for settings that the JSON Schema does not state. Commands check them at first use."""


def settings_schema() -> Schema:
    """Return the schema of `config.toml`.

    The schema accepts every file whose settings can be used. `UNSTATED_RULES` lists the rules that
    the schema does not state.
    """
    from nexus_tools.contracts import Deployment, LockDeployment  # noqa: PLC0415 - slow to import

    rules = _rules()
    settings = {
        key: text(_sentence(meaning), **rules.get(key, {})) for key, meaning in KEYS.items()
    }
    tables = {
        "networks": _table("Your own networks by name.", _network()),
        "deployments": _table("The packages of each network, by name.", _ids(Deployment)),
        "upgrade_locks": _table(
            "The `upgrade_lock` package of each network.", _ids(LockDeployment)
        ),
    }
    described = {"description": "The settings of nexus-tools on this machine."}
    return described | records({SCHEMA_KEY: schema_key(), **settings, **tables})


def _rules() -> dict[str, Schema]:
    """Return the keywords for settings whose values have a format."""
    addresses = {"pattern": _listed(_ADDRESS)}
    return {
        "network": {"default": "localnet"},
        "timeout": {
            "pattern": whole_match(f"(?:{units.DURATION.pattern})?"),
            "default": DEFAULT_TIMEOUT,
        },
        "max_gas_price": {"pattern": "^0*[1-9][0-9]*$"},
        "leaders": addresses,
        "trusted_requesters": addresses,
        "index_url": {"pattern": _listed(_URL)},
    }


def _listed(pattern: str) -> str:
    """Return a pattern for values separated by commas, which may be missing."""
    one = rf"\s*(?:{pattern}\s*)?"
    return whole_match(f"{one}(?:,{one})*")


def _sentence(meaning: str) -> str:
    return f"{meaning[0].upper()}{meaning[1:]}."


def _table(description: str, entry: Schema) -> Schema:
    return {"type": "object", "additionalProperties": entry, "description": description}


def _network() -> Schema:
    meanings = {
        "url": "The URL of a node's gRPC API: http://host:port or https://host:port.",
        "faucet_url": "The URL of the network's faucet.",
        "chain_id": "The ID of the chain. Clients reject a node of another chain.",
        "max_gas_price_mist": "The maximum gas price that is accepted from a node, in MIST.",
    }
    fields = {
        name: {"type": _TYPES[kind], "description": meanings[name]}
        for name, kind in NETWORK_FIELDS.items()
    }
    return records(fields, ["url"])


def _ids(deployment: type) -> Schema:
    """Return the schema of a deployment, whose fields are IDs. Unknown fields are ignored."""
    from msgspec.structs import fields  # noqa: PLC0415 - slow to import

    from nexus_tools.sui.types.address import Address  # noqa: PLC0415

    address = text(pattern=r"^0[xX][0-9a-fA-F]{1,64}$")
    known = fields(deployment)
    is_address = {
        field.name: Address in (field.type, *getattr(field.type, "__args__", ())) for field in known
    }
    properties = {name: address if is_address[name] else text() for name in is_address}
    required = [field.name for field in known if field.required]
    return records(properties, required, is_closed=False)
