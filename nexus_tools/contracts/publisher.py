"""Publication of Move packages, and upgrades and migrations of the nexus-tools packages."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nexus_tools.contracts.aborts import abort_reason
from nexus_tools.contracts.compiled import (
    CompiledPackage,
    compiled_modules,
    linked_packages,
    load_workflows,
    shipped_packages,
)
from nexus_tools.contracts.deployment import Deployment, PackageKind
from nexus_tools.contracts.move_bindings import leader_registry, permit, tool_registry, version
from nexus_tools.contracts.move_bindings.admin import Admin
from nexus_tools.contracts.move_bindings.workflows import dag_registry
from nexus_tools.contracts.ownership import holder, require_admin, require_owner
from nexus_tools.contracts.package_client import PackageClient, Sent, execute_or_simulate
from nexus_tools.contracts.upgrade_lock import LockDeployment, UpgradeLocks
from nexus_tools.contracts.upgrade_lock.deployment import load_lock_package
from nexus_tools.contracts.upgrade_lock.move_bindings import upgrade_lock
from nexus_tools.errors import NotFoundError, RefusedOnChainError, ValidationError, WrongStateError
from nexus_tools.sui.bcs import u8
from nexus_tools.sui.bindings.runtime import Package
from nexus_tools.sui.client import Executed, SuiClient
from nexus_tools.sui.support.arguments import validate_arguments
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import SUI_FRAMEWORK, Address
from nexus_tools.sui.types.object import MAX_MOVE_PACKAGE_SIZE

Migration = Callable[[TransactionBuilder], None]

_STORAGE_MIST_PER_BYTE = 7_600
"""The storage cost: 76 units (`obj_data_cost_refundable`) at 100 MIST (`storage_gas_price`)."""

_SPARE_PERCENT, _SPARE_MIST = 20, 50_000_000
"""The cost of a publication beyond its modules: tables of the package, new objects, and gas."""

_COMPATIBLE = 0  # `sui::package::COMPATIBLE`


def _check_size(modules: Sequence[bytes]) -> None:
    if not modules:
        raise ValidationError(
            "package_empty",
            "the package has no modules to publish",
            hint="Put modules that are not #[test_only] into sources/*.move.",
        )
    size = sum(map(len, modules))
    if size > MAX_MOVE_PACKAGE_SIZE:
        raise ValidationError(
            "package_too_large",
            f"the modules have {size} bytes, but a package may have at most"
            f" {MAX_MOVE_PACKAGE_SIZE}",
            hint="Publish dependencies first, and write their IDs into [addresses] of their"
            " Move.toml. Then --bundle unpublished does not bundle them.",
        )


def _migrations(deployment: Deployment) -> tuple[Migration, ...]:
    """Return one function for each registry, which adds the migration of that registry."""
    package, admin = deployment.package, deployment.admin
    tools, leaders = deployment.tool_registry, deployment.leader_registry
    migrations: tuple[Migration, ...] = (
        lambda builder: tool_registry.migrate(builder, package, tools, admin),
        lambda builder: leader_registry.migrate(builder, package, leaders, admin),
    )
    if deployment.dag_registry is None:
        return migrations
    workflows, dags = deployment.workflows, deployment.dag_registry
    return (*migrations, lambda builder: dag_registry.migrate(builder, workflows, dags, admin))


@dataclass(frozen=True, slots=True)
class PublishResult:
    """The result of `publish`. A dry run ends after one step, and has no `deployment`."""

    sent: tuple[Sent, ...]
    deployment: Deployment | None


@dataclass(frozen=True, slots=True)
class UpgradeResult:
    """The result of `upgrade`. `sent` is None if the version is already published.

    `deployment` contains the newest version on chain. `version` is the number of the published
    version, counted from 1. In a dry run, `version` is the number that the upgrade would get.
    """

    sent: Sent | None
    deployment: Deployment
    version: int


@validate_arguments
class Publisher:
    """A publisher of packages and their next versions. With `dry_run`, it simulates transactions.

    In addition to the documented errors, every method raises the errors of `SuiClient`.
    """

    def __init__(self, client: SuiClient, *, dry_run: bool = False) -> None:
        self.client = client
        self.dry_run = dry_run

    def dry_run_client(self) -> "Publisher":
        """Return a publisher that only simulates transactions."""
        return Publisher(self.client, dry_run=True)

    async def publish(self, locks: LockDeployment | None = None) -> PublishResult:
        """Publish the nexus-tools packages with new registries. The sender becomes their admin.

        With `locks`, the publishing transactions also lock the upgrades of the packages. Otherwise,
        the sender receives each `UpgradeCap` and can replace the code at any time. If a later step
        fails, complete the publication with `publish_workflows`.
        """
        tools_package, workflows_package = shipped_packages()
        await self.check_funds(tools_package.modules, workflows_package.modules)
        tools = await self.publish_tools(tools_package, locks)
        if tools.deployment is None:
            return tools
        workflows = await self.publish_workflows(tools.deployment, locks)
        return PublishResult((*tools.sent, *workflows.sent), workflows.deployment)

    async def check_funds(self, *packages: Sequence[bytes], with_lock: bool = False) -> int:
        """Return the most that the publication of packages costs, as an estimate in MIST.

        Raises `not_enough_sui` unless the wallet can pay for the storage of packages. Call this
        method before the first of several transactions. `with_lock` adds the storage of the package
        `upgrade_lock`.
        """
        modules = [module for package in packages for module in package]
        if with_lock:
            modules += load_lock_package().modules
        storage_mist = sum(map(len, modules)) * _STORAGE_MIST_PER_BYTE
        spare_mist = storage_mist * _SPARE_PERCENT // 100 + _SPARE_MIST
        await self.client.check_balance(storage_mist, spare_mist)
        return storage_mist + spare_mist

    async def publish_tools(
        self,
        package: CompiledPackage,
        locks: LockDeployment | None = None,
        *,
        done: Sequence[Executed] = (),
    ) -> PublishResult:
        """Publish the package of tools, or a replacement of it, without the package of workflows.

        `done` contains the transaction that an earlier attempt executed, if any.
        """
        modules, dependencies = package.modules, package.dependencies
        sent = await self.publish_other(modules, dependencies, locks, done=done)
        if not isinstance(sent, Executed):
            return PublishResult((sent,), None)
        return PublishResult((sent,), Deployment.of(sent, await self.client.chain_id()))

    async def publish_workflows(
        self,
        deployment: Deployment,
        locks: LockDeployment | None = None,
        *,
        done: Sequence[Executed] = (),
    ) -> PublishResult:
        """Publish the package of workflows for a deployment, and create the registry of workflows.

        Only the admin can call this method, which sends two transactions. `done` contains the
        transactions that an earlier attempt executed. Raises `not_admin`.
        """
        require_admin(self.client.address, await self._admin(deployment))
        package = load_workflows(deployment.package)
        modules, dependencies = package.modules, package.dependencies
        published = await self.publish_other(modules, dependencies, locks, done=done[:1])
        if not isinstance(published, Executed):
            return PublishResult((published,), None)
        created = done[1] if len(done) > 1 else await self._create_dags(deployment, published)
        if not isinstance(created, Executed):
            return PublishResult((created,), None)
        return PublishResult((published, created), deployment.with_workflows(published, created))

    async def publish_other(
        self,
        modules: Sequence[bytes],
        dependencies: Sequence[Address],
        locks: LockDeployment | None = None,
        *,
        done: Sequence[Executed] = (),
    ) -> Sent:
        """Publish any package. For `locks` and `done`, see `publish_tools`.

        Raises `package_empty`, `package_too_large` or `dependency_not_on_network`.
        """
        if done:
            return done[0]
        _check_size(modules)
        await self._require_on_network(dependencies)
        builder = TransactionBuilder()
        publish(builder, modules, dependencies, locks or self.client.address)
        return await execute_or_simulate(self.client, builder, dry_run=self.dry_run)

    async def publish_lock(
        self, *, done: Sequence[Executed] = ()
    ) -> tuple[Sent, LockDeployment | None]:
        """Publish `upgrade_lock`, which locks packages. In a dry run, its deployment is None.

        For `done`, see `publish_tools`.
        """
        if done:
            return done[0], await LockDeployment.of(self.client, done[0])
        return await LockDeployment.publish(self.client, dry_run=self.dry_run)

    async def upgrade(
        self,
        package: CompiledPackage,
        deployment: Deployment,
        locks: LockDeployment | None = None,
        *,
        part: PackageKind = PackageKind.TOOLS,
    ) -> UpgradeResult:
        """Publish a package as the next version, unless it equals the newest version.

        Call `migrate` after the upgrade. `deployment` need not have the newest version. If `locks`
        has locked the package, anyone may publish the proposed upgrade in its time window. Without
        a lock, the sender needs the `UpgradeCap` and the admin role.

        Raises `package_outdated`. Raises the errors of `UpgradeLocks.execute` if the package is
        locked, or else `upgrade_cap_unknown`, `cap_not_yours` or `not_admin`.
        """
        original_id = deployment.package_of_kind(part).original_id
        versions = await self.client.package_versions(original_id)
        newest = deployment.with_newest(versions[-1], part)
        if await self._is_published(package, versions):
            return UpgradeResult(None, newest, len(versions))
        locked = locks and UpgradeLocks(self.client, locks, dry_run=self.dry_run)
        if locked and await locked.find(original_id):
            sent = await locked.execute(original_id, package)
        else:
            sent = await self._upgrade_unlocked(package, newest, part)
        if isinstance(sent, Executed):
            newest = newest.with_newest(sent.published(), part)
        return UpgradeResult(sent, newest, len(versions) + 1)

    async def _upgrade_unlocked(
        self, package: CompiledPackage, newest: Deployment, part: PackageKind
    ) -> Sent:
        builder, cap = TransactionBuilder(), newest.require_upgrade_cap(part)
        _upgrade(builder, package, newest.package_of_kind(part).id, cap)
        await self._require_upgrade_cap(cap)
        # Until the admin migrates the registries, they refuse calls of the next version.
        require_admin(self.client.address, await self._admin(newest))
        return await execute_or_simulate(self.client, builder, dry_run=self.dry_run)

    async def migrate(self, deployment: Deployment) -> Sent | None:
        """Migrate the registries in one transaction, so that they accept only this version.

        Return None if no registry needs a migration. Raises `not_admin`.
        """
        migrations = _migrations(deployment)
        admin = await self._admin(deployment)
        sender = admin.owner.owner
        needed = [
            migration
            for migration in migrations
            if await self._needs_migration(migration, deployment, sender)
        ]
        if not needed:
            return None
        require_admin(self.client.address, admin)
        builder = TransactionBuilder()
        for migrate in needed:
            migrate(builder)
        return await PackageClient(self.client, deployment, dry_run=self.dry_run).send(builder)

    async def _create_dags(self, deployment: Deployment, workflows: Executed) -> Sent:
        """Create the registry of workflows. `workflows` is the transaction of the publication."""
        builder = TransactionBuilder()
        granted = permit.grant(builder, deployment.package, deployment.admin)
        dag_registry.create(builder, Package.at(workflows.published()), granted)
        return await PackageClient(self.client, deployment, dry_run=self.dry_run).send(builder)

    async def _require_on_network(self, dependencies: Sequence[Address]) -> None:
        objects = await self.client.objects(dependencies)
        missing = [str(id_) for id_, value in zip(dependencies, objects, strict=True) if not value]
        if missing:
            raise NotFoundError(
                "dependency_not_on_network",
                f"the package {', '.join(missing)} does not exist on"
                f" {self.client.network.name}, but a manifest names it as a dependency",
                hint="Bundle dependencies with --bundle all, or publish them and write their IDs"
                " into [addresses] of their Move.toml.",
            )

    async def _is_published(self, package: CompiledPackage, versions: tuple[Address, ...]) -> bool:
        """Return whether the newest version has the modules and the links of a package.

        Raises `package_outdated` if an older version has the modules of the package.
        """
        modules = set(package.modules)
        objects = await self.client.objects(versions)
        published = [compiled_modules(value, original=versions[0]) for value in objects]
        if published[-1] == modules:
            # If the modules are equal, an upgrade is still needed to link to newer dependencies.
            return set(package.dependencies) <= linked_packages(objects[-1])
        if modules in published:
            raise WrongStateError(
                "package_outdated",
                f"this package is version {published.index(modules) + 1}, but version"
                f" {len(versions)} is already published on {self.client.network.name}",
                hint="Install a newer release of nexus-tools.",
            )
        return False

    async def _needs_migration(
        self, migrate: Migration, deployment: Deployment, admin: Address
    ) -> bool:
        """Return whether a registry has an older version than the package.

        Only the Move code contains the package's version number, so the migration is simulated.
        """
        builder = TransactionBuilder()
        migrate(builder)
        try:
            (await self.client.inspect(builder, admin)).raise_for_status()
        except RefusedOnChainError as error:
            reasons = (version.EAlreadyMigrated, dag_registry.EAlreadyMigrated)
            if abort_reason(error, deployment) not in reasons:
                raise
            return False
        return True

    async def _require_upgrade_cap(self, cap: Address) -> None:
        require_owner(
            self.client.address,
            holder(await self.client.object(cap)),
            "the UpgradeCap of the package",
            "cap_not_yours",
            "Sign with the wallet that owns the UpgradeCap, usually the publisher's wallet.",
        )

    async def _admin(self, deployment: Deployment) -> Admin:
        return await PackageClient(self.client, deployment).read(deployment.admin, Admin)


def publish(
    builder: TransactionBuilder,
    modules: Sequence[bytes],
    dependencies: Sequence[Address],
    keeper: Address | LockDeployment,
) -> None:
    """Add the publication of a package, and transfer its `UpgradeCap` to an address or lock it."""
    upgrade_cap = builder.publish(modules, dependencies)
    if isinstance(keeper, LockDeployment):
        upgrade_lock.lock(builder, keeper.package, keeper.locks, upgrade_cap)
    else:
        builder.transfer_objects([upgrade_cap], keeper)


def _upgrade(
    builder: TransactionBuilder, package: CompiledPackage, newest_id: Address, upgrade_cap: Address
) -> None:
    """Add the publication of a package as the next version of the package `newest_id`."""
    cap = builder.object(upgrade_cap)
    policy, digest = builder.pure(u8, _COMPATIBLE), builder.byte_vector(package.digest)
    framework = (SUI_FRAMEWORK, "package")
    ticket = builder.move_call(*framework, "authorize_upgrade", [cap, policy, digest])
    receipt = builder.upgrade(package.modules, package.dependencies, newest_id, ticket)
    builder.move_call(*framework, "commit_upgrade", [cap, receipt])
