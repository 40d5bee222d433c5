"""The networks and keys of the Sui CLI, whose files this module reads but never writes.

`client.yaml` contains the networks as `envs`, and the path of the keystore. The keystore and its
alias file have the same format as the files of `Wallet`. A full node serves gRPC at the same URL as
JSON-RPC. Source: `sui-sdk/src/sui_client_config.rs`.
"""

from functools import cached_property
from pathlib import Path

import msgspec
from msgspec import Struct

from nexus_tools.sui.errors import ValidationError
from nexus_tools.sui.keystore.keys import KeyPair
from nexus_tools.sui.keystore.wallet import Account, Wallet
from nexus_tools.sui.network import NETWORKS, Network
from nexus_tools.sui.support.text_file import read_text
from nexus_tools.sui.types.address import Address

# The URLs of a network that `sui start` runs. The faucet of this network has another port. The
# command `sui client faucet` makes the same assumption.
_LOCAL_URLS = ("http://127.0.0.1:9000", "http://localhost:9000", "http://0.0.0.0:9000")
_LOCAL_FAUCET_URL = "http://127.0.0.1:9123"


class _Env(Struct, frozen=True):
    alias: str
    rpc: str


class _Keystore(Struct, frozen=True):
    """The path of the keystore. The other kind of keystore, `InMem`, is not stored in a file."""

    File: str | None = None


class _ClientYaml(Struct, frozen=True):
    envs: list[_Env] = []
    keystore: _Keystore = _Keystore()


class SuiCliConfig:
    """The contents of the Sui CLI's folder, `~/.sui/sui_config`.

    If the folder is missing, it counts as an empty folder.
    """

    def __init__(self, folder: Path) -> None:
        self.file = folder / "client.yaml"

    @property
    def networks(self) -> tuple[Network, ...]:
        """The environments of the CLI. Raises `sui_config_invalid`."""
        return tuple(_network(env) for env in self._client_yaml.envs)

    @property
    def accounts(self) -> tuple[Account, ...]:
        """The accounts of the CLI. Raises `sui_config_invalid` and the errors of `Wallet`."""
        return self._wallet.accounts()

    @property
    def unreadable(self) -> tuple[ValidationError, ...]:
        """The errors of the unreadable keys, one per key. Raises the errors of `accounts`."""
        return self._wallet.unreadable

    def key(self, address: Address) -> KeyPair:
        """Return the key of the account with this address."""
        return self._wallet.signer(address)

    @cached_property
    def _wallet(self) -> Wallet:
        keystore_file = self._client_yaml.keystore.File
        path = Path(keystore_file) if keystore_file else self.file.with_name("sui.keystore")
        return Wallet(path, foreign=True)

    @cached_property
    def _client_yaml(self) -> _ClientYaml:
        if not self.file.exists():
            return _ClientYaml()
        import yaml  # noqa: PLC0415 - only needed if the file exists

        try:
            document = yaml.safe_load(read_text(self.file))
            return msgspec.convert(document, _ClientYaml)
        except (OSError, ValueError, yaml.YAMLError) as error:
            raise ValidationError(
                "sui_config_invalid",
                f"{self.file}: {error}",
                hint="Run `sui client envs` to check whether the Sui CLI can read the file.",
            ) from None


def _network(env: _Env) -> Network:
    url = env.rpc.rstrip("/")
    if url in _LOCAL_URLS:
        return Network(env.alias, url, _LOCAL_FAUCET_URL, has_profile=True)
    faucets = {network.url: network.faucet_url for network in NETWORKS.values()}
    return Network(env.alias, url, faucets.get(url), has_profile=True)
