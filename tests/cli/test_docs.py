"""The page of the command line has what commands share; the reference is made of the commands."""

import re
from pathlib import Path

import click
import pytest

from nexus_tools.cli.app import app
from nexus_tools.errors import NexusError
from nexus_tools.settings.settings_file import KEYS
from website.commands import leaves

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "cli.md").read_text()
NOUNS = sorted(app.list_commands(None))
SHARED = {"--json", "--quiet", "--network", "--wallet", "--yes", "--dry-run", "--help"}


@pytest.mark.parametrize("option", sorted(SHARED))
def test_shared_options_are_explained_on_the_page(option):
    assert f"`{option}`" in PAGE


@pytest.mark.parametrize("kind", [NexusError, *NexusError.__subclasses__()])
def test_exit_codes_are_explained_on_the_page(kind):
    assert re.search(rf"^\| {kind.exit_code} \|", PAGE, re.MULTILINE)


@pytest.mark.parametrize("key", KEYS)
def test_settings_are_explained_with_their_variables(key):
    assert f"`{key}`" in PAGE
    assert f"`NEXUS_TOOLS_{key.upper()}`" in PAGE


@pytest.mark.parametrize("noun", NOUNS)
def test_nouns_are_listed_on_the_page(noun):
    assert re.search(rf"^\| .*`{noun}`", PAGE, re.MULTILINE)


@pytest.mark.parametrize(("name", "command"), list(leaves(app)), ids=str)
def test_commands_and_options_have_help(name, command):
    assert command.help, name
    for parameter in command.params:
        hidden = isinstance(parameter, click.Argument) or parameter.hidden
        assert hidden or parameter.help, parameter.name
