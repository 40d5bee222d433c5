import pytest
from msgspec.structs import replace

from nexus_tools.contracts import (
    PackageKind,
    Publisher,
    load_package,
    load_workflows,
    newest,
    with_workflows_package,
)
from nexus_tools.contracts.move_bindings.workflows.dag_registry import DagRegistry
from nexus_tools.errors import NotAllowedError, NotFoundError, UsageError, WrongStateError
from nexus_tools.registry import (
    Administration,
    LeaderRegistry,
    Registration,
    ToolRegistry,
    Workflows,
)
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.object import AddressOwner, MovePackage, Shared
from nexus_tools.tool import ToolFqn

ADD = ToolFqn.parse("xyz.example.math.add@1")


@pytest.fixture
def publisher(admin):
    return Publisher(admin)


@pytest.fixture
async def upgraded(publisher, chain, next_package):
    """Return the deployment after an upgrade without migration."""
    return (await publisher.upgrade(next_package, chain.deployment)).deployment


@pytest.fixture
async def migrated(publisher, upgraded):
    await publisher.migrate(upgraded)
    return upgraded


async def versions_of(client, deployment):
    return [
        (await ToolRegistry(client, deployment).state()).version.number,
        (await LeaderRegistry(client, deployment).state()).version.number,
    ]


# --- Publication


async def test_publish_creates_registries(user, chain):
    result = await Publisher(user).publish()
    assert await versions_of(user, result.deployment) == [1, 1]
    assert result.deployment.tool_registry != chain.deployment.tool_registry
    cap = await user.object(result.deployment.upgrade_cap)
    assert cap.owner == AddressOwner(user.address)


async def test_dry_run_publishes_nothing(user):
    before = await user.balance(user.address)
    result = await Publisher(user).dry_run_client().publish()
    assert result.deployment is None
    assert [sent.cost.storage_cost > 0 for sent in result.sent] == [True]
    assert await user.balance(user.address) == before


async def test_publish_workflows_creates_their_registry(user, chain):
    published = (await Publisher(user).publish()).deployment
    package, registry, cap = await user.objects(
        [published.workflows_id, published.dag_registry, published.workflows_upgrade_cap]
    )
    assert published.original_id in {link.original_id for link in package.data.linkage}
    assert isinstance(registry.owner, Shared)
    assert registry.type == published.type_of(DagRegistry)
    assert cap.owner == AddressOwner(user.address)
    assert published.dag_registry != chain.deployment.dag_registry


async def test_publish_workflows_completes_interrupted_publication(user):
    tools = (await Publisher(user).publish_tools(load_package())).deployment
    with pytest.raises(NotFoundError) as caught:
        Workflows(user, tools).deployment.workflows  # noqa: B018
    assert caught.value.code == "workflows_unknown"
    whole = (await Publisher(user).publish_workflows(tools)).deployment
    assert (await Workflows(user, whole).list()).items == ()
    assert (whole.package_id, whole.tool_registry) == (tools.package_id, tools.tool_registry)


async def test_publish_workflows_fails_for_another_wallet(user, chain):
    with pytest.raises(NotAllowedError) as caught:
        await Publisher(user).publish_workflows(chain.deployment)
    assert caught.value.code == "not_admin"


async def test_find_workflows_uses_the_granted_permit(admin, chain):
    known = chain.deployment
    tools = replace(
        known,
        workflows_id=None,
        workflows_original_id=None,
        dag_registry=None,
        workflows_upgrade_cap=None,
    )
    assert await with_workflows_package(admin, tools) == known
    whole = (await Publisher(admin).publish_workflows(tools)).deployment
    assert await with_workflows_package(admin, tools) == whole != known


# --- Upgrades


async def test_upgrade_keeps_registries_and_sets_new_version(publisher, chain, next_package):
    result = await publisher.upgrade(next_package, chain.deployment)
    assert result.version == 2
    assert result.deployment == replace(chain.deployment, package_id=result.deployment.package_id)
    package = await publisher.client.object(result.deployment.package_id)
    assert isinstance(package.data, MovePackage)
    assert len(package.data.modules) == len(next_package.modules)
    assert package.version == 2


async def test_dry_run_of_upgrade_changes_nothing(admin, chain, next_package):
    result = await Publisher(admin, dry_run=True).upgrade(next_package, chain.deployment)
    assert result.deployment == chain.deployment
    assert result.version == 2
    assert result.sent.cost.storage_cost > 0
    assert await admin.package_versions(chain.deployment.original_id) == (
        chain.deployment.original_id,
    )


async def test_upgrade_skips_published_version(publisher, chain):
    result = await publisher.upgrade(load_package(), chain.deployment)
    assert (result.sent, result.deployment, result.version) == (None, chain.deployment, 1)


async def test_upgrade_finds_version_missing_from_deployment(
    publisher, chain, upgraded, next_package
):
    result = await publisher.upgrade(next_package, chain.deployment)
    assert (result.sent, result.deployment, result.version) == (None, upgraded, 2)


async def test_upgrade_follows_newest_version_on_chain(publisher, chain, upgraded, fixed_package):
    result = await publisher.upgrade(fixed_package, chain.deployment)
    assert result.version == 3
    assert await publisher.client.package_versions(chain.deployment.original_id) == (
        chain.deployment.package_id,
        upgraded.package_id,
        result.deployment.package_id,
    )


