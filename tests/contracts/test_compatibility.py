"""Deployments whose packages differ from those of this release."""

import pytest
from msgspec.structs import replace as struct_replace

from nexus_tools.contracts import Publisher, check_compatibility, load_package
from nexus_tools.errors import ValidationError
from nexus_tools.sui.bytecode import deserialize, serialize


def changed_package(change):
    """Return the shipped package after `change` of one module's names: old -> new."""

    def changed(code):
        module = deserialize(code)
        names = tuple(change.get((module.name, name), name) for name in module.identifiers)
        return serialize(struct_replace(module, identifiers=names))

    shipped = load_package()
    return type(shipped)(tuple(map(changed, shipped.modules)), shipped.dependencies, shipped.digest)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({("invocation", "max_outcome_bytes"): "most_bytes"}, "invocation: the type Invocation"),
        (
            {("collateral", "is_sufficient"): "whole", ("leader", "is_sufficient"): "whole"},
            "collateral: ",
        ),
    ],
)
async def test_check_raises_when_a_package_has_another_layout_or_lacks_a_function(
    user, tmp_path, change, reason
):
    names = {name: new for (_, name), new in change.items()}
    every = {
        (deserialize(code).name, name): new
        for code in load_package().modules
        for name, new in names.items()
    }
    deployment = (await Publisher(user).publish_tools(changed_package(every))).deployment
    for _ in range(2):  # the second check is not cached either
        with pytest.raises(ValidationError, match=reason) as caught:
            await check_compatibility(user, deployment, tmp_path)
        assert caught.value.code == "package_incompatible"
        assert str(deployment.package_id) in caught.value.message
        assert "package publish" in caught.value.hint


async def test_check_accepts_the_shipped_package_and_its_upgrades(
    admin, chain, next_package, tmp_path
):
    await check_compatibility(admin, chain.deployment, tmp_path)
    upgraded = await Publisher(admin).upgrade(next_package, chain.deployment)
    await check_compatibility(admin, upgraded.deployment, tmp_path)


async def test_check_reads_each_package_once(admin, chain, tmp_path, monkeypatch):
    await check_compatibility(admin, chain.deployment, tmp_path)
    monkeypatch.setattr(admin, "objects", None)
    await check_compatibility(admin, chain.deployment, tmp_path)
    assert {path.name for path in tmp_path.rglob("0x*")} == {
        str(package.id) for _, package in chain.deployment.packages
    }


async def test_check_works_when_the_cache_cannot_be_written(admin, chain, tmp_path):
    (tmp_path / "file").write_text("not a folder")
    await check_compatibility(admin, chain.deployment, tmp_path / "file")
