"""Checks of the repository before a release."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

_VERSION = re.compile(r'^__version__ = "([^"]+)"$', re.MULTILINE)
_FINAL = re.compile(r"\d+(\.\d+){2}((a|b|rc)\d+)?")
_DATE = r"\d{4}-\d{2}-\d{2}"


def git(root: Path, *words: str) -> str:
    """Return the output of a git command in a repository."""
    command = ("git", "-C", str(root), *words)
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def version_of(root: Path) -> str:
    """Return the version in the sources. Raises `ValueError` if it is missing."""
    text = (root / "nexus_tools" / "__init__.py").read_text(encoding="utf-8")
    found = _VERSION.search(text)
    if found is None:
        raise ValueError("nexus_tools/__init__.py does not set __version__")
    return found[1]


def tag_of(version: str) -> str:
    """Return the name of the tag of a version."""
    return f"v{version}"


def problems(root: Path) -> Iterator[str]:
    """Yield the reasons why the commit that is checked out cannot be released."""
    version = version_of(root)
    if not _FINAL.fullmatch(version):
        yield f"the version {version} is not of the form 1.2.3 or 1.2.3rc1"
    changes = git(root, "status", "--porcelain").splitlines()
    if changes:
        more = f" and {len(changes) - 1} more" if len(changes) > 1 else ""
        yield f"the tree has uncommitted changes: {changes[0]}{more}"
    if git(root, "tag", "--list", tag_of(version)):
        yield f"the tag {tag_of(version)} already exists; set a new __version__"
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    if not re.search(rf"^## {re.escape(version)} \({_DATE}\)$", changelog, re.MULTILINE):
        yield f"CHANGELOG.md has no heading `## {version} (YYYY-MM-DD)`"
