"""Metadata that the bundle and the registry entry share, from pyproject.toml."""

import tomllib
from pathlib import Path
from typing import Any

from nexus_tools import __version__

ROOT = Path(__file__).parents[2]
NAME = "nexus-tools"
BUNDLE_FILE = f"{NAME}.mcpb"
VERSION = __version__
DESCRIPTION = "Find and call the tools and workflows that are registered on Sui."
"""The description. The MCP registry accepts at most 100 characters."""


def project() -> dict[str, Any]:
    """Return the table `project` of pyproject.toml."""
    document = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return dict(document["project"])
