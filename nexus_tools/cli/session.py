"""What one command works with: settings, output, the network, the key, the package."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nexus_tools.cli.output import Output
from nexus_tools.cli.running import running_localnet
from nexus_tools.cli.settings import Settings
from nexus_tools.errors import NotFoundError

if TYPE_CHECKING:
    from nexus_tools.client import KeyPair, Network, SuiClient, Wallet
    from nexus_tools.registry import Deployment, Invocations, LeaderRegistry, ToolRegistry
    from nexus_tools.sui.address import Address


@dataclass(slots=True)
class Session:
    """The options that every command has, and what they lead to.

    `yes` and `dry_run` are those of commands that sign transactions.
    """

    output: Output
    settings: Settings = field(default_factory=Settings.load)
    network_name: str | None = None
    wallet_name: str | None = None
    yes: bool = False
    dry_run: bool = False

    def network(self) -> "Network":
        """The network that the command works on. Raises `network_unknown`."""
        from nexus_tools.client import Network, known_network  # noqa: PLC0415 - not for `--help`

        name = self.network_name or self.settings.network
        if name in self.settings.networks:
            return Network(name=name, **self.settings.networks[name])
        running = running_localnet(self.settings) if name == "localnet" else None
        if running is not None:
            return Network(name, running.url, running.url)
        return known_network(name)

    def wallet(self) -> "Wallet":
        """The keystore; it is made when the first key is."""
        from nexus_tools.client import Wallet  # noqa: PLC0415

        return Wallet(self.settings.keystore)

    def address_of(self, who: str) -> "Address":
        """An address as it stands, or that of a key of the wallet."""
        from nexus_tools.sui.address import Address  # noqa: PLC0415

        return Address.parse(who) if who.startswith("0x") else self.wallet().account(who).address

    def signer(self) -> "KeyPair":
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

    @asynccontextmanager
    async def tools(self, *, signing: bool = True) -> AsyncIterator["ToolRegistry"]:
        """The registry of tools on the network."""
        from nexus_tools.registry import ToolRegistry  # noqa: PLC0415

        async with self.client(signing=signing) as client:
            yield ToolRegistry(client, await self.deployment(client), dry_run=self.dry_run)

    @asynccontextmanager
    async def leaders(self, *, signing: bool = True) -> AsyncIterator["LeaderRegistry"]:
        """The registry of leaders on the network."""
        from nexus_tools.registry import LeaderRegistry  # noqa: PLC0415

        async with self.client(signing=signing) as client:
            yield LeaderRegistry(client, await self.deployment(client), dry_run=self.dry_run)

    @asynccontextmanager
    async def invocations(self, *, signing: bool = True) -> AsyncIterator["Invocations"]:
        """The invocations on the network."""
        from nexus_tools.registry import Invocations  # noqa: PLC0415

        async with self.client(signing=signing) as client:
            yield Invocations(client, await self.deployment(client), dry_run=self.dry_run)

    def remember(self, deployment: "Deployment", network: str) -> None:
        """Keep where the package is published on `network`."""
        self.settings.deployments[network] = deployment.as_json()
        self.settings.save()
