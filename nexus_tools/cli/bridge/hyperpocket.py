"""The TOML file with Hyperpocket's credential providers and variables."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nexus_tools.errors import UsageError
from nexus_tools.settings.settings import Settings
from nexus_tools.sui.support.json_schema import SCHEMA_KEY
from nexus_tools.sui.support.text_file import read_text

if TYPE_CHECKING:
    from nexus_tools.bridges import CredentialStore

TABLES = ("providers", "variables", "credential-names")


@dataclass(frozen=True, slots=True)
class HyperpocketSettings:
    """The tables of the settings file.

    `providers` maps provider names to tables. The other fields map tool names to tables.
    """

    providers: Mapping[str, Any] = field(default_factory=dict, repr=False)
    variables: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)
    credential_names: Mapping[str, list[str]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path | None) -> "HyperpocketSettings":
        """Read the settings file. Without a path, return empty settings.

        Raises `hyperpocket_settings_invalid`.
        """
        if path is None:
            return cls()
        try:
            document = tomllib.loads(read_text(path))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise _invalid(path, str(error)) from error
        unknown = document.keys() - {SCHEMA_KEY, *TABLES}
        if unknown:
            raise _invalid(path, f"unknown table {min(unknown)!r}")
        if not isinstance(document.get(SCHEMA_KEY, ""), str):
            raise _invalid(path, f"{SCHEMA_KEY} is not a string")
        tables = [document.get(name, {}) for name in TABLES]
        if not all(isinstance(table, dict) for table in tables):
            raise _invalid(path, f"{', '.join(TABLES)} must be tables")
        providers, variables, names = tables
        for tool, values in variables.items():
            if not isinstance(values, dict) or not all(isinstance(v, str) for v in values.values()):
                raise _invalid(path, f"variables.{tool} is not a table of strings")
        for tool, values in names.items():
            if not isinstance(values, list) or not all(isinstance(v, str) for v in values):
                raise _invalid(path, f"credential-names.{tool} is not a list of strings")
        return cls(providers, variables, names)


def credential_store(settings: Settings) -> "CredentialStore":
    """Return the store of the operator's credentials in the data directory."""
    from nexus_tools.bridges import CredentialStore

    return CredentialStore(settings.data_directory / "credentials.json")


def _invalid(path: Path, problem: str) -> UsageError:
    return UsageError(
        "hyperpocket_settings_invalid",
        f"{path}: {problem}",
        hint="See docs/reference/bridges/hyperpocket.md for the format.",
    )
