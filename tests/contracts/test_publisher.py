import pytest
from msgspec.structs import replace

from nexus_tools.contracts import (
    Part,
    Publisher,
    find_workflows,
    load_package,
    load_workflows,
    newest,
)
from nexus_tools.contracts.move_bindings.workflows.dag_registry import DagRegistry
from nexus_tools.errors import NotAllowedError, NotFoundError, NotNowError, UsageError
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
    """The deployment after an upgrade without migration."""
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


# --- Publishing


async def test_a_package_is_published_with_registries_of_its_own(user, chain):
    result = await Publisher(user).publish()
    assert await versions_of(user, result.deployment) == [1, 1]
    assert result.deployment.tool_registry != chain.deployment.tool_registry
    cap = await user.object(result.deployment.upgrade_cap)
    assert cap.owner == AddressOwner(user.address)


async def test_a_rehearsal_publishes_nothing(user):
    before = await user.balance(user.address)
    result = await Publisher(user).rehearsal().publish()
    assert result.deployment is None
    assert [each.cost.storage_cost > 0 for each in result.sent] == [True]
    assert await user.balance(user.address) == before


async def test_workflows_are_published_beside_tools_with_a_registry_of_their_own(user, chain):
    published = (await Publisher(user).publish()).deployment
    package, registry, cap = await user.objects(
        [published.workflows_id, published.dag_registry, published.workflows_upgrade_cap]
    )
    assert published.original_id in {link.original_id for link in package.data.linkage}
    assert isinstance(registry.owner, Shared)
    assert registry.type == published.type_of(DagRegistry)
    assert cap.owner == AddressOwner(user.address)
    assert published.dag_registry != chain.deployment.dag_registry


async def test_what_an_interrupted_publication_lacks_is_published_later(user):
    tools = (await Publisher(user).publish_tools(load_package())).deployment
    with pytest.raises(NotFoundError) as caught:
        Workflows(user, tools).deployment.workflows  # noqa: B018
    assert caught.value.code == "workflows_unknown"
    whole = (await Publisher(user).publish_workflows(tools)).deployment
    assert await Workflows(user, whole).list() == ()
    assert (whole.package_id, whole.tool_registry) == (tools.package_id, tools.tool_registry)


async def test_only_the_admin_publishes_workflows(user, chain):
    with pytest.raises(NotAllowedError) as caught:
        await Publisher(user).publish_workflows(chain.deployment)
    assert caught.value.code == "not_admin"


async def test_workflows_are_found_by_the_permit_that_they_were_granted(admin, chain):
    known = chain.deployment
    tools = replace(
        known,
        workflows_id=None,
        workflows_original_id=None,
        dag_registry=None,
        workflows_upgrade_cap=None,
    )
    assert await find_workflows(admin, tools) == known
    whole = (await Publisher(admin).publish_workflows(tools)).deployment
    assert await find_workflows(admin, tools) == whole != known


# --- Upgrading


async def test_an_upgrade_keeps_registries_and_names_the_new_version(
    publisher, chain, next_package
):
    result = await publisher.upgrade(next_package, chain.deployment)
    assert result.version == 2
    assert result.deployment == replace(chain.deployment, package_id=result.deployment.package_id)
    package = await publisher.client.object(result.deployment.package_id)
    assert isinstance(package.data, MovePackage)
    assert len(package.data.modules) == len(next_package.modules)
    assert package.version == 2


async def test_a_rehearsed_upgrade_changes_nothing(admin, chain, next_package):
    result = await Publisher(admin, dry_run=True).upgrade(next_package, chain.deployment)
    assert result.deployment == chain.deployment
    assert result.version == 2
    assert result.sent.cost.storage_cost > 0
    assert await admin.package_versions(chain.deployment.original_id) == (
        chain.deployment.original_id,
    )


async def test_what_is_published_already_is_not_published_again(publisher, chain):
    result = await publisher.upgrade(load_package(), chain.deployment)
    assert (result.sent, result.deployment, result.version) == (None, chain.deployment, 1)


async def test_an_upgrade_that_was_not_remembered_is_found(
    publisher, chain, upgraded, next_package
):
    result = await publisher.upgrade(next_package, chain.deployment)
    assert (result.sent, result.deployment, result.version) == (None, upgraded, 2)


async def test_an_upgrade_follows_the_newest_version_whatever_is_remembered(
    publisher, chain, upgraded, fixed_package
):
    result = await publisher.upgrade(fixed_package, chain.deployment)
    assert result.version == 3
    assert await publisher.client.package_versions(chain.deployment.original_id) == (
        chain.deployment.package_id,
        upgraded.package_id,
        result.deployment.package_id,
    )


