"""The file `config.toml`: settings and tables, which several commands may change at once.

A command reads the file when it starts and may wait for a person or a network before it writes. So
it writes only what it changed itself, and keeps what others have changed since.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nexus_tools.errors import UsageError
from nexus_tools.sui.support.private_file import locked, write_private
from nexus_tools.sui.support.suggestions import suggestion
from nexus_tools.sui.support.text_file import read_text

KEYS = {
    "network": "the network that commands work on",
    "wallet": "alias or address of the key that signs",
    "keystore": "file with the keys, as the Sui client writes it; its name ends in .keystore",
    "timeout": "how long a node or a faucet may take to respond: 10s",
    "max_gas_price": "the highest gas price that is accepted from a node, in MIST: 10000",
    "leaders": "ids of the leaders that your invocations name, with commas between",
}
TABLES = ("networks", "deployments", "upgrade_locks")


def read_document(path: Path) -> dict[str, Any]:
    """Return the settings of a file and all tables, empty for a missing file.

    Raises `config_invalid`.
    """
    import tomllib  # noqa: PLC0415 - not for who has no such file

    try:
        document = tomllib.loads(read_text(path))
    except FileNotFoundError:
        document = {}
    except (OSError, ValueError) as error:
        raise _invalid(path, str(error)) from None
    tables = {table: document.pop(table, {}) for table in TABLES}
    for value in tables.values():
        if not isinstance(value, dict) or not all(isinstance(v, dict) for v in value.values()):
            raise _invalid(path, f"{', '.join(TABLES)} are tables of tables")
    for key, value in document.items():
        if key not in KEYS or not isinstance(value, str):
            likely = suggestion(key, KEYS.keys() - {key})
            raise _invalid(path, f"{key} = {value!r} is no setting", likely)
    return document | tables


def change_document(path: Path, was: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """Change in the file what differs between two documents; return what the file has then.

    It is written atomically, for its owner alone. Raises `config_invalid`.
    """
    import tomli_w  # noqa: PLC0415 - when it is used

    with locked(path):
        there = read_document(path)
        tables = {
            table: _changed(there[table], was.get(table, {}), now.get(table, {}))
            for table in TABLES
        }
        values = _changed(there, was, now)
        document = {key: values[key] for key in KEYS if key in values} | tables
        write_private(path, tomli_w.dumps(document))
    return document


def _changed(
    there: Mapping[str, Any], was: Mapping[str, Any], now: Mapping[str, Any]
) -> dict[str, Any]:
    """Return `there` with the difference between `was` and `now`."""
    removed = was.keys() - now.keys()
    new = {key: value for key, value in now.items() if key not in was or was[key] != value}
    return {key: value for key, value in there.items() if key not in removed} | new


def _invalid(path: Path, reason: str, hint: str = "") -> UsageError:
    hint = hint or "correct or delete the file"
    return UsageError("config_invalid", f"{path}: {reason}", hint=hint)
