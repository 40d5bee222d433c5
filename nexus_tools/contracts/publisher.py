"""Publishing packages, and taking ours from one version to the next."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nexus_tools.contracts.aborts import abort_reason
from nexus_tools.contracts.compiled import (
    CompiledPackage,
    compiled_modules,
    linked_packages,
    load_workflows,
    our_packages,
)
from nexus_tools.contracts.deployment import Deployment, Part
from nexus_tools.contracts.move_bindings import leader_registry, permit, tool_registry, version
from nexus_tools.contracts.move_bindings.admin import Admin
from nexus_tools.contracts.move_bindings.workflows import dag_registry
from nexus_tools.contracts.ownership import holder, require_admin, require_owner
from nexus_tools.contracts.package_client import PackageClient, Sent, execute_or_simulate
from nexus_tools.contracts.upgrade_lock import LockDeployment, UpgradeLocks
from nexus_tools.contracts.upgrade_lock.deployment import load_lock_package
from nexus_tools.contracts.upgrade_lock.move_bindings import upgrade_lock
from nexus_tools.errors import NotFoundError, NotNowError, RefusedOnChainError, ValidationError
from nexus_tools.sui.bcs import u8
from nexus_tools.sui.bindings.runtime import Package
from nexus_tools.sui.client import Executed, SuiClient
from nexus_tools.sui.support.arguments import checks_arguments
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import SUI_FRAMEWORK, Address
from nexus_tools.sui.types.object import MAX_MOVE_PACKAGE_SIZE

Migrate = Callable[[TransactionBuilder], None]

_STORAGE_MIST_PER_BYTE = 7_600
"""76 units of storage at 100 MIST: `obj_data_cost_refundable` and `storage_gas_price`."""

_SPARE_PERCENT, _SPARE_MIST = 20, 50_000_000
"""The type origins and linkage of a package, the objects that it creates, and the computation."""

_COMPATIBLE = 0  # `sui::package::COMPATIBLE`


def _check_size(modules: Sequence[bytes]) -> None:
    if not modules:
        raise ValidationError(
            "package_empty",
            "the package has no modules to publish",
            hint="what is published stands in sources/*.move, outside of #[test_only]",
        )
    size = sum(map(len, modules))
    if size > MAX_MOVE_PACKAGE_SIZE:
        raise ValidationError(
            "package_too_large",
            f"the modules have {size} bytes, and no network takes more than"
            f" {MAX_MOVE_PACKAGE_SIZE} in a package",
            hint="publish dependencies first, and write their ids into [addresses] of their"
            " Move.toml; then --bundle unpublished leaves them where they are",
        )


def _migrations(deployment: Deployment) -> tuple[Migrate, ...]:
    """What migrates each of the registries."""
    package, admin = deployment.package, deployment.admin
    tools, leaders = deployment.tool_registry, deployment.leader_registry
    migrations: tuple[Migrate, ...] = (
        lambda builder: tool_registry.migrate(builder, package, tools, admin),
        lambda builder: leader_registry.migrate(builder, package, leaders, admin),
    )
    if deployment.dag_registry is None:
        return migrations
    workflows, dags = deployment.workflows, deployment.dag_registry
    return (*migrations, lambda builder: dag_registry.migrate(builder, workflows, dags, admin))


@dataclass(frozen=True, slots=True)
class PublishResult:
    """What `publish` did; `deployment` is None in a dry run, which ends with the first step."""

    sent: tuple[Sent, ...]
    deployment: Deployment | None


@dataclass(frozen=True, slots=True)
class UpgradeResult:
    """What `upgrade` did; `sent` is None if there was nothing to do.

    `deployment` has the newest version that is on chain now; `version` is the number that the
    package has, or in a dry run would have, counted from 1.
    """

    sent: Sent | None
    deployment: Deployment
    version: int


@checks_arguments
class Publisher:
    """Publishes the package and its next versions. With `dry_run`, verbs are simulated.

    Besides the errors that are named, every method raises as `SuiClient` does.
    """

    def __init__(self, client: SuiClient, *, dry_run: bool = False) -> None:
        self.client = client
        self.dry_run = dry_run

    def rehearsal(self) -> "Publisher":
        """The same, simulated."""
        return Publisher(self.client, dry_run=True)

    async def publish(self, locks: LockDeployment | None = None) -> PublishResult:
        """Publish our packages, with registries of their own; the sender is their admin.

        With `locks` their upgrades are locked in the same transactions; else the sender gets each
        `UpgradeCap`, too, and can replace the code at any moment. What is published if a later step
        fails is `publish_workflows`' to complete.
        """
        tools_package, workflows_package = our_packages()
        await self.check_funds(tools_package.modules, workflows_package.modules)
        tools = await self.publish_tools(tools_package, locks)
        if tools.deployment is None:
            return tools
        workflows = await self.publish_workflows(tools.deployment, locks)
        return PublishResult((*tools.sent, *workflows.sent), workflows.deployment)

    async def check_funds(self, *packages: Sequence[bytes], with_lock: bool = False) -> None:
        """Raise `not_enough_sui` unless the wallet pays for the storage of packages.

        Call it before the first of several transactions. `with_lock` counts `upgrade_lock`, too.
        """
        modules = [each for package in packages for each in package]
        if with_lock:
            modules += load_lock_package().modules
        storage_mist = sum(map(len, modules)) * _STORAGE_MIST_PER_BYTE
        spare_mist = storage_mist * _SPARE_PERCENT // 100 + _SPARE_MIST
        await self.client.check_balance(storage_mist, spare_mist)

    async def publish_tools(
        self,
        package: CompiledPackage,
        locks: LockDeployment | None = None,
        *,
        done: Sequence[Executed] = (),
    ) -> PublishResult:
        """Publish the package of tools alone, or another one in its place, as `publish` does.

        `done` has the transaction of an earlier attempt, if it was executed.
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
        """Publish the package of workflows beside that of tools, and create its registry.

        The admin alone can. `done` has those of the two transactions that an earlier attempt sent
        and the chain executed. Raises `not_admin`.
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
        """Publish a package of somebody's own; `locks` and `done` as for `publish_tools`.

        Raises `package_empty`, `package_too_large` and `dependency_not_on_network`.
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
        """Publish `upgrade_lock`, by which packages are locked; None in a dry run.

        `done` as for `publish_tools`.
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
        part: Part = Part.TOOLS,
    ) -> UpgradeResult:
        """Publish a package as the next version, unless its modules are those of the newest one.

        What `deployment` takes for the newest version may be out of date. `migrate` comes next.
        If the package is locked by `locks`, anybody does this with what was proposed, in its time:
        raises as `UpgradeLocks.execute`. Else it needs the `UpgradeCap` and the admin: raises
        `upgrade_cap_unknown`, `cap_not_yours`, `not_admin`. Raises `package_outdated`.
        """
        original_id = deployment.part(part).original_id
        versions = await self.client.package_versions(original_id)
        newest = deployment.at(versions[-1], part)
        if await self._is_published(package, versions):
            return UpgradeResult(None, newest, len(versions))
        locked = locks and UpgradeLocks(self.client, locks, dry_run=self.dry_run)
        if locked and await locked.find(original_id):
            sent = await locked.execute(original_id, package)
        else:
            sent = await self._upgrade_free(package, newest, part)
        if isinstance(sent, Executed):
            newest = newest.at(sent.published(), part)
        return UpgradeResult(sent, newest, len(versions) + 1)

    async def _upgrade_free(self, package: CompiledPackage, newest: Deployment, part: Part) -> Sent:
        builder, cap = TransactionBuilder(), newest.require_upgrade_cap(part)
        _upgrade(builder, package, newest.part(part).id, cap)
        await self._require_upgrade_cap(cap)
        # Until the registries are migrated, they refuse the commands of the next version.
        require_admin(self.client.address, await self._admin(newest))
        return await execute_or_simulate(self.client, builder, dry_run=self.dry_run)

    async def migrate(self, deployment: Deployment) -> Sent | None:
        """Let only the deployed version work, with one transaction.

        None if no registry asks for it. Raises `not_admin`.
        """
        migrations = _migrations(deployment)
        admin = await self._admin(deployment)
        sender = admin.owner.owner
        waiting = [each for each in migrations if await self._is_waiting(each, deployment, sender)]
        if not waiting:
            return None
        require_admin(self.client.address, admin)
        builder = TransactionBuilder()
        for migrate in waiting:
            migrate(builder)
        return await PackageClient(self.client, deployment, dry_run=self.dry_run).send(builder)

    async def _create_dags(self, deployment: Deployment, workflows: Executed) -> Sent:
        """Create the registry of workflows in the package that a transaction published."""
        builder = TransactionBuilder()
        granted = permit.grant(builder, deployment.package, deployment.admin)
        dag_registry.create(builder, Package.at(workflows.published()), granted)
        return await PackageClient(self.client, deployment, dry_run=self.dry_run).send(builder)

    async def _require_on_network(self, dependencies: Sequence[Address]) -> None:
        found = await self.client.objects(dependencies)
        missing = [str(id_) for id_, value in zip(dependencies, found, strict=True) if not value]
        if missing:
            raise NotFoundError(
                "dependency_not_on_network",
                f"{self.client.network.name} has no package {', '.join(missing)}, which the"
                " manifest of a dependency names",
                hint="take dependencies into the package with --bundle all, or publish them, and"
                " write their ids into [addresses] of their Move.toml",
            )

    async def _is_published(self, package: CompiledPackage, versions: tuple[Address, ...]) -> bool:
        """Whether it is the newest version, linked to the same packages.

        Raises `package_outdated` if it is an older one.
        """
        modules = set(package.modules)
        found = await self.client.objects(versions)
        published = [compiled_modules(value, original=versions[0]) for value in found]
        if published[-1] == modules:
            # The same modules are another package where one that they need has a newer version.
            return set(package.dependencies) <= linked_packages(found[-1])
        if modules in published:
            raise NotNowError(
                "package_outdated",
                f"version {len(versions)} of the package is published on"
                f" {self.client.network.name}, and this is version {published.index(modules) + 1}",
                hint="install a newer release of nexus-tools",
            )
        return False

    async def _is_waiting(self, migrate: Migrate, deployment: Deployment, admin: Address) -> bool:
        """Whether a registry has an older version than the package, which alone knows its own."""
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
            "sign with the wallet that has it: by default the one that published the package",
        )

    async def _admin(self, deployment: Deployment) -> Admin:
        return await PackageClient(self.client, deployment).read(deployment.admin, Admin)


def publish(
    builder: TransactionBuilder,
    modules: Sequence[bytes],
    dependencies: Sequence[Address],
    keeper: Address | LockDeployment,
) -> None:
    """Publish a package. Its `UpgradeCap` goes to an address, or is locked away for good."""
    upgrade_cap = builder.publish(modules, dependencies)
    if isinstance(keeper, LockDeployment):
        upgrade_lock.lock(builder, keeper.package, keeper.locks, upgrade_cap)
    else:
        builder.transfer_objects([upgrade_cap], keeper)


def _upgrade(
    builder: TransactionBuilder, package: CompiledPackage, newest_id: Address, upgrade_cap: Address
) -> None:
    """Publish a package as the next version of one."""
    cap = builder.object(upgrade_cap)
    policy, digest = builder.pure(u8, _COMPATIBLE), builder.byte_vector(package.digest)
    framework = (SUI_FRAMEWORK, "package")
    ticket = builder.move_call(*framework, "authorize_upgrade", [cap, policy, digest])
    receipt = builder.upgrade(package.modules, package.dependencies, newest_id, ticket)
    builder.move_call(*framework, "commit_upgrade", [cap, receipt])
