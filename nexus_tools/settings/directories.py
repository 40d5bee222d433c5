"""The directories of a user's files, from the XDG Base Directory Specification 0.8."""

import os
from pathlib import Path

_NAME = "nexus-tools"


def config_directory() -> Path:
    """Return the directory of the user's configuration."""
    return _directory("XDG_CONFIG_HOME", ".config")


def data_directory() -> Path:
    """Return the directory of persistent data: keys, journals, and the localnet's log."""
    return _directory("XDG_DATA_HOME", ".local/share")


def cache_directory() -> Path:
    """Return the directory of files that can be created again, such as the Move compiler."""
    return _directory("XDG_CACHE_HOME", ".cache")


def sui_config_directory() -> Path:
    """Return the directory where the Sui CLI stores networks and keys."""
    own = os.environ.get("SUI_CONFIG_DIR")
    return Path(own) if own else Path.home() / ".sui" / "sui_config"


def pysui_directory() -> Path:
    """Return the default directory where pysui stores networks and keys."""
    return Path.home() / ".pysui"


def _directory(variable: str, default: str) -> Path:
    base = os.environ.get(variable)
    return (Path(base) if base else Path.home() / default) / _NAME
