"""A user's settings: networks, keys and deployments by name, and which of them are selected.

Settings are in the file `$XDG_CONFIG_HOME/nexus-tools/config.toml`. Environment variables override
the file. Keys are in a separate file. If a network or key is in neither file, it is looked up in
the files of the Sui CLI and pysui. Users of these programs therefore need not import their keys or
configure their nodes again.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from nexus_tools.errors import NexusError, NotFoundError, ValidationError
from nexus_tools.settings.directories import (
    cache_directory,
    config_directory,
    data_directory,
    pysui_directory,
    sui_config_directory,
)
from nexus_tools.settings.environment import user_variables
from nexus_tools.settings.lookup import Resolved, check_unambiguous, first_matches
from nexus_tools.settings.passphrase import Passphrase
from nexus_tools.settings.running_localnet import restart_hint, running_localnet, running_localnets
from nexus_tools.settings.setting_values import SettingValues
from nexus_tools.settings.settings_file import KEYS, TABLES, merge_document, read_document
from nexus_tools.sui.support.suggestions import suggestion

if TYPE_CHECKING:
    from nexus_tools.contracts import Deployment, LockDeployment
    from nexus_tools.sui.keystore import Account, KeyPair, PysuiConfigFile, SuiCliConfig, Wallet
    from nexus_tools.sui.network import Network
    from nexus_tools.sui.types.address import Address

    Files = SuiCliConfig | PysuiConfigFile

T = TypeVar("T")
Report = Callable[[NexusError], None]

_HOW_TO_ADD_A_NETWORK = (
    "Run `nexus-tools network list` to see all networks,"
    " or `nexus-tools network use NAME --url URL` to add one."
)
_HOW_TO_ADD_A_KEY = (
    "Run `nexus-tools wallet list` to see all keys, or `nexus-tools wallet new` to create one."
)

OWN_SOURCE = "nexus-tools"
WELL_KNOWN_SOURCE = "well-known"


@dataclass
class Settings(SettingValues):
    """The locations of files, and the settings from the file and the environment.

    `values` come from the file. `overrides`, `passphrase` and `localnet_port` come from the
    environment. `localnet_port` is the port that the default localnet has unless this user
    started it. `networks` maps names to the user's own network profiles. `deployments` and
    `upgrade_locks` map networks to published packages.
    """

    config_file: Path
    data_directory: Path
    cache_directory: Path
    values: dict[str, str] = field(default_factory=dict)
    overrides: dict[str, str] = field(default_factory=dict)
    localnet_port: str | None = None
    passphrase: Passphrase = field(default_factory=Passphrase)
    networks: dict[str, dict[str, Any]] = field(default_factory=dict)
    deployments: dict[str, dict[str, Any]] = field(default_factory=dict)
    upgrade_locks: dict[str, dict[str, Any]] = field(default_factory=dict)
    _was: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    # --- The file and the environment

    @classmethod
    def load(cls) -> "Settings":
        """Read the file and the environment. Raises `config_invalid` or `variable_unknown`."""
        variables = user_variables()
        settings = cls(
            config_file=Path(variables.get("config") or config_directory() / "config.toml"),
            data_directory=data_directory(),
            cache_directory=cache_directory(),
            overrides={key: variables[key] for key in KEYS if key in variables},
            localnet_port=variables.get("localnet_port"),
            passphrase=Passphrase.of(variables),
        )
        settings._was = read_document(settings.config_file)
        settings._take(settings._was)
        return settings

    def save(self) -> None:
        """Write the changed settings to the file without overwriting other processes' changes."""
        now = self.values | {table: getattr(self, table) for table in TABLES}
        self._was = merge_document(self.config_file, self._was, now)
        self._take(self._was)

    def _take(self, document: Mapping[str, Any]) -> None:
        """Copy the settings and tables of a document, so that later changes do not affect it."""
        self.values = {key: document[key] for key in KEYS if key in document}
        for table in TABLES:
            setattr(self, table, dict(document[table]))

    # --- Networks

    def find_network(self, name: str | None = None) -> "Network":
        """Return the network with a name, or the network of the settings.

        Raises `network_unknown`, `network_ambiguous` or `network_not_grpc`.
        """
        return self.locate_network(name).value.with_gas_price_limit(self.max_gas_price_mist)

    def locate_network(self, name: str | None = None) -> "Resolved[Network]":
        """Return a network with its source. Raises the errors of `find_network`."""
        name = name or self.network
        found = first_matches(self._network_places(), lambda network: network.name == name)
        if not found:
            self._pysui.check_protocol(name)
            names = [item.value.name for item in self.all_networks(lambda _: None)]
            likely = suggestion(name, names, otherwise=_HOW_TO_ADD_A_NETWORK)
            hint = restart_hint(name) or likely
            raise NotFoundError("network_unknown", f"unknown network {name[:80]!r}", hint=hint)
        check_unambiguous(found, "network", name, lambda network: network.url)
        return found[0]

    def all_networks(self, report: Report) -> "list[Resolved[Network]]":
        """Return all networks. If several sources define the same name, the first source wins.

        `report` is called with an error for each unreadable file.
        """
        found: list[Resolved[Network]] = []
        for place in self._network_places(report):
            taken = {item.value.name for item in found}
            found += [item for item in place if item.value.name not in taken]
        return found

    def hidden_networks(self) -> "list[Resolved[Network]]":
        """Return other programs' networks whose name has a different URL in our settings."""
        ours, known, elsewhere = self._network_places(lambda _: None)
        used = {network.value.name: network.value.url for network in (*known, *ours)}
        urls = ((network, network.value.url) for network in elsewhere)
        return [network for network, url in urls if used.get(network.value.name, url) != url]

    def _network_places(
        self, report: Report | None = None
    ) -> "Iterator[Iterator[Resolved[Network]]]":
        """Yield the networks of each source: the settings, well-known networks, other programs."""
        yield self._our_networks()
        yield self._known_networks()
        yield self._find_elsewhere(lambda files: files.networks, report)

    def _our_networks(self) -> "Iterator[Resolved[Network]]":
        from nexus_tools.sui.network import Network

        for name, profile in self.networks.items():
            yield Resolved(
                Network(name=name, has_profile=True, **profile), OWN_SOURCE, self.config_file
            )
        for running in running_localnets():
            if running.name not in self.networks:
                network = Network(running.name, running.url, running.url, has_profile=True)
                yield Resolved(network, OWN_SOURCE)

    def _known_networks(self) -> "Iterator[Resolved[Network]]":
        """Yield the well-known networks.

        If the environment variable for the localnet's port is set, the localnet has that port.
        """
        from nexus_tools.sui.network import LOCALNET, NETWORKS, Network

        port = self.localnet_port
        url = LOCALNET.url if port in (None, "0") else f"http://127.0.0.1:{port}"
        local = Network("localnet", url, url, has_profile=True)
        for network in (NETWORKS | {"localnet": local}).values():
            yield Resolved(network, WELL_KNOWN_SOURCE)

    def lacks_localnet(self, network: str) -> bool:
        """Return whether a network is the default localnet and the localnet is not running."""
        return network == "localnet" and network not in self.networks and running_localnet() is None

    # --- Keys

    def open_wallet(self) -> "Wallet":
        """Return the keystore. The keystore's file is created when the first key is added."""
        from nexus_tools.sui.keystore import Wallet

        return Wallet(self.keystore, self.passphrase)

    def find_key(self, which: "str | Address | None" = None) -> "KeyPair":
        """Return the key of the account that `locate_account` finds, and raise the same errors."""
        found = self.locate_account(which)
        address = found.value.address
        if found.source == OWN_SOURCE:
            return self.open_wallet().signer(address)
        return self._elsewhere[found.source].key(address)

    def locate_account(self, which: "str | Address | None" = None) -> "Resolved[Account]":
        """Return the account with an alias or address, and the source of its key.

        Default: the account in the settings. If the settings name no account, the default is the
        active account of our keystore. Raises `account_unknown`, `account_ambiguous` or
        `wallet_empty`.
        """
        which = which or self.wallet
        if which is None:
            return self._active_account()
        found = first_matches(self._account_places(), lambda account: account.is_named(which))
        if not found:
            aliases = [account.value.alias for account in self.all_accounts(lambda _: None)]
            raise NotFoundError(
                "account_unknown",
                f"no key named {which!s:.80} in {self.keystore}, the Sui CLI keystore, or pysui",
                hint=suggestion(str(which), aliases, otherwise=_HOW_TO_ADD_A_KEY),
            )
        check_unambiguous(found, "account", str(which), lambda account: account.address)
        return found[0]

    def all_accounts(self, report: Report) -> "list[Resolved[Account]]":
        """Return the accounts of our keystore, followed by the accounts of other programs.

        `report` is called with an error for each unreadable file.
        """
        return [account for place in self._account_places(report) for account in place]

    def _account_places(
        self, report: Report | None = None
    ) -> "Iterator[Iterable[Resolved[Account]]]":
        wallet = self.open_wallet()
        yield [Resolved(account, OWN_SOURCE, wallet.path) for account in wallet.accounts()]
        yield self._find_elsewhere(lambda files: files.accounts, report)
        if report is not None:
            for files in (wallet, *self._elsewhere.values()):
                with suppress(ValidationError):  # this error has been reported already
                    list(map(report, files.unreadable))

    def _active_account(self) -> "Resolved[Account]":
        wallet = self.open_wallet()
        try:
            return Resolved(wallet.account(), OWN_SOURCE, wallet.path)
        except NotFoundError as error:
            elsewhere = self._find_elsewhere(lambda files: files.accounts, lambda _: None)
            others = ", ".join(account.value.alias for account in elsewhere)
            if others and error.code == "wallet_empty":
                error.hint = f"Run `nexus-tools wallet use` with one of {others},"
                error.hint += " or `nexus-tools wallet new` to create a key."
            raise

    def use_account(self, found: "Resolved[Account]") -> None:
        """Select the account that signs all later transactions."""
        address, has_signer = found.value.address, self.values.pop("signer", None) is not None
        if found.source == OWN_SOURCE:
            self.open_wallet().use(address)
            if self.values.pop("wallet", None) is None and not has_signer:
                return
        else:
            self.values["wallet"] = str(address)
        self.save()

    def rename_account(self, found: "Resolved[Account]", alias: str) -> None:
        """Change the alias of a key in our keystore.

        If the settings file contains the old alias, replace it with the new alias. Raises
        `alias_invalid` or `alias_taken`.
        """
        self.open_wallet().rename(found.value.address, alias)
        if self.values.get("wallet") == found.value.alias:
            self.values["wallet"] = alias
            self.save()

    def remove_account(self, found: "Resolved[Account]") -> None:
        """Delete a key from our keystore. If the settings select the key, remove that setting."""
        self.open_wallet().remove(found.value.address)
        if found.value.is_named(self.values.get("wallet", "")):
            del self.values["wallet"]
            self.save()

    # --- Other programs

    def _find_elsewhere(
        self, read: "Callable[[Files], Sequence[T]]", report: Report | None
    ) -> Iterator[Resolved[T]]:
        """Yield entries of other programs' files.

        An invalid file is reported to `report`. Without `report`, an invalid file raises an error.
        """
        for source, files in self._elsewhere.items():
            try:
                found = read(files)
            except ValidationError as error:
                if report is None:
                    raise
                report(error)
            else:
                yield from (Resolved(item, source, files.file) for item in found)

    @cached_property
    def _elsewhere(self) -> "dict[str, Files]":
        return {"sui": self.sui_files, "pysui": self._pysui}

    @cached_property
    def sui_files(self) -> "SuiCliConfig":
        """The networks and keys of the Sui CLI."""
        from nexus_tools.sui.keystore import SuiCliConfig

        return SuiCliConfig(sui_config_directory())

    @cached_property
    def _pysui(self) -> "PysuiConfigFile":
        from nexus_tools.sui.keystore import PysuiConfigFile

        return PysuiConfigFile(pysui_directory())

    # --- Deployments

    def find_deployment(self, network: str, chain_id: str) -> "Deployment":
        """Return the deployment on a network if the deployment is on the chain with this ID.

        Raises `package_not_published`.
        """
        from nexus_tools.contracts import Deployment

        document = self.deployments.get(network)
        deployment = Deployment.parse(document) if document else None
        if deployment is None or deployment.chain_id != chain_id:
            reason = "the chain was reset" if deployment else "the settings do not contain its ID"
            raise NotFoundError(
                "package_not_published",
                f"the Move package is not published on {network}: {reason}",
                hint="Run `nexus-tools package publish` to publish it,"
                " or `nexus-tools package use ID` to use a published package.",
            )
        return deployment

    def remember(self, deployment: "Deployment", network: str) -> None:
        """Store the deployment of the packages on a network."""
        known = {key: value for key, value in deployment.as_json().items() if value is not None}
        self.deployments[network] = known
        self.save()

    def find_locks(self, network: str, chain_id: str) -> "LockDeployment | None":
        """Return a network's `upgrade_lock` package if it is on the chain with this ID, or None."""
        from nexus_tools.contracts import LockDeployment

        document = self.upgrade_locks.get(network)
        locks = LockDeployment.parse(document) if document else None
        return locks if locks and locks.chain_id == chain_id else None

    def remember_locks(self, locks: "LockDeployment", network: str) -> None:
        """Store the `upgrade_lock` package of a network."""
        self.upgrade_locks[network] = locks.as_json()
        self.save()
