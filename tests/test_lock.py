"""`requirements.lock` matches pyproject.toml, has a hash for everything, and names no registry."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
ENTRY = re.compile(r"(?P<pin>[^\\]+?)(?P<hashes>(?: --hash=sha256:[0-9a-f]{64})+)")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


@pytest.fixture(scope="module")
def locked():
    """Return the entries of the lock: requirements that each name one version."""
    text = (ROOT / "requirements.lock").read_text().replace("\\\n   ", "")
    entries = [ENTRY.fullmatch(re.sub(" +", " ", line)) for line in text.splitlines()]
    assert all(entries)
    return [Requirement(entry["pin"]) for entry in entries]


def test_tools_of_releases_are_locked_with_hashes():
    text = (ROOT / "scripts/releasing/requirements.lock").read_text().replace("\\\n   ", "")
    entries = [ENTRY.fullmatch(re.sub(" +", " ", line)) for line in text.splitlines()]
    assert all(entries)
    pins = {canonicalize_name(Requirement(entry["pin"]).name) for entry in entries}
    wanted = (ROOT / "scripts/releasing/requirements.in").read_text().splitlines()
    names = {canonicalize_name(Requirement(line).name) for line in wanted if line[0] != "#"}
    assert names <= pins, "run scripts/lock"


def environment(version):
    return default_environment() | {
        "python_version": version,
        "python_full_version": f"{version}.5",
        "sys_platform": "linux",
        "extra": "",
    }


def applies(requirement, version):
    return requirement.marker is None or requirement.marker.evaluate(environment(version))


def wanted():
    """Return the requirements of the project, its extras and its build, without itself."""
    project = PROJECT["project"]
    extras = project["optional-dependencies"].values()
    listed = [project["dependencies"], PROJECT["build-system"]["requires"], *extras]
    found = [Requirement(text) for group in listed for text in group]
    return [requirement for requirement in found if requirement.name != project["name"]]


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_lock_has_one_matching_version_for_each_requirement(locked, version):
    pins = {}
    for requirement in locked:
        if applies(requirement, version):
            assert canonicalize_name(requirement.name) not in pins
            [pin] = requirement.specifier
            assert pin.operator == "=="
            pins[canonicalize_name(requirement.name)] = pin.version
    for requirement in wanted():
        if applies(requirement, version):
            assert pins[canonicalize_name(requirement.name)] in requirement.specifier, (
                f"run scripts/lock: {requirement}"
            )


def test_supported_python_versions_are_those_that_are_checked():
    assert PROJECT["project"]["requires-python"] == ">=3.11,<3.14"


@pytest.mark.parametrize("folder", [ROOT, ROOT / "scripts" / "releasing"])
def test_lock_names_no_registry(folder):
    text = (folder / "requirements.lock").read_text()
    assert "://" not in text
    assert not re.search(r"^\s*--(?!hash=)", text, re.MULTILINE)
