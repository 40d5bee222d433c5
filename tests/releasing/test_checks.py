import pytest

from releasing.checks import git, problems, tag_of, version_of


def test_project_with_a_new_version_can_be_released(repository):
    assert version_of(repository) == "1.2.3"
    assert list(problems(repository)) == []


def write_version(root, version):
    (root / "nexus_tools" / "__init__.py").write_text(f'__version__ = "{version}"\n')
    (root / "CHANGELOG.md").write_text(f"## {version} (2026-11-30)\n")
    git(root, "commit", "--quiet", "--all", "--message", "Change the version")


@pytest.mark.parametrize(
    ("version", "is_final"),
    [("1.2.4", True), ("2.0.0rc1", True), ("1.2", False), ("1.2.4.dev1", False)],
)
def test_version_must_be_final(repository, version, is_final):
    write_version(repository, version)
    assert (list(problems(repository)) == []) is is_final


@pytest.mark.parametrize(("name", "status"), [("new.py", "??"), ("CHANGELOG.md", "M")])
def test_tree_with_changes_cannot_be_released(repository, name, status):
    with (repository / name).open("a") as file:
        file.write("# a change\n")
    assert list(problems(repository)) == [f"the tree has uncommitted changes: {status} {name}"]


def test_version_with_a_tag_cannot_be_released(repository):
    git(repository, "tag", tag_of("1.2.3"))
    assert list(problems(repository)) == ["the tag v1.2.3 already exists; set a new __version__"]


@pytest.mark.parametrize("heading", ["## 1.2.3 (unreleased)", "## 1.2.30 (2026-11-30)", ""])
def test_changelog_must_have_the_version_with_its_date(repository, heading):
    (repository / "CHANGELOG.md").write_text(f"# Changelog\n\n{heading}\n")
    git(repository, "commit", "--quiet", "--all", "--message", "Change the changelog")
    [problem] = problems(repository)
    assert "CHANGELOG.md has no heading `## 1.2.3 (YYYY-MM-DD)`" in problem


def test_sources_without_a_version_are_refused(repository):
    (repository / "nexus_tools" / "__init__.py").write_text("")
    with pytest.raises(ValueError, match="does not set __version__"):
        version_of(repository)
