"""The verbs of locked packages: propose an upgrade, execute it, cancel it, end all upgrades."""

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
from nexus_tools.sui.support.arguments import checks_arguments
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.event import Event
from nexus_tools.sui.types.object import MovePackage
from nexus_tools.sui.types.type_tag import OBJECT_ID, derived_object_id


class Upgrades(StrEnum):
    """What may happen to the code of a package."""

    FREE = "free"
    """No lock: if its `UpgradeCap` exists, who has it replaces the code at any moment."""
    LOCKED = "locked"
    """An upgrade waits for 14 days, in which everybody sees it."""
    IMMUTABLE = "immutable"
    """There are no upgrades any more."""


class PackageUpgrades(Struct, frozen=True):
    """What may happen to a package. `package` is its first version, `version` counts from 1.

    `proposal` is None where nothing is proposed that can still be executed.
    """

    package: Address
    version: int
    upgrades: Upgrades
    owner: Address | None = None
    offered: Address | None = None
    proposal: Proposal | None = None


@checks_arguments
class UpgradeLocks:
    """The locked packages of a chain. A package is named by any of its versions.

    With `dry_run`, verbs are simulated. All of them raise `package_not_locked`, and what the chain
    refuses in the words of the Move sources.
    """

    def __init__(
        self, client: SuiClient, deployment: LockDeployment, *, dry_run: bool = False
    ) -> None:
        self.client = client
        self.deployment = deployment
        self.dry_run = dry_run

    def rehearsal(self) -> Self:
        """The same, simulated."""
        return type(self)(self.client, self.deployment, dry_run=True)

    # --- Reading

    def lock_id(self, original_id: Address) -> Address:
        """The id of the lock of a package, named by its first version, locked or not."""
        return derived_object_id(self.deployment.locks, OBJECT_ID, original_id)

    async def find(self, original_id: Address) -> UpgradeLock | None:
        """The lock of a package, named by its first version."""
        value = await self.client.object(self.lock_id(original_id))
        if value is None:
            return None
        lock: UpgradeLock = self.deployment.decoder.object(value)
        return lock

    async def upgrades(self, package: Address) -> PackageUpgrades:
        """What may happen to a package. Raises `object_unknown` if there is none."""
        versions = await self.client.package_versions(package)
        lock = await self.find(versions[0])
        if lock is None:
            return PackageUpgrades(versions[0], len(versions), Upgrades.FREE)
        proposal = lock.proposal
        if proposal is not None and proposal.void_at_ms <= await self.client.now_ms():
            proposal = None
        kind = Upgrades.IMMUTABLE if lock.cap is None else Upgrades.LOCKED
        return PackageUpgrades(versions[0], len(versions), kind, lock.owner, lock.offered, proposal)

    async def changes(self, package: Address, upgraded: CompiledPackage) -> UpgradeChanges:
        """What an upgrade would change of the newest version, by the rules of its `UpgradeCap`.

        Raises `object_unknown` if there is no such package.
        """
        versions = await self.client.package_versions(package)
        lock = await self._require(versions[0])
        value = await self.client.object(versions[-1])
        assert value is not None
        assert isinstance(value.data, MovePackage)
        policy = lock.cap.policy if lock.cap else UpgradePolicy.COMPATIBLE
        return UpgradeChanges.between(value.data, upgraded, UpgradePolicy(policy))

    def events(self) -> EventFilter:
        """A filter for what happens to all locked packages."""
        return EventFilter(self.deployment.package_id)

    def parse_event(self, event: Event) -> upgrade_lock.AnyEvent | None:
        """The event as a value; None if it is of another package."""
        parsed: upgrade_lock.AnyEvent | None = self.deployment.decoder.event(event)
        return parsed

    # --- Locking

    async def lock(self, upgrade_cap: Address) -> Sent:
        """Lock a package in its first version, whose `UpgradeCap` the sender has: for good.

        Raises `upgrade_cap_invalid` for the package itself.
        """
        value = await self.client.object(upgrade_cap)
        if value is not None and isinstance(value.data, MovePackage):
            raise ValidationError(
                "upgrade_cap_invalid",
                f"{upgrade_cap} is a package: what locks it is its UpgradeCap",
                hint="name the UpgradeCap that `nexus-tools package publish` printed",
            )
        locks = self.deployment.locks
        return await self._send(
            lambda builder: upgrade_lock.lock(builder, self.deployment.package, locks, upgrade_cap)
        )

    # --- The owner's verbs

    async def propose(self, package: Address, upgraded: CompiledPackage, sources: str) -> Sent:
        """Propose an upgrade, of which the digest goes on chain; `sources` says where to read it.

        Raises `init_in_upgrade`, and `upgrade_incompatible` for what could never be executed.
        """
        changes = await self.changes(package, upgraded)
        if changes.inits:  # from protocol 130 on it runs for who executes: anybody
            raise ValidationError(
                "init_in_upgrade",
                f"the added module {changes.inits[0]} has `init`, which would run for whoever"
                " executes the upgrade, and may give away what it makes",
                hint="make what it makes in a function that only the right one can call",
            )
        if changes.incompatible:
            raise ValidationError(
                "upgrade_incompatible",
                f"the chain would refuse the upgrade: {changes.incompatible}",
                hint="types and public functions stay as they are published: add others",
            )
        return await self._call(package, upgrade_lock.propose, upgraded.digest, sources)

    async def cancel(self, package: Address) -> Sent:
        """Take a proposal back. From the 14th day on somebody may have executed it before."""
        return await self._call(package, upgrade_lock.cancel)

    async def make_immutable(self, package: Address) -> Sent:
        """End all upgrades, at once and for ever."""
        return await self._call(package, upgrade_lock.make_immutable)

    async def offer(self, package: Address, to: Address) -> Sent:
        """Offer the lock to another owner, who accepts it; to oneself: take an offer back."""
        return await self._call(package, upgrade_lock.offer, to)

    # --- Everybody's verbs

    async def accept(self, package: Address) -> Sent:
        """Take over a lock that was offered to the sender."""
        return await self._call(package, upgrade_lock.accept)

    async def execute(self, package: Address, upgraded: CompiledPackage) -> Sent:
        """Carry out the proposal, from the 14th day until the 21st. Raises `not_proposed`."""
        versions = await self.client.package_versions(package)
        lock = await self._require(versions[0])
        proposal = lock.proposal
        if proposal is not None and proposal.digest != upgraded.digest:
            raise ValidationError(
                "not_proposed",
                f"the proposed upgrade is {proposal.digest.hex()}, these modules are"
                f" {upgraded.digest.hex()}",
                hint=f"its sources are said to be at {proposal.sources}",
            )

        def execute(builder: TransactionBuilder) -> None:
            ours = self.deployment.package
            ticket = upgrade_lock.authorize(builder, ours, lock.id)
            modules, dependencies = upgraded.modules, upgraded.dependencies
            receipt = builder.upgrade(modules, dependencies, versions[-1], ticket)
            upgrade_lock.commit(builder, ours, lock.id, receipt)

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
                hint="`nexus-tools package lock` locks one in its first version",
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
