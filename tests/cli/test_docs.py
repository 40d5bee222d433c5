"""The page of the command line has every command and every option."""

import re
from pathlib import Path

import click
import pytest

from nexus_tools.cli.app import app
from nexus_tools.errors import NexusError
from nexus_tools.settings import KEYS

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text()
SHARED = {"--json", "--quiet", "--network", "--wallet", "--yes", "--dry-run", "--help"}


def leaves(group, path=()):
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from leaves(command, (*path, name))
        else:
            yield pytest.param(" ".join((*path, name)), command, id=" ".join((*path, name)))


COMMANDS = list(leaves(app))


def section(name):
    """What the page says about a command: from its heading to the next one."""
    match = re.search(
        rf"^### `nexus-tools {re.escape(name)}[ `](.*?)(?=^##)", PAGE, re.MULTILINE | re.DOTALL
    )
    assert match, f"docs/cli.md has no section on {name}"
    return match[0]


def introduction(group):
    """What the page says about a group before its first command, as options that all share."""
    return re.search(rf"^## {group}$(.*?)^###", PAGE, re.MULTILINE | re.DOTALL)[1]


@pytest.mark.parametrize(("name", "command"), COMMANDS)
def test_a_command_stands_on_the_page_with_its_options(name, command):
    text = section(name)
    explained = text + introduction(name.split()[0])
    for parameter in command.params:
        if isinstance(parameter, click.Argument):
            assert (parameter.metavar or parameter.name.upper()) in text
        elif not parameter.hidden and not SHARED & set(parameter.opts):
            assert f"`{parameter.opts[0]}" in explained, parameter.opts[0]
            assert parameter.help


@pytest.mark.parametrize(("name", "command"), COMMANDS)
def test_a_section_names_no_option_that_the_command_does_not_have(name, command):
    known = {option for one in command.params for option in one.opts} | SHARED
    named = set(re.findall(r"^\* `(--[a-z-]+)", section(name), re.MULTILINE))
    assert named <= known


def test_the_page_names_no_command_that_does_not_exist():
    named = re.findall(r"^### `nexus-tools ([a-z -]+?)(?: [A-Z\[].*)?`$", PAGE, re.MULTILINE)
    assert sorted(named) == sorted(one.values[0] for one in COMMANDS)


@pytest.mark.parametrize("option", sorted(SHARED))
def test_the_options_of_many_commands_are_explained(option):
    assert f"`{option}`" in PAGE


@pytest.mark.parametrize("kind", [NexusError, *NexusError.__subclasses__()])
def test_every_exit_code_is_explained(kind):
    assert re.search(rf"^\| {kind.exit_code} \|", PAGE, re.MULTILINE)


@pytest.mark.parametrize("key", KEYS)
def test_every_setting_is_explained_with_its_variable(key):
    assert f"`{key}`" in PAGE
    assert f"`NEXUS_TOOLS_{key.upper()}`" in PAGE
