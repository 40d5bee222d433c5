"""Where the files of a user are: ours by the XDG Base Directory Specification 0.8."""

import os
from pathlib import Path

_NAME = "nexus-tools"


def config_directory() -> Path:
    """For what the user has set."""
    return _directory("XDG_CONFIG_HOME", ".config")


def data_directory() -> Path:
    """For what is to be kept: keys, journals, the localnet's log."""
    return _directory("XDG_DATA_HOME", ".local/share")


def cache_directory() -> Path:
    """For what can be made or fetched again: the compiler."""
    return _directory("XDG_CACHE_HOME", ".cache")


def sui_config_directory() -> Path:
    """Where the Sui CLI keeps networks and keys."""
    own = os.environ.get("SUI_CONFIG_DIR")
    return Path(own) if own else Path.home() / ".sui" / "sui_config"


def pysui_directory() -> Path:
    """Where pysui keeps networks and keys, unless a program of its user says otherwise."""
    return Path.home() / ".pysui"


def _directory(variable: str, default: str) -> Path:
    base = os.environ.get(variable)
    return (Path(base) if base else Path.home() / default) / _NAME
