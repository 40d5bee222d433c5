import json

import pytest
from msgspec import structs

from nexus_tools.contracts import Deployment, load_package, load_workflows
from nexus_tools.contracts.move_bindings.admin import Admin
from nexus_tools.contracts.move_bindings.leader_registry import LeaderRegistry
from nexus_tools.contracts.move_bindings.tool_registry import ToolRegistry
from nexus_tools.errors import NotFoundError, ValidationError
from nexus_tools.sui.bindings.runtime import Package
from nexus_tools.sui.bytecode import deserialize, package_digest
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.object import AddressOwner, MovePackage, Shared

TOOLS = Package(Address.of(0xB), Address.of(0xA))


@pytest.mark.parametrize(
    ("package", "modules"), [(load_package(), 28), (load_workflows(TOOLS), 12)]
)
def test_shipped_package_has_the_digest_of_its_modules(package, modules):
    assert len(package.modules) == modules
    assert package_digest(package.modules, package.dependencies) == package.digest


def test_workflows_name_first_and_link_newest_version_of_tools():
    package = load_workflows(TOOLS)
    addresses = {address for code in package.modules for address in deserialize(code).addresses}
    assert TOOLS.original_id in addresses
    assert TOOLS.id not in addresses
    assert TOOLS.id in package.dependencies
    assert TOOLS.original_id not in package.dependencies


def test_load_package_has_hint_if_missing(monkeypatch, tmp_path):
    load_package.cache_clear()
    monkeypatch.setattr("nexus_tools.contracts.compiled.files", lambda _: tmp_path)
    with pytest.raises(NotFoundError) as caught:
        load_package()
    assert caught.value.code == "package_missing"
    monkeypatch.undo()
    load_package.cache_clear()


async def test_deployment_of_finds_package_and_shared_objects(admin, chain):
    deployment = chain.deployment
    shared = {
        deployment.tool_registry: ToolRegistry,
        deployment.leader_registry: LeaderRegistry,
        deployment.admin: Admin,
    }
    package, upgrade_cap, *shared_objects = await admin.objects(
        [deployment.package_id, deployment.upgrade_cap, *shared]
    )
    assert isinstance(package.data, MovePackage)
    assert upgrade_cap.owner == AddressOwner(admin.address)
    for value, kind in zip(shared_objects, shared.values(), strict=True):
        assert isinstance(value.owner, Shared)
        assert value.type == deployment.type_of(kind)
    assert deployment.decode(shared_objects[-1], Admin).owner.owner == admin.address
    assert deployment.chain_id == await admin.chain_id()


def test_deployment_round_trips_as_json(chain):
    text = json.dumps(chain.deployment.as_json())
    assert Deployment.parse(json.loads(text)) == chain.deployment


def test_deployment_accepts_unknown_upgrade_cap(chain):
    deployment = Deployment.parse(chain.deployment.as_json() | {"upgrade_cap": None})
    with pytest.raises(NotFoundError) as caught:
        deployment.require_upgrade_cap()
    assert caught.value.code == "upgrade_cap_unknown"


@pytest.mark.parametrize("change", [{"package_id": 5}, {"tool_registry": "nonsense"}])
def test_parse_rejects_invalid_field(chain, change):
    with pytest.raises(ValidationError):
        Deployment.parse(chain.deployment.as_json() | change)


def test_parse_rejects_missing_field(chain):
    document = chain.deployment.as_json()
    del document["tool_registry"]
    with pytest.raises(ValidationError, match="tool_registry"):
        Deployment.parse(document)


async def test_decode_names_the_package_of_an_object_of_another_deployment(admin, chain):
    value = await admin.object(chain.deployment.admin)
    other = structs.replace(chain.deployment, original_id=Address.of(0xA))
    with pytest.raises(ValidationError) as caught:
        other.decode(value, Admin)
    assert caught.value.code == "object_of_another_type"
    assert f"of another package, {chain.deployment.original_id}" in caught.value.message
    assert "nexus-tools package show" in caught.value.hint
