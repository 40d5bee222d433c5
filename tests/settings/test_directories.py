from pathlib import Path

import pytest

from nexus_tools.settings.directories import cache_directory, config_directory, data_directory

DIRECTORIES = [
    (config_directory, "XDG_CONFIG_HOME", ".config"),
    (data_directory, "XDG_DATA_HOME", ".local/share"),
    (cache_directory, "XDG_CACHE_HOME", ".cache"),
]


@pytest.mark.parametrize(("directory", "variable", "default"), DIRECTORIES)
@pytest.mark.parametrize("value", [None, ""])
def test_directory_defaults_to_home(monkeypatch, directory, variable, default, value):
    monkeypatch.setenv("HOME", "/home/ann")
    if value is None:
        monkeypatch.delenv(variable, raising=False)
    else:
        monkeypatch.setenv(variable, value)
    assert directory() == Path("/home/ann") / default / "nexus-tools"


@pytest.mark.parametrize(("directory", "variable", "default"), DIRECTORIES)
def test_variable_overrides_directory(monkeypatch, directory, variable, default):
    monkeypatch.setenv(variable, "/elsewhere")
    assert directory() == Path("/elsewhere/nexus-tools")
