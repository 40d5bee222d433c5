"""The modules of a package that is published again: they passed before, in another package."""

import pytest

from nexus_tools.sui.bytecode import deserialize, relocate_module, serialize
from nexus_tools.sui.localnet.framework import load_framework
from nexus_tools.sui.localnet.verifier import VerificationError, VerifiedModules, verify_package
from nexus_tools.sui.types.address import Address
from tests.sui.localnet.execution.packages.test_verification_limits import slow_module


@pytest.fixture
def modules_at():
    """Return a function that relocates modules, and returns them with their bytes."""

    def relocate_all(address, *modules):
        files = [serialize(module) for module in modules]
        return [
            relocate_module(data, deserialize(data), Address.of(address))[::-1] for data in files
        ]

    return relocate_all


@pytest.fixture
def count_verifications(monkeypatch):
    """Return the list of the modules that are verified without their dependencies."""
    from nexus_tools.sui.localnet.verifier import verified_modules, verifier

    verify, names = verifier._verify_alone, []
    monkeypatch.setattr(verified_modules, "_verified", {})
    monkeypatch.setattr(
        verifier, "_verify_alone", lambda module: names.append(module.name) or verify(module)
    )
    return names


def verify(modules, dependencies=lambda _: None):
    verify_package([module for module, _ in modules], dependencies, VerifiedModules(modules))


def test_module_is_verified_once_whatever_its_package_is(modules_at, count_verifications):
    for package in (1 << 70, 1 << 71):
        verify(modules_at(package, slow_module("a")))
    assert count_verifications == ["a"]


def test_module_of_other_contents_is_verified(modules_at, count_verifications):
    for name in ("a", "b"):
        verify(modules_at(1 << 70, slow_module(name)))
    assert count_verifications == ["a", "b"]


def test_module_of_a_system_package_is_always_verified(modules_at, count_verifications):
    for package in (2, 3):
        verify(modules_at(package, slow_module("a")))
    assert count_verifications == ["a", "a"]


def test_known_modules_count_towards_the_limit_of_a_package(modules_at):
    for name in ("a", "b", "c"):
        verify(modules_at(1 << 70, slow_module(name)))
    with pytest.raises(VerificationError, match="Ticks exceeded"):
        verify(modules_at(1 << 71, *map(slow_module, ("a", "b", "c"))))


def test_known_module_is_checked_against_its_dependencies(world, modules_at):
    framework = {
        (bytes(package.address), module.name): module
        for package in load_framework().values()
        for module in map(deserialize, package.modules)
    }
    probe = deserialize(world.probe_modules["probe"])
    verify(modules_at(1 << 70, probe), framework.get)
    with pytest.raises(VerificationError) as caught:
        verify(modules_at(1 << 71, probe))
    assert caught.value.status == "MISSING_DEPENDENCY"
