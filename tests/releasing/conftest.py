"""A small project in a repository of its own."""

import subprocess

import pytest

from releasing.checks import git

PYPROJECT = """\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "nexus-tools"
version = "1.2.3"

[tool.setuptools]
packages = ["nexus_tools"]
"""
CHANGELOG = "# Changelog\n\n## 1.2.3 (2026-11-30)\n\n- Something new.\n"


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """Return a project that can be released."""
    root = tmp_path / "repository"
    (root / "nexus_tools").mkdir(parents=True)
    (root / "nexus_tools" / "__init__.py").write_text('__version__ = "1.2.3"\n')
    (root / "nexus_tools" / "run.py").write_text("#!/usr/bin/env python3\n")
    (root / "nexus_tools" / "run.py").chmod(0o755)
    (root / "pyproject.toml").write_text(PYPROJECT)
    (root / ".gitignore").write_text("dist/\n")
    (root / "CHANGELOG.md").write_text(CHANGELOG)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Ada")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "ada@example.com")
        monkeypatch.setenv(f"GIT_{role}_DATE", "2026-11-30T08:00:00Z")
    git(root, "init", "--quiet")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "Create the project")
    return root


@pytest.fixture
def key(tmp_path):
    """Return a new SSH key without a passphrase."""
    file = tmp_path / "key"
    command = ("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "ada", "-f", str(file))
    subprocess.run(command, check=True)
    return file
