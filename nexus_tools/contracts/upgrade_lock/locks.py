"""Operations on locked packages: propose, execute or cancel an upgrade, or end all upgrades."""

from collections.abc import Callable
from enum import StrEnum
from typing import Self

from msgspec import Struct

from nexus_tools.contracts.aborts import explain_abort
from nexus_tools.contracts.compiled import CompiledPackage
from nexus_tools.contracts.package_client import Sent, execute_or_simulate
from nexus_tools.contracts.upgrade_lock.changes import UpgradeChanges
from nexus_tools.contracts.upgrade_lock.deployment import LockDeployment
from nexus_tools.contracts.upgrade_lock.move_bindings import upgrade_lock
from nexus_tools.contracts.upgrade_lock.move_bindings.upgrade_lock import Proposal, UpgradeLock
from nexus_tools.errors import NotFoundError, RefusedOnChainError, ValidationError
from nexus_tools.sui.bytecode import UpgradePolicy
from nexus_tools.sui.client import EventFilter, SuiClient
from nexus_tools.sui.support.arguments import validate_arguments
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.event import Event
from nexus_tools.sui.types.object import MovePackage
from nexus_tools.sui.types.type_tag import OBJECT_ID, derived_object_id


class UpgradeMode(StrEnum):
    """The rules for upgrades of a package."""

    FREE = "free"
    """The package is not locked. The owner of its `UpgradeCap`, if any, can always upgrade it."""
    LOCKED = "locked"
    """A proposed upgrade is public for 14 days. Afterwards, anyone can execute it."""
    IMMUTABLE = "immutable"
    """Upgrades are no longer possible."""


class PackageUpgradeState(Struct, frozen=True):
    """The upgrade state of a package.

    `package` is the ID of its first version. `version` is the number of its newest version, counted
    from 1. `proposal` is None unless a proposed upgrade can still be executed.
    """

    package: Address
    version: int
    upgrades: UpgradeMode
    owner: Address | None = None
    offered: Address | None = None
    proposal: Proposal | None = None


