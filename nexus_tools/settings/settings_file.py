"""The file `config.toml`: settings and tables that several commands may change at the same time.

A command reads the file when it starts, and may wait for a user or a network before it writes the
file. Other processes may change the file in the meantime. Therefore, a command writes only its own
changes.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nexus_tools.errors import UsageError
from nexus_tools.sui.support.json_schema import SCHEMA_KEY
from nexus_tools.sui.support.private_file import locked, write_private
from nexus_tools.sui.support.suggestions import suggestion
from nexus_tools.sui.support.text_file import read_text

KEYS = {
    "network": "the network that commands use",
    "wallet": "the alias or address of the key that signs",
    "signer": "the URL of the signer that signs instead of the wallet's key",
    "keystore": "the key file in the format of the Sui CLI. Its name must end with .keystore",
    "timeout": "the timeout for a response of a node or a faucet, for example 10s",
    "max_gas_price": "the maximum gas price accepted from a node in MIST, for example 10000",
    "leaders": "the IDs of the leaders that your invocations name, separated by commas",
    "trusted_requesters": "the addresses whose experience with tools counts like yours in a search,"
    " separated by commas",
    "index_url": "the URLs of remote indices that list and search tools, separated by commas",
    "intent_model": "the model for the search by intent: wordllama, or a folder. Default: none",
}
TABLES = ("networks", "deployments", "upgrade_locks")
NETWORK_FIELDS: Mapping[str, type[str] | type[int]] = {
    "url": str,
    "faucet_url": str,
    "chain_id": str,
    "max_gas_price_mist": int,
}
"""The fields of a network in the table `networks`. `url` is required."""

_DIRECTIVE = "#:schema "
"""The start of a comment in the first line, from which editors read the schema of the file."""


def read_document(path: Path) -> dict[str, Any]:
    """Return the settings and all tables of a file. If the file is missing, all tables are empty.

    Raises `config_invalid`.
    """
    import tomllib  # noqa: PLC0415 - only needed to read the file

    try:
        document = tomllib.loads(read_text(path))
    except FileNotFoundError:
        document = {}
    except (OSError, ValueError) as error:
        raise _invalid(path, str(error)) from None
    tables = {table: document.pop(table, {}) for table in TABLES}
    for value in tables.values():
        if not isinstance(value, dict) or not all(isinstance(v, dict) for v in value.values()):
            raise _invalid(path, f"{', '.join(TABLES)} must be tables that contain only tables")
    for name, network in tables["networks"].items():
        _check_network(path, name, network)
    for key, value in document.items():
        if key not in (SCHEMA_KEY, *KEYS) or not isinstance(value, str):
            likely = suggestion(key, KEYS.keys() - {key})
            raise _invalid(path, f"{key} = {value!r} is not a valid setting", likely)
    return document | tables


def merge_document(path: Path, was: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """Apply the difference between `was` and `now` to the file, and return its new content.

    The file is written atomically, and only its owner can read it. Raises `config_invalid`.
    """
    import tomli_w  # noqa: PLC0415 - only needed to write the file

    with locked(path):
        there = read_document(path)
        tables = {
            table: _changed(there[table], was.get(table, {}), now.get(table, {}))
            for table in TABLES
        }
        values = _changed(there, was, now)
        document = {key: values[key] for key in KEYS if key in values} | tables
        schema = {key: there[key] for key in (SCHEMA_KEY,) if key in there}
        write_private(path, _directive(path) + tomli_w.dumps(schema | document))
    return document


def _directive(path: Path) -> str:
    """Return the line that names the schema for editors, or "". Other comments are not kept."""
    try:
        first, _, _ = read_text(path).partition("\n")
    except FileNotFoundError:
        return ""
    return f"{first}\n" if first.startswith(_DIRECTIVE) else ""


def _check_network(path: Path, name: str, network: Mapping[str, Any]) -> None:
    """Raise `config_invalid` if a network has no URL, an unknown field, or an invalid value."""
    if "url" not in network:
        raise _invalid(path, f"networks.{name} has no url")
    for key, value in network.items():
        if type(value) is not NETWORK_FIELDS.get(key):
            likely = suggestion(key, NETWORK_FIELDS.keys() - {key})
            problem = f"{key} = {value!r} is not a valid field of networks.{name}"
            raise _invalid(path, problem, likely)


def _changed(
    there: Mapping[str, Any], was: Mapping[str, Any], now: Mapping[str, Any]
) -> dict[str, Any]:
    """Apply the difference between `was` and `now` to a copy of `there`, and return the copy."""
    removed = was.keys() - now.keys()
    new = {key: value for key, value in now.items() if key not in was or was[key] != value}
    return {key: value for key, value in there.items() if key not in removed} | new


def _invalid(path: Path, reason: str, hint: str = "") -> UsageError:
    hint = hint or "Correct or delete the file."
    return UsageError("config_invalid", f"{path}: {reason}", hint=hint)
