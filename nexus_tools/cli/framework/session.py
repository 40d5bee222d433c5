"""What one command works with: settings, output, the network, the key, the package."""

import re
import shlex
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nexus_tools.cli.framework.output.output import Output, plain
from nexus_tools.errors import NexusError, NotFoundError, UnreachableError
from nexus_tools.settings import environment
from nexus_tools.settings.directories import cache_directory
from nexus_tools.settings.running_localnet import start_command
from nexus_tools.settings.settings import Settings
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.contracts import Deployment
    from nexus_tools.nexus import Nexus
    from nexus_tools.sui.client import Executed, SignedTransaction, SuiClient
    from nexus_tools.sui.keystore import KeyPair
    from nexus_tools.sui.network import Network
    from nexus_tools.sui.types.address import Address

_OWNED_BY = re.compile(r"the wallet of (0x[0-9a-f]{64})")


@dataclass(slots=True)
class Session:
    """The options that every command has, and what they lead to.

    `yes` and `dry_run` are those of commands that sign transactions; `last_sent` is the last one
    that was signed, and `on_send` receives each before it is sent.
    """

    output: Output
    settings: Settings = field(default_factory=Settings.load)
    network_name: str | None = None
    wallet_name: str | None = None
    yes: bool = False
    dry_run: bool = False
    last_sent: "SignedTransaction | None" = field(default=None, init=False, repr=False)
    on_send: "Callable[[SignedTransaction], None] | None" = field(
        default=None, init=False, repr=False
    )
    _signer: "KeyPair | None" = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        """Who sits at a terminal can be asked for a passphrase."""
        if sys.stdin.isatty():
            self.settings.passphrase.prompt = _ask_passphrase

    def network(self) -> "Network":
        """The network that the command works on: the option's, or that of the settings."""
        return self.settings.find_network(self.network_name)

    def address_of(self, who: str, *, short: bool = False) -> "Address":
        """Return an address as it stands, or that of a key by its alias.

        An address has all of its 64 digits. One that is only read may be `short`. Raises
        `address_invalid`, or as `Settings.locate_account` does.
        """
        from nexus_tools.sui.types.address import Address

        if who[:2].lower() == "0x":
            return Address.parse(who) if short else Address.parse_whole(who)
        return self.settings.locate_account(who).what.address

    def wallet_option(self, address: "Address") -> str:
        """The option with which a command signs as an address, behind a space.

        Empty for the key that signs anyway, and where the address has no key here.
        """
        mine = self.settings.locate_account(self.wallet_name).what
        if mine.address == address:
            return ""
        accounts = self.settings.all_accounts(lambda _: None)
        aliases = [each.what.alias for each in accounts if each.what.address == address]
        return f" --wallet {shlex.quote(aliases[0])}" if aliases else ""

    def option_of(self, address: "Address") -> str:
        """As `wallet_option`, but empty where no key can be read."""
        try:
            return self.wallet_option(address)
        except NexusError:  # of the keystore: what the command met is told, not this
            return ""

    def with_wallets(self, text: str) -> str:
        """A text in which `the wallet of` an address is named, if its key is one of the user's."""
        from nexus_tools.sui.types.address import Address

        def named(match: re.Match[str]) -> str:
            option = self.option_of(Address.parse(match[1]))
            return f"{match[0]}:{option}" if option else match[0]

        return _OWNED_BY.sub(named, text)

    def report_setting(self, key: str, done: str, *, overruled: bool) -> None:
        """Say what a setting does from now on, or which variable in the environment hinders it."""
        if not overruled:
            self.output.done(done)
            return
        variable = f"{environment.PREFIX}{key.upper()}={plain(self.settings.overrides[key])}"
        self.output.warn(f"kept, but {variable} overrules it: unset that, and {done}")

    def signer(self) -> "KeyPair":
        """The key that signs: the option's, that of the settings, or the keystore's active one."""
        if self._signer is None:  # nobody is asked twice for a passphrase
            self._signer = self.settings.find_key(self.wallet_name)
        return self._signer

    def own_address(self) -> "Address":
        """The address of the key that signs; an encrypted one stays shut."""
        return self.settings.locate_account(self.wallet_name).what.address

    @asynccontextmanager
    async def client(
        self, *, signing: bool = False, endures: bool = False
    ) -> AsyncIterator["SuiClient"]:
        """A connection to the network; `signing` with the key.

        A node that is silent for longer than the settings say is told of: `node_unreachable`. A
        command that runs on and on `endures` that: it goes on when the node is there again.
        """
        from nexus_tools.sui.client import Patience, SuiClient

        network = self.network()
        try:
            signer = self.signer() if signing else None
        except NotFoundError as error:
            if error.code == "wallet_empty":
                error.hint = "; ".join(filter(None, (error.hint, self._lacking(network))))
            raise
        timeout_s = self.settings.timeout_s
        patience = Patience(call_timeout_s=timeout_s)
        if not endures:
            patience = Patience.of_a_person(timeout_s)
        try:
            async with SuiClient(
                network,
                signer,
                patience=patience,
                on_merge=self._report_merge,
                on_send=self._note_sent,
            ) as client:
                yield client
        except UnreachableError as error:
            if error.code != "node_unreachable" or not self.settings.lacks_localnet(network.name):
                raise
            start = f"`{start_command(network.endpoint().port)}` starts one"
            raise UnreachableError(
                "node_unreachable",
                f"no localnet of yours is running, and no node responds at {network.url}",
                hint=self._lacking(network) if signing else start,
            ) from error

    def _lacking(self, network: "Network") -> str:
        """Return the commands that give a key a network and SUI."""
        steps = []
        if self.settings.lacks_localnet(network.name):
            steps.append(f"`{start_command(network.endpoint().port)}` starts a localnet")
        if network.faucet_url is not None:
            steps.append("`nexus-tools localnet faucet` gives your key SUI")
        return ", and ".join(steps)

    def _note_sent(self, sent: "SignedTransaction") -> None:
        self.last_sent = sent
        if self.on_send is not None:
            self.on_send(sent)

    def _report_merge(self, merged: "Executed", count: int) -> None:
        cost_mist = merged.cost.net
        paid = "for" if cost_mist > 0 else "with a rebate of"
        self.output.note(
            f"merged {count} coins {paid} {units.sui(abs(cost_mist))} ({merged.digest}):"
            " a transaction takes 255"
        )

    async def deployment(self, client: "SuiClient") -> "Deployment":
        """The package as published on the client's network. Raises `package_not_published`."""
        return self.settings.find_deployment(client.network.name, await client.chain_id())

    @asynccontextmanager
    async def nexus(self, *, signing: bool = True, endures: bool = False) -> AsyncIterator["Nexus"]:
        """The tools, leaders and invocations on the network, by a connection as of `client`."""
        from nexus_tools.contracts import check_compatibility
        from nexus_tools.nexus import Nexus

        if self.wallet_name is not None:
            self.own_address()  # a misspelt one is refused by what only reads, too
        async with self.client(signing=signing, endures=endures) as client:
            with self.output.progress(f"asking {client.network.name}"):
                deployment = await self._known_deployment(client)
                await check_compatibility(client, deployment, cache_directory())
            yield Nexus(client, deployment, dry_run=self.dry_run)

    async def _known_deployment(self, client: "SuiClient") -> "Deployment":
        """As `deployment`, unless the node is not the user's own localnet, which is not running."""
        network = client.network
        try:
            return await self.deployment(client)
        except NotFoundError as error:
            if not self.settings.lacks_localnet(network.name):
                raise
            raise NotFoundError(
                "localnet_not_running",
                f"no localnet of yours is running; the node at {network.url} is not yours, and"
                " the package is not published there as far as this machine knows",
                hint=f"`{start_command(network.endpoint().port)}` starts one of yours;"
                f" to work on that node, run `nexus-tools network use NAME --url {network.url}`",
            ) from error


def _ask_passphrase(alias: str) -> str:
    import click

    return str(click.prompt(f"passphrase of the key {alias}", hide_input=True, err=True))
