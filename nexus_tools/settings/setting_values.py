"""The values of a user's settings, converted to their types."""

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from nexus_tools.errors import UsageError
from nexus_tools.sui.support.units import parse_gas_price, parse_timeout

if TYPE_CHECKING:
    from nexus_tools.sui.types.address import Address

DEFAULT_TIMEOUT = "10s"
"""The default timeout of interactive commands. Other programs may use longer timeouts."""


class SettingValues:
    """The settings by key. `values` come from the file, and `overrides` from the environment."""

    values: dict[str, str]
    overrides: dict[str, str]
    data_directory: Path

    def get(self, key: str) -> str | None:
        """Return a setting from the environment, else from the file, or None."""
        return self.overrides.get(key, self.values.get(key))

    @property
    def network(self) -> str:
        """The name of the selected network."""
        return self.get("network") or "localnet"

    @property
    def wallet(self) -> str | None:
        """The alias or address of the key that signs, or None for the keystore's active key."""
        return self.get("wallet")

    @property
    def keystore(self) -> Path:
        """The path of the keystore file."""
        return Path(self.get("keystore") or self.data_directory / "sui.keystore").expanduser()

    @property
    def timeout_s(self) -> float:
        """The time limit in seconds for a response of a node or a faucet.

        Raises the errors of `parse_timeout`.
        """
        return parse_timeout(self.get("timeout") or DEFAULT_TIMEOUT) / 1000

    @property
    def max_gas_price_mist(self) -> int | None:
        """The highest gas price that a node may report, or None. Raises `gas_price_invalid`."""
        return parse_gas_price(self.get("max_gas_price"))

    @property
    def leaders(self) -> "tuple[Address, ...]":
        """The IDs of the leaders that invocations name, on any network.

        Raises `address_invalid`.
        """
        return self._addresses("leaders")

    @property
    def trusted_requesters(self) -> "tuple[Address, ...]":
        """The accounts whose invocations count like the user's own when a search orders tools.

        Raises `address_invalid`.
        """
        return self._addresses("trusted_requesters")

    @property
    def index_urls(self) -> tuple[str, ...]:
        """The URLs of remote indices. Raises `index_url_invalid`."""
        texts = [text.strip() for text in (self.get("index_url") or "").split(",")]
        return tuple(parse_index_url(text) for text in texts if text)

    @property
    def intent_model(self) -> str | None:
        """The model for the search by intent: `wordllama`, a folder, or None for no such search."""
        model = self.get("intent_model")
        return model and str(Path(model).expanduser())

    def _addresses(self, key: str) -> "tuple[Address, ...]":
        """Return the addresses of a setting. Raises `address_invalid`."""
        from nexus_tools.sui.types.address import Address  # noqa: PLC0415 - only for these settings

        texts = [text.strip() for text in (self.get(key) or "").split(",")]
        return tuple(Address.parse_whole(text) for text in texts if text)


def parse_index_url(text: str) -> str:
    """Return the URL of a remote index. Raises `index_url_invalid`."""
    try:
        parts = urlsplit(text)
        is_valid = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # an invalid address or port
        is_valid = False
    if not is_valid or "?" in text or "#" in text:
        raise UsageError(
            "index_url_invalid",
            f"{text[:80]!r} is not the URL of an index",
            hint="Pass the URL of `nexus-tools index serve`, such as https://index.example.com.",
        )
    return text.rstrip("/")
