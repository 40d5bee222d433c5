"""What commands assume: a file, overruled by the environment, overruled by options.

The file is `$XDG_CONFIG_HOME/nexus-tools/config.toml`; keys, caches and the pid of a detached
localnet have their own places (`directories.py`).
"""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nexus_tools.directories import cache_directory, config_directory, data_directory
from nexus_tools.errors import UsageError

KEYS = {
    "network": "the network that commands work on",
    "wallet": "alias or address of the key that signs",
    "keystore": "file with the keys, as the Sui client writes it",
}


@dataclass(slots=True)
class Settings:
    """Where things are, and what the file and the environment say.

    `values` are the file's, `overrides` the environment's; `networks` are a user's own profiles
    by name, `deployments` the published packages by network.
    """

    config_file: Path
    data_directory: Path
    cache_directory: Path
    values: dict[str, str] = field(default_factory=dict)
    overrides: dict[str, str] = field(default_factory=dict)
    networks: dict[str, dict[str, Any]] = field(default_factory=dict)
    deployments: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def load(cls) -> "Settings":
        """Read file and environment. Raises `config_invalid`."""
        config = config_directory()
        settings = cls(
            config_file=Path(os.environ.get("NEXUS_TOOLS_CONFIG", config / "config.toml")),
            data_directory=data_directory(),
            cache_directory=cache_directory(),
        )
        settings._read_file()
        for key in KEYS:
            value = os.environ.get(f"NEXUS_TOOLS_{key.upper()}")
            if value:
                settings.overrides[key] = value
        return settings

    def get(self, key: str) -> str | None:
        """A setting: the environment's, else the file's."""
        return self.overrides.get(key, self.values.get(key))

    @property
    def network(self) -> str:
        """The name of the network."""
        return self.get("network") or "localnet"

    @property
    def wallet(self) -> str | None:
        """Alias or address of the key that signs; None: the active one of the keystore."""
        return self.get("wallet")

    @property
    def keystore(self) -> Path:
        """The file with the keys."""
        return Path(self.get("keystore") or self.data_directory / "sui.keystore").expanduser()

    def save(self) -> None:
        """Write the file anew, atomically."""
        import tomli_w  # noqa: PLC0415 - only needed to write

        document: dict[str, Any] = {key: self.values[key] for key in KEYS if key in self.values}
        document |= {"networks": self.networks, "deployments": self.deployments}
        self.config_file.parent.mkdir(parents=True, exist_ok=True)
        new = self.config_file.with_suffix(f".{os.getpid()}.tmp")
        new.write_text(tomli_w.dumps(document), encoding="utf-8")
        new.replace(self.config_file)

    def _read_file(self) -> None:
        try:
            document = _parse(self.config_file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return
        except (OSError, ValueError) as error:
            raise self._invalid(str(error)) from None
        self.networks = self._tables(document.pop("networks", {}))
        self.deployments = self._tables(document.pop("deployments", {}))
        for key, value in document.items():
            if key not in KEYS or not isinstance(value, str):
                raise self._invalid(f"{key} = {value!r} is no setting")
            self.values[key] = value

    def _tables(self, value: Any) -> dict[str, dict[str, Any]]:
        if not isinstance(value, dict) or not all(isinstance(v, dict) for v in value.values()):
            raise self._invalid("networks and deployments are tables of tables")
        return value

    def _invalid(self, reason: str) -> UsageError:
        return UsageError(
            "config_invalid", f"{self.config_file}: {reason}", hint="correct or delete the file"
        )


def _parse(text: str) -> dict[str, Any]:
    """Read TOML. Raises `ValueError`."""
    import tomllib  # noqa: PLC0415 - not without a file

    return tomllib.loads(text)
