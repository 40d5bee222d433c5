"""Commands on a deployment that another release has published."""

from dataclasses import replace

import pytest
from msgspec import structs

from nexus_tools import contracts
from nexus_tools.contracts import shipped_packages
from nexus_tools.sui.bytecode import deserialize, serialize


@pytest.fixture
def deployed_by_another_release(author, monkeypatch):
    """Publish packages in which a collateral has a field with another name."""

    def renamed(code):
        module = deserialize(code)
        if module.name != "collateral":
            return code
        names = tuple(
            "lost" if name == "locked_for_slash_mist" else name for name in module.identifiers
        )
        return serialize(structs.replace(module, identifiers=names))

    shipped, workflows = shipped_packages()
    other = replace(shipped, modules=tuple(map(renamed, shipped.modules)))
    assert other.modules != shipped.modules
    with monkeypatch.context() as patched:
        patched.setattr(contracts, "shipped_packages", lambda: (other, workflows))
        return author.json("package", "publish", "--republish", "--free", "--yes")


@pytest.mark.parametrize(
    "command",
    [("tool", "list"), ("leader", "status"), ("status",), ("tool", "invoke", "xyz.example.add@1")],
)
def test_command_names_the_incompatible_package(author, deployed_by_another_release, command):
    result = author.run(*command, "--json")
    assert (result.code, result.error["code"]) == (7, "package_incompatible")
    assert deployed_by_another_release["package_id"] in result.error["message"]
    assert "collateral: the type" in result.error["message"]
    assert "nexus-tools package publish" in result.error["hint"]


def test_doctor_names_the_incompatible_package(author, deployed_by_another_release):
    result = author.run("doctor")
    assert deployed_by_another_release["package_id"] in result.stdout + result.stderr
    assert result.code == 1
