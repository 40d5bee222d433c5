"""Networks and keys of the Sui CLI, for who has them there already. They are read, never written.

`client.yaml` has the networks as `envs`, and says where the keystore is; that and the aliases
beside it are of the form that our wallets have, too (`sui-sdk/src/sui_client_config.rs`). A full
node speaks gRPC where it speaks JSON-RPC.
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

# `sui start` answers there, and its faucet at another port: as `sui client faucet` finds it.
_LOCAL_URLS = ("http://127.0.0.1:9000", "http://localhost:9000", "http://0.0.0.0:9000")
_LOCAL_FAUCET_URL = "http://127.0.0.1:9123"


class _Env(Struct, frozen=True):
    alias: str
    rpc: str


class _Keystore(Struct, frozen=True):
    """Where the keys are; `InMem`, the other kind, has none that outlive a process."""

    File: str | None = None


class _ClientYaml(Struct, frozen=True):
    envs: list[_Env] = []
    keystore: _Keystore = _Keystore()


class SuiFiles:
    """What is in the folder of the Sui CLI, `~/.sui/sui_config`; without a folder, nothing."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "client.yaml"

    @property
    def networks(self) -> tuple[Network, ...]:
        """The environments of the CLI. Raises `sui_files_invalid`."""
        return tuple(_network(env) for env in self._client_yaml.envs)

    @property
    def accounts(self) -> tuple[Account, ...]:
        """The keys of the CLI. Raises `sui_files_invalid`, or as `Wallet` does."""
        return self._wallet.accounts()

    @property
    def unreadable(self) -> tuple[ValidationError, ...]:
        """An error for each key that cannot be read. Raises as `accounts`."""
        return self._wallet.unreadable

    def key(self, address: Address) -> KeyPair:
        """The key of one of the accounts."""
        return self._wallet.signer(address)

    @cached_property
    def _wallet(self) -> Wallet:
        named = self._client_yaml.keystore.File
        path = Path(named) if named else self.file.with_name("sui.keystore")
        return Wallet(path, foreign=True)

    @cached_property
    def _client_yaml(self) -> _ClientYaml:
        if not self.file.exists():
            return _ClientYaml()
        import yaml  # noqa: PLC0415 - not for who has no such file

        try:
            document = yaml.safe_load(read_text(self.file))
            return msgspec.convert(document, _ClientYaml)
        except (OSError, ValueError, yaml.YAMLError) as error:
            raise ValidationError(
                "sui_files_invalid",
                f"{self.file}: {error}",
                hint="`sui client envs` says whether the Sui CLI can read it",
            ) from None


def _network(env: _Env) -> Network:
    url = env.rpc.rstrip("/")
    if url in _LOCAL_URLS:
        return Network(env.alias, url, _LOCAL_FAUCET_URL, has_profile=True)
    faucets = {known.url: known.faucet_url for known in NETWORKS.values()}
    return Network(env.alias, url, faucets.get(url), has_profile=True)
