"""`requirements.lock`: it fits pyproject.toml, has a hash for everything, and names no registry."""

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
    """The entries of the lock: each a requirement that names one version."""
    text = (ROOT / "requirements.lock").read_text().replace("\\\n   ", "")
    entries = [ENTRY.fullmatch(re.sub(" +", " ", line)) for line in text.splitlines()]
    assert all(entries)
    return [Requirement(each["pin"]) for each in entries]


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
    """What the project, its extras and its build require; not itself."""
    project = PROJECT["project"]
    extras = project["optional-dependencies"].values()
    listed = [project["dependencies"], PROJECT["build-system"]["requires"], *extras]
    found = [Requirement(each) for group in listed for each in group]
    return [each for each in found if each.name != project["name"]]


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_lock_has_one_version_that_fits_for_each_requirement(locked, version):
    pins = {}
    for each in locked:
        if applies(each, version):
            assert canonicalize_name(each.name) not in pins
            [pin] = each.specifier
            assert pin.operator == "=="
            pins[canonicalize_name(each.name)] = pin.version
    for each in wanted():
        if applies(each, version):
            assert pins[canonicalize_name(each.name)] in each.specifier, f"run scripts/lock: {each}"


def test_supported_versions_of_python_are_those_that_are_checked():
    assert PROJECT["project"]["requires-python"] == ">=3.11,<3.14"


def test_lock_names_no_registry():
    text = (ROOT / "requirements.lock").read_text()
    assert "://" not in text
    assert not re.search(r"^\s*--(?!hash=)", text, re.MULTILINE)
