import hashlib
import sys

import pytest

from releasing import __main__ as command
from releasing.checks import git

pytestmark = pytest.mark.long


@pytest.fixture
def release(repository, monkeypatch):
    """Return a function that runs `scripts/release` in the repository without downloads."""
    monkeypatch.setattr(command, "ROOT", repository)
    monkeypatch.setattr(command, "DIST", repository / "dist")

    def run(*options):
        monkeypatch.setattr(sys, "argv", ["release", "--skip-install", *map(str, options)])
        return command.main()

    return run


def test_release_writes_signed_archives_and_names_the_remaining_steps(
    release, repository, key, capfd
):
    commit = git(repository, "rev-parse", "HEAD")
    assert release("--key", key) == 0
    assert sorted(file.name for file in (repository / "dist").iterdir()) == [
        "SHA256SUMS",
        "SHA256SUMS.sig",
        "nexus-tools.mcpb",
        "nexus_tools-1.2.3-py3-none-any.whl",
        "nexus_tools-1.2.3.tar.gz",
    ]
    digest = hashlib.sha256((repository / "dist" / "nexus-tools.mcpb").read_bytes()).hexdigest()
    said = capfd.readouterr().out
    assert f"{digest}  nexus-tools.mcpb\n" in said
    assert f"git tag --sign v1.2.3 {commit}" in said
    assert "twine upload" in said
    assert "nexus-tools-leader:1.2.3" in said
    assert "scripts/server_json io.github.OWNER/nexus-tools" in said


def test_release_refuses_a_commit_with_problems(release, repository, capfd):
    (repository / "new.py").touch()
    git(repository, "tag", "v1.2.3")
    assert release() == 1
    assert capfd.readouterr().err.splitlines() == [
        "release: error: the tree has uncommitted changes: ?? new.py",
        "release: error: the tag v1.2.3 already exists; set a new __version__",
    ]
    assert not (repository / "dist").exists()


def test_dry_run_builds_a_commit_with_problems_and_keeps_nothing(release, repository, capfd):
    (repository / "new.py").touch()
    assert release("--dry-run") == 0
    assert not (repository / "dist").exists()
    shown = capfd.readouterr()
    assert "warning: the tree has uncommitted changes" in shown.err
    assert "nexus_tools-1.2.3.tar.gz" in shown.out


def test_release_fails_if_the_project_cannot_be_built(release, repository, capfd):
    (repository / "pyproject.toml").write_text("[project]\nname = 'nexus-tools'\n")
    git(repository, "commit", "--quiet", "--all", "--message", "Break the build")
    assert release() == 1
    assert "release: error: " in capfd.readouterr().err
    assert not (repository / "dist").exists()


def test_release_fails_before_the_build_if_the_key_is_missing(release, tmp_path, capfd):
    with pytest.raises(SystemExit) as ended:
        release("--key", tmp_path / "absent")
    assert ended.value.code == 2
    shown = capfd.readouterr().err
    assert "absent does not exist" in shown
    assert "building" not in shown


def test_release_fails_if_the_key_cannot_sign(release, repository, tmp_path, capfd):
    (tmp_path / "key").write_text("not a key")
    assert release("--dry-run", "--key", tmp_path / "key") == 1
    assert "release: error: " in capfd.readouterr().err


def test_release_replaces_an_older_release(release, repository):
    (repository / "dist").mkdir()
    (repository / "dist" / "nexus_tools-1.2.2.tar.gz").touch()
    assert release() == 0
    assert not (repository / "dist" / "nexus_tools-1.2.2.tar.gz").exists()
