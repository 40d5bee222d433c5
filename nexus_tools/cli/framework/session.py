"""The session of one command: its settings, output, network, key and package."""

import re
import shlex
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nexus_tools.cli.framework.output.output import Output, plain
from nexus_tools.errors import NexusError, NotFoundError, UnreachableError, UsageError
from nexus_tools.settings import environment
from nexus_tools.settings.directories import cache_directory
from nexus_tools.settings.running_localnet import start_command
from nexus_tools.settings.settings import Settings
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.contracts import Deployment
    from nexus_tools.nexus import Nexus
    from nexus_tools.sui.client import Executed, SignedTransaction, SuiClient
    from nexus_tools.sui.keystore import Signer
    from nexus_tools.sui.network import Network
    from nexus_tools.sui.types.address import Address

_OWNED_BY = re.compile(r"the wallet of (0x[0-9a-f]{64})")


@dataclass(slots=True)
class Session:
    """The shared options of a command, and access to the objects that they select.

    `yes` and `dry_run` belong to commands that sign transactions. `last_sent` is the last signed
    transaction of the current step. `sent` has one transaction for each earlier step that sent one.
    `on_send` receives each transaction before it is sent.
    """

    output: Output
    settings: Settings = field(default_factory=Settings.load)
    network_name: str | None = None
    wallet_name: str | None = None
    signer_url: str | None = None
    yes: bool = False
    dry_run: bool = False
    last_sent: "SignedTransaction | None" = field(default=None, init=False, repr=False)
    sent: "list[SignedTransaction]" = field(default_factory=list, init=False, repr=False)
    on_send: "Callable[[SignedTransaction], None] | None" = field(
        default=None, init=False, repr=False
    )
    _signer: "Signer | None" = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        """Select the signer, and prompt for passphrases if stdin is a terminal.

        Raises `signer_ambiguous` if a command names both a key and a signer.
        """
        if self.wallet_name is not None and self.signer_url is not None:
            message = "expected --wallet or --signer, got both"
            raise UsageError("signer_ambiguous", message, hint="Omit one of these options.")
        if self.wallet_name is None and self.signer_url is None:
            self.signer_url = self._configured_signer()
        if sys.stdin.isatty():
            self.settings.passphrase.prompt = _ask_passphrase

    def _configured_signer(self) -> str | None:
        """Return the signer of the settings, unless only a wallet is set in the environment."""
        overrides = self.settings.overrides
        if "wallet" in overrides and "signer" not in overrides:
            return None
        return self.settings.get("signer")

    def network(self) -> "Network":
        """Return the network of the option `--network`, or else of the settings."""
        return self.settings.find_network(self.network_name)

    def address_of(self, who: str, *, short: bool = False) -> "Address":
        """Return an address from its text, or the address of the key with that alias.

        An address must have all of its 64 digits, unless `short` is set. Set `short` only for an
        address that the command reads. Raises `address_invalid`, and the errors of
        `Settings.locate_account`.
        """
        from nexus_tools.sui.types.address import Address

        if who[:2].lower() == "0x":
            return Address.parse(who) if short else Address.parse_whole(who)
        return self.settings.locate_account(who).value.address

    def wallet_option(self, address: "Address") -> str:
        """Return ` --wallet ALIAS`, the option that makes a command sign with an address.

        The result is empty if that key signs by default, or if this machine does not have the key.
        """
        alias = "" if self.own_address() == address else self.key_alias(address)
        return f" --wallet {shlex.quote(alias)}" if alias else ""

    def key_alias(self, address: "Address") -> str:
        """Return the alias of a key, or an empty string if this machine does not have the key."""
        accounts = self.settings.all_accounts(lambda _: None)
        aliases = [account.value.alias for account in accounts if account.value.address == address]
        return aliases[0] if aliases else ""

    def network_option(self, address: "Address") -> str:
        """Return `wallet_option` of the address, or an empty string if the keystore is invalid."""
        try:
            return self.wallet_option(address)
        except NexusError:  # report the command's error instead of this one
            return ""

    def with_wallets(self, text: str) -> str:
        """Return the text with the `--wallet` option after each phrase `the wallet of ADDRESS`.

        Addresses whose keys are not on this machine get no option.
        """
        from nexus_tools.sui.types.address import Address

        def named(match: re.Match[str]) -> str:
            option = self.network_option(Address.parse(match[1]))
            return f"{match[0]}:{option}" if option else match[0]

        return _OWNED_BY.sub(named, text)

    def report_setting(self, key: str, done: str, *, overridden: bool) -> None:
        """Report a changed setting, or the environment variable that overrides it."""
        if not overridden:
            self.output.done(done)
            return
        variable = f"{environment.PREFIX}{key.upper()}={plain(self.settings.overrides[key])}"
        self.output.warn(
            f"saved, but {variable} overrides it. Unset the variable to use the saved value"
        )

    def signer(self) -> "Signer":
        """Return the signer of `--signer`, the key of `--wallet`, or what the settings select.

        The default is the active key of the keystore.
        """
        if self._signer is None:  # do not prompt for the passphrase twice
            self._signer = self.find_signer(self.signer_url or self.wallet_name)
        return self._signer

    def find_signer(self, which: str | None) -> "Signer":
        """Return the signer with a URL, or the key with an alias or address."""
        from nexus_tools.settings.signers import is_signer_url, open_signer

        if which is not None and is_signer_url(which):
            return open_signer(which)
        return self.settings.find_key(which)

    def own_address(self) -> "Address":
        """Return the address of the key that signs, without decrypting the key."""
        if self.signer_url is not None:
            return self.signer().address
        return self.settings.locate_account(self.wallet_name).value.address

    def trusted_requesters(self) -> "tuple[Address, ...]":
        """Return the user's account, if there is one, and the accounts that the user trusts."""
        trusted = self.settings.trusted_requesters
        try:
            return self.own_address(), *trusted
        except NexusError:  # commands that only read need no wallet
            return trusted

    def own_name(self) -> str:
        """Return the alias of the key that signs, or the URL of the signer without its fragment."""
        if self.signer_url is not None:
            return self.signer_url.partition("#")[0]
        return self.settings.locate_account(self.wallet_name).value.alias

    @asynccontextmanager
    async def client(
        self, *, signing: bool = False, keeps_running: bool = False
    ) -> AsyncIterator["SuiClient"]:
        """Connect to the network. `signing` also loads the key.

        A node that does not respond within the configured timeout raises `node_unreachable`. With
        `keeps_running`, for commands that keep running, the client waits until the node responds
        again.
        """
        from nexus_tools.sui.client import RetryPolicy, SuiClient

        network = self.network()
        try:
            signer = self.signer() if signing else None
        except NotFoundError as error:
            if error.code == "wallet_empty":
                error.hint = " ".join(filter(None, (error.hint, self._lacking(network))))
            raise
        timeout_s = self.settings.timeout_s
        retry_policy = RetryPolicy(call_timeout_s=timeout_s)
        if not keeps_running:
            retry_policy = RetryPolicy.interactive(timeout_s)
        try:
            async with SuiClient(
                network,
                signer,
                retry_policy=retry_policy,
                on_merge=self._report_merge,
                on_send=self._note_sent,
            ) as client:
                if signing:
                    await self.check_own_node(client)
                yield client
        except UnreachableError as error:
            if error.code != "node_unreachable" or not self.settings.lacks_localnet(network.name):
                raise
            start = f"Run `{start_command(network.endpoint().port)}`."
            raise UnreachableError(
                "node_unreachable",
                f"the localnet is not running: no node responds at {network.url}",
                hint=self._lacking(network) if signing else start,
            ) from error

    def _lacking(self, network: "Network") -> str:
        """Return a hint with the commands that start a localnet and fund a key."""
        steps = []
        if self.settings.lacks_localnet(network.name):
            steps.append(f"Run `{start_command(network.endpoint().port)}` to start a localnet.")
        if network.faucet_url is not None:
            steps.append("Run `nexus-tools localnet faucet` to fund your key.")
        return " ".join(steps)

    def _note_sent(self, sent: "SignedTransaction") -> None:
        self.last_sent = sent
        if self.on_send is not None:
            self.on_send(sent)

    def _report_merge(self, merged: "Executed", count: int) -> None:
        cost_mist = merged.cost.net
        paid = "for a cost of" if cost_mist > 0 else "with a rebate of"
        self.output.note(
            f"merged {count} coins {paid} {units.sui(abs(cost_mist))} ({merged.digest}),"
            " because a transaction can use at most 255 coins"
        )

    @asynccontextmanager
    async def sending_turn(self) -> AsyncIterator[None]:
        """Let only this command send transactions of its key until the block ends."""
        from nexus_tools.cli.framework.sending_turn import sending_turn

        folder = self.settings.data_directory / "sending"
        async with sending_turn(folder / f"{self.own_address()}.lock"):
            yield

    async def deployment(self, client: "SuiClient") -> "Deployment":
        """Return the package published on the client's network. Raises `package_not_published`."""
        return self.settings.find_deployment(client.network.name, await client.chain_id())

    @asynccontextmanager
    async def nexus(
        self, *, signing: bool = True, keeps_running: bool = False
    ) -> AsyncIterator["Nexus"]:
        """Open the tools, leaders and invocations on the network, over a connection of `client`."""
        from nexus_tools.contracts import check_compatibility
        from nexus_tools.nexus import Nexus

        if self.wallet_name is not None:
            self.own_address()  # rejects a misspelled wallet even if the command only reads
        async with self.client(signing=signing, keeps_running=keeps_running) as client:
            with self.output.progress(f"connecting to {client.network.name}"):
                deployment = await self._known_deployment(client)
                await check_compatibility(client, deployment, cache_directory())
            yield Nexus(client, deployment, dry_run=self.dry_run)

    async def _known_deployment(self, client: "SuiClient") -> "Deployment":
        """Return the deployment. Raises `localnet_not_running` for a stopped localnet."""
        await self.check_own_node(client)
        return await self.deployment(client)

    async def check_own_node(self, client: "SuiClient") -> None:
        """Raise `localnet_not_running` if an unknown node uses the port of a stopped localnet."""
        network = client.network
        if not self.settings.lacks_localnet(network.name):
            return
        try:
            await self.deployment(client)
        except NotFoundError as error:
            raise NotFoundError(
                "localnet_not_running",
                f"your localnet is not running. Another node listens at {network.url}, but"
                " nexus-tools does not know a published package there",
                hint=f"Run `{start_command(network.endpoint().port)}` to start your localnet,"
                f" or `nexus-tools network use NAME --url {network.url}` to use that node.",
            ) from error


def _ask_passphrase(alias: str) -> str:
    import click

    return str(click.prompt(f"Passphrase of the key {alias}", hide_input=True, err=True))