async def test_an_upgrade_of_workflows_is_linked_to_the_newest_tools(
    publisher, chain, fixed_package, owner
):
    tools = (await publisher.upgrade(fixed_package, chain.deployment)).deployment
    package = load_workflows(tools.package)
    result = await publisher.upgrade(package, tools, part=Part.WORKFLOWS)
    assert result.version == 2
    assert await newest(publisher.client, chain.deployment) == result.deployment
    upgraded = await owner.object(result.deployment.workflows_id)
    links = {link.original_id: link.upgraded_id for link in upgraded.data.linkage}
    assert links[tools.original_id] == tools.package_id
    assert await Workflows(owner, result.deployment).list() == ()
    again = await publisher.upgrade(package, tools, part=Part.WORKFLOWS)
    assert (again.sent, again.version) == (None, 2)


async def test_an_older_package_is_no_upgrade(publisher, upgraded):
    with pytest.raises(NotNowError) as caught:
        await publisher.upgrade(load_package(), upgraded)
    assert caught.value.code == "package_outdated"
    assert "version 2 of the package" in caught.value.message
    assert "this is version 1" in caught.value.message


async def test_only_who_has_the_upgrade_cap_upgrades(user, admin, chain, next_package):
    with pytest.raises(NotAllowedError) as caught:
        await Publisher(user).upgrade(next_package, chain.deployment)
    assert caught.value.code == "cap_not_yours"
    assert "UpgradeCap" in caught.value.message
    assert str(admin.address) in caught.value.message


async def test_an_upgrade_that_could_not_be_migrated_is_refused(
    publisher, admin, user, chain, next_package
):
    await Administration(admin, chain.deployment).offer(user.address)
    await Administration(user, chain.deployment).accept()
    with pytest.raises(NotAllowedError, match=str(user.address)) as caught:
        await publisher.upgrade(next_package, chain.deployment)
    assert caught.value.code == "not_admin"


async def test_an_unknown_upgrade_cap_is_said_so(publisher, chain, next_package):
    deployment = replace(chain.deployment, upgrade_cap=None)
    with pytest.raises(NotFoundError) as caught:
        await publisher.upgrade(next_package, deployment)
    assert caught.value.code == "upgrade_cap_unknown"


async def test_a_package_that_does_not_exist_is_not_upgraded(publisher, chain, next_package):
    deployment = replace(chain.deployment, original_id=Address.of(0xDEAD))
    with pytest.raises(NotFoundError):
        await publisher.upgrade(next_package, deployment)


async def test_the_newest_version_is_found_from_the_first(user, chain, upgraded):
    assert await newest(user, chain.deployment) == upgraded


# --- Migrating


async def test_nothing_is_migrated_before_an_upgrade(publisher, chain):
    assert await publisher.migrate(chain.deployment) is None


async def test_a_version_that_asks_for_no_migration_gets_none(
    publisher, owner, chain, fixed_package, define
):
    upgraded = (await publisher.upgrade(fixed_package, chain.deployment)).deployment
    assert upgraded != chain.deployment
    assert await publisher.migrate(upgraded) is None
    await ToolRegistry(owner, chain.deployment).register(Registration(define()))
    await ToolRegistry(owner, upgraded).unregister(ADD)


async def test_one_transaction_migrates_both_registries(publisher, admin, upgraded):
    sent = await publisher.migrate(upgraded)
    assert [event.type.name for event in sent.events] == ["RegistryMigrated", "RegistryMigrated"]
    assert await versions_of(admin, upgraded) == [2, 2]
    assert await publisher.migrate(upgraded) is None


async def test_a_rehearsed_migration_changes_nothing(publisher, admin, upgraded):
    sent = await publisher.rehearsal().migrate(upgraded)
    assert len(sent.events) == 2
    assert await versions_of(admin, upgraded) == [1, 1]


async def test_only_the_admin_migrates(user, upgraded):
    with pytest.raises(NotAllowedError) as caught:
        await Publisher(user).migrate(upgraded)
    assert caught.value.code == "not_admin"


async def test_who_is_not_the_admin_is_told_that_nothing_waits(user, migrated):
    assert await Publisher(user).migrate(migrated) is None


# --- Old and new calls


@pytest.fixture
async def tools(owner, chain, define):
    """The registry of tools, as of the first version, with `ADD` in it."""
    tools = ToolRegistry(owner, chain.deployment)
    await tools.register(Registration(define()))
    return tools


async def test_calls_of_the_old_version_are_refused_in_words_after_the_migration(
    tools, leader, chain, migrated
):
    with pytest.raises(UsageError, match="The package was upgraded") as caught:
        await tools.update(ADD, timeout_ms=6_000)
    assert caught.value.code == "wrong_version"
    with pytest.raises(UsageError, match="newest version"):
        await LeaderRegistry(leader, chain.deployment).register("late")


async def test_calls_of_the_new_version_work_on_what_the_old_one_made(
    tools, leader, migrated, define
):
    tools = ToolRegistry(tools.client, migrated)
    await tools.register(Registration(define("xyz.example.math.add@2")))
    await tools.unregister(ADD)
    assert [tool.is_active for tool in await tools.list()] == [False, True]
    leaders = LeaderRegistry(leader, migrated)
    _, place = await leaders.register("first", activate=True)
    assert (await leaders.get(place)).is_active