async def test_upgrade_of_workflows_links_newest_tools(publisher, chain, fixed_package, owner):
    tools = (await publisher.upgrade(fixed_package, chain.deployment)).deployment
    package = load_workflows(tools.package)
    result = await publisher.upgrade(package, tools, part=PackageKind.WORKFLOWS)
    assert result.version == 2
    assert await newest(publisher.client, chain.deployment) == result.deployment
    upgraded = await owner.object(result.deployment.workflows_id)
    links = {link.original_id: link.upgraded_id for link in upgraded.data.linkage}
    assert links[tools.original_id] == tools.package_id
    assert (await Workflows(owner, result.deployment).list()).items == ()
    again = await publisher.upgrade(package, tools, part=PackageKind.WORKFLOWS)
    assert (again.sent, again.version) == (None, 2)


async def test_upgrade_fails_for_older_package(publisher, upgraded):
    with pytest.raises(WrongStateError) as caught:
        await publisher.upgrade(load_package(), upgraded)
    assert caught.value.code == "package_outdated"
    assert "version 2 is already published" in caught.value.message
    assert "this package is version 1" in caught.value.message


async def test_upgrade_fails_without_upgrade_cap(user, admin, chain, next_package):
    with pytest.raises(NotAllowedError) as caught:
        await Publisher(user).upgrade(next_package, chain.deployment)
    assert caught.value.code == "cap_not_yours"
    assert "UpgradeCap" in caught.value.message
    assert str(admin.address) in caught.value.message


async def test_upgrade_fails_for_wallet_that_cannot_migrate(
    publisher, admin, user, chain, next_package
):
    await Administration(admin, chain.deployment).offer(user.address)
    await Administration(user, chain.deployment).accept()
    with pytest.raises(NotAllowedError, match=str(user.address)) as caught:
        await publisher.upgrade(next_package, chain.deployment)
    assert caught.value.code == "not_admin"


async def test_upgrade_fails_for_unknown_upgrade_cap(publisher, chain, next_package):
    deployment = replace(chain.deployment, upgrade_cap=None)
    with pytest.raises(NotFoundError) as caught:
        await publisher.upgrade(next_package, deployment)
    assert caught.value.code == "upgrade_cap_unknown"


async def test_upgrade_fails_for_missing_package(publisher, chain, next_package):
    deployment = replace(chain.deployment, original_id=Address.of(0xDEAD))
    with pytest.raises(NotFoundError):
        await publisher.upgrade(next_package, deployment)


async def test_newest_finds_version_from_the_first(user, chain, upgraded):
    assert await newest(user, chain.deployment) == upgraded


# --- Migrations


async def test_migrate_does_nothing_before_upgrade(publisher, chain):
    assert await publisher.migrate(chain.deployment) is None


async def test_migrate_does_nothing_if_version_needs_none(
    publisher, owner, chain, fixed_package, define
):
    upgraded = (await publisher.upgrade(fixed_package, chain.deployment)).deployment
    assert upgraded != chain.deployment
    assert await publisher.migrate(upgraded) is None
    await ToolRegistry(owner, chain.deployment).register(Registration(define()))
    await ToolRegistry(owner, upgraded).unregister(ADD)


async def test_migrate_uses_one_transaction_for_all_registries(publisher, admin, upgraded):
    sent = await publisher.migrate(upgraded)
    assert [event.type.name for event in sent.events] == ["RegistryMigrated", "RegistryMigrated"]
    assert await versions_of(admin, upgraded) == [2, 2]
    assert await publisher.migrate(upgraded) is None


async def test_dry_run_of_migration_changes_nothing(publisher, admin, upgraded):
    sent = await publisher.dry_run_client().migrate(upgraded)
    assert len(sent.events) == 2
    assert await versions_of(admin, upgraded) == [1, 1]


async def test_migrate_fails_for_another_wallet(user, upgraded):
    with pytest.raises(NotAllowedError) as caught:
        await Publisher(user).migrate(upgraded)
    assert caught.value.code == "not_admin"


async def test_migrate_reports_nothing_to_do_to_any_wallet(user, migrated):
    assert await Publisher(user).migrate(migrated) is None


# --- Calls of old and new versions


@pytest.fixture
async def tools(owner, chain, define):
    """Return the registry of tools at the first version, with `ADD` registered."""
    tools = ToolRegistry(owner, chain.deployment)
    await tools.register(Registration(define()))
    return tools


async def test_old_version_is_refused_after_migration(tools, leader, chain, migrated):
    with pytest.raises(UsageError, match="The package was upgraded") as caught:
        await tools.update(ADD, timeout_ms=6_000)
    assert caught.value.code == "wrong_version"
    with pytest.raises(UsageError, match="newest version"):
        await LeaderRegistry(leader, chain.deployment).register("late")


async def test_new_version_works_on_old_objects(tools, leader, migrated, define):
    tools = ToolRegistry(tools.client, migrated)
    await tools.register(Registration(define("xyz.example.math.add@2")))
    await tools.unregister(ADD)
    assert [tool.is_active async for tool in tools.iterate()] == [False, True]
    leaders = LeaderRegistry(leader, migrated)
    _, place = await leaders.register("first", activate=True)
    assert (await leaders.get(place)).is_active
