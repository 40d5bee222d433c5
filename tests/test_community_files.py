"""The files that GitHub and citation tools read."""

import tomllib
from pathlib import Path

import pytest
import yaml

import nexus_tools
from releasing import artifacts

ROOT = Path(__file__).parent.parent
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*_*.yml"))
# https://docs.github.com/communities/using-templates-to-encourage-useful-issues-and-pull-requests
FIELD_TYPES = {"checkboxes", "dropdown", "input", "markdown", "textarea"}


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_issue_form_has_the_fields_that_github_requires(path):
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert form["name"]
    assert form["description"]
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    assert fields, "GitHub refuses a form with only Markdown"
    assert {field["type"] for field in form["body"]} <= FIELD_TYPES
    assert all(field["attributes"]["label"] for field in fields)
    ids = [field["id"] for field in fields]
    assert len(ids) == len(set(ids))


def test_citation_has_the_version_and_licence_of_the_package():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert citation["version"] == nexus_tools.__version__
    assert citation["license"] == project["license"]
    assert citation["title"] == project["name"]
    assert citation["authors"] == project["authors"]


def test_security_policy_shows_how_a_release_is_verified():
    policy = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    shown = artifacts.verification("IDENTITY").split(" && ")
    assert "\n".join(shown) in policy
