"""What one command works with: settings, output, the network, the key, the package."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nexus_tools.cli.output import Output
from nexus_tools.cli.settings import Settings
from nexus_tools.errors import NotFoundError

if TYPE_CHECKING:
    from nexus_tools.client import Network, Signer, SuiClient, Wallet
    from nexus_tools.registry import Deployment


@dataclass(slots=True)
class Session:
    """The options that every command has, and what they lead to."""

    output: Output
    settings: Settings = field(default_factory=Settings.load)
    network_name: str | None = None
    wallet_name: str | None = None

    def network(self) -> "Network":
        """The network that the command works on. Raises `network_unknown`."""
        from nexus_tools.client import PRESETS, Network  # noqa: PLC0415 - not for `--help`

        name = self.network_name or self.settings.network
        if name in self.settings.networks:
            return Network(name=name, **self.settings.networks[name])
        if name in PRESETS:
            return PRESETS[name]
        raise NotFoundError(
            "network_unknown",
            f"there is no network {name!r}",
            hint="`nexus-tools network list` shows what there is",
        )

    def wallet(self) -> "Wallet":
        """The keystore; it is made when the first key is."""
        from nexus_tools.client import Wallet  # noqa: PLC0415

        return Wallet(self.settings.keystore)

    def signer(self) -> "Signer":
        """The key that signs: the option's, the setting's, or the keystore's active one."""
        return self.wallet().signer(self.wallet_name or self.settings.wallet)

    @asynccontextmanager
    async def client(self, *, signing: bool = False) -> AsyncIterator["SuiClient"]:
        """A connection to the network; `signing` with the key."""
        from nexus_tools.client import SuiClient  # noqa: PLC0415

        signer = self.signer() if signing else None
        async with SuiClient(self.network(), signer) as client:
            yield client

    async def deployment(self, client: "SuiClient") -> "Deployment":
        """The package as published on the client's network. Raises `package_not_published`."""
        from nexus_tools.registry import Deployment  # noqa: PLC0415

        name = client.network.name
        document = self.settings.deployments.get(name)
        deployment = Deployment.parse(document) if document else None
        if deployment is None or deployment.chain_id != str(await client.chain_id()):
            raise NotFoundError(
                "package_not_published",
                f"the Move package is not published on {name}, as far as this machine knows",
                hint="`nexus-tools package publish` does it, `package use` takes a published one",
            )
        return deployment

    def remember(self, deployment: "Deployment", network: str) -> None:
        """Keep where the package is published on `network`."""
        self.settings.deployments[network] = deployment.as_json()
        self.settings.save()