@validate_arguments
class UpgradeLocks:
    """The locked packages of a chain. The ID of any version of a package identifies it.

    With `dry_run`, transactions are simulated. All methods that write raise `package_not_locked`.
    If the chain refuses a transaction, the methods raise an error with the text of the error
    constant in the Move source.
    """

    def __init__(
        self, client: SuiClient, deployment: LockDeployment, *, dry_run: bool = False
    ) -> None:
        self.client = client
        self.deployment = deployment
        self.dry_run = dry_run

    def dry_run_client(self) -> Self:
        """Return a client of the same deployment that only simulates transactions."""
        return type(self)(self.client, self.deployment, dry_run=True)

    # --- Reading

    def lock_id(self, original_id: Address) -> Address:
        """Return the ID of the lock of a package, even if the package is not locked.

        `original_id` is the ID of the package's first version.
        """
        return derived_object_id(self.deployment.locks, OBJECT_ID, original_id)

    async def find(self, original_id: Address) -> UpgradeLock | None:
        """Return the lock of a package, or None if the package is not locked.

        `original_id` is the ID of the package's first version.
        """
        value = await self.client.object(self.lock_id(original_id))
        if value is None:
            return None
        lock: UpgradeLock = self.deployment.decoder.object(value)
        return lock

    async def upgrade_state(self, package: Address) -> PackageUpgradeState:
        """Return the upgrade state of a package. Raises `object_unknown` if it does not exist."""
        versions = await self.client.package_versions(package)
        lock = await self.find(versions[0])
        if lock is None:
            return PackageUpgradeState(versions[0], len(versions), UpgradeMode.FREE)
        proposal = lock.proposal
        if proposal is not None and proposal.expires_at_ms <= await self.client.now_ms():
            proposal = None
        kind = UpgradeMode.IMMUTABLE if lock.cap is None else UpgradeMode.LOCKED
        return PackageUpgradeState(
            versions[0], len(versions), kind, lock.owner, lock.pending_owner, proposal
        )

    async def changes(self, package: Address, upgraded: CompiledPackage) -> UpgradeChanges:
        """Return the changes that an upgrade would make to the newest version of a package.

        The policy of the locked `UpgradeCap` decides whether the changes are compatible. Raises
        `object_unknown` if the package does not exist.
        """
        versions = await self.client.package_versions(package)
        lock = await self._require(versions[0])
        value = await self.client.object(versions[-1])
        assert value is not None
        assert isinstance(value.data, MovePackage)
        policy = lock.cap.policy if lock.cap else UpgradePolicy.COMPATIBLE
        return UpgradeChanges.compare(value.data, upgraded, UpgradePolicy(policy))

    def events(self) -> EventFilter:
        """Return a filter for the events of all locked packages."""
        return EventFilter(self.deployment.package_id)

    def parse_event(self, event: Event) -> upgrade_lock.AnyEvent | None:
        """Return the parsed event, or None if another package emitted it."""
        parsed: upgrade_lock.AnyEvent | None = self.deployment.decoder.event(event)
        return parsed

    # --- Locking

    async def lock(self, upgrade_cap: Address) -> Sent:
        """Lock a package forever. The package must be in its first version.

        The sender must own its `UpgradeCap`. Raises `upgrade_cap_invalid` if `upgrade_cap` is the
        ID of the package.
        """
        value = await self.client.object(upgrade_cap)
        if value is not None and isinstance(value.data, MovePackage):
            raise ValidationError(
                "upgrade_cap_invalid",
                f"expected the UpgradeCap of a package, but {upgrade_cap} is a package",
                hint="Pass the UpgradeCap that `nexus-tools package publish` printed.",
            )
        locks = self.deployment.locks
        return await self._send(
            lambda builder: upgrade_lock.lock(builder, self.deployment.package, locks, upgrade_cap)
        )

    # --- Operations for the owner

    async def propose(self, package: Address, upgraded: CompiledPackage, sources: str) -> Sent:
        """Propose an upgrade, whose digest the chain stores.

        `sources` is the location at which users can review the sources. Raises `init_in_upgrade`,
        or `upgrade_incompatible` if the chain would reject the upgrade.
        """
        changes = await self.changes(package, upgraded)
        if changes.inits:  # since protocol 130, an upgrade runs `init` as its executor
            raise ValidationError(
                "init_in_upgrade",
                f"the added module {changes.inits[0]} has an `init` function. It runs as"
                " the account that executes the upgrade, and can transfer objects of the module to"
                " that account",
                hint="Create the objects in a function with an access check.",
            )
        if changes.incompatible:
            raise ValidationError(
                "upgrade_incompatible",
                f"the chain would reject the upgrade: {changes.incompatible}",
                hint="Keep the published types and public functions, and add new ones.",
            )
        return await self._call(package, upgrade_lock.propose, upgraded.digest, sources)

    async def cancel(self, package: Address) -> Sent:
        """Cancel a proposal. From the 14th day on, another account may already have executed it."""
        return await self._call(package, upgrade_lock.cancel)

    async def make_immutable(self, package: Address) -> Sent:
        """Make a package immutable. The change is immediate and permanent."""
        return await self._call(package, upgrade_lock.make_immutable)

    async def offer(self, package: Address, to: Address) -> Sent:
        """Offer the lock to another owner. To withdraw the offer, offer the lock to yourself."""
        return await self._call(package, upgrade_lock.offer, to)

    # --- Operations for anyone

    async def accept(self, package: Address) -> Sent:
        """Accept a lock that was offered to the sender."""
        return await self._call(package, upgrade_lock.accept)

    async def execute(self, package: Address, upgraded: CompiledPackage) -> Sent:
        """Execute the proposal between its 14th and 21st day. Raises `not_proposed`."""
        versions = await self.client.package_versions(package)
        lock = await self._require(versions[0])
        proposal = lock.proposal
        if proposal is not None and proposal.digest != upgraded.digest:
            raise ValidationError(
                "not_proposed",
                f"the modules differ from the proposed upgrade: expected digest"
                f" {proposal.digest.hex()}, got {upgraded.digest.hex()}",
                hint=f"Use the sources that the proposal names: {proposal.sources}.",
            )

        def execute(builder: TransactionBuilder) -> None:
            lock_package = self.deployment.package
            ticket = upgrade_lock.authorize(builder, lock_package, lock.id)
            modules, dependencies = upgraded.modules, upgraded.dependencies
            receipt = builder.upgrade(modules, dependencies, versions[-1], ticket)
            upgrade_lock.commit(builder, lock_package, lock.id, receipt)

        return await self._send(execute, proposal.executable_at_ms if proposal else None)

    # --- Sending

    async def _call(
        self, package: Address, function: Callable[..., object], *values: object
    ) -> Sent:
        versions = await self.client.package_versions(package)
        lock = await self._require(versions[0])
        return await self._send(
            lambda builder: function(builder, self.deployment.package, lock.id, *values)
        )

    async def _require(self, original_id: Address) -> UpgradeLock:
        lock = await self.find(original_id)
        if lock is None:
            raise NotFoundError(
                "package_not_locked",
                f"the package {original_id} has no lock from {self.deployment.package_id}",
                hint="Lock a package in its first version with `nexus-tools package lock`.",
            )
        return lock

    async def _send(
        self, add: Callable[[TransactionBuilder], object], possible_at_ms: int | None = None
    ) -> Sent:
        builder = TransactionBuilder()
        add(builder)
        try:
            return await execute_or_simulate(self.client, builder, dry_run=self.dry_run)
        except RefusedOnChainError as error:
            now_ms = None if possible_at_ms is None else await self.client.now_ms()
            raise explain_abort(
                error, self.deployment, possible_at_ms=possible_at_ms, now_ms=now_ms
            ) from error
