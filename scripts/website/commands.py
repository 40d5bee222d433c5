"""The reference of the command line, generated from its commands."""

from collections.abc import Iterator
from inspect import cleandoc

import click

from nexus_tools.cli.app import app
from website.cells import cell

SHARED = {"--json", "--quiet", "--network", "--wallet", "--yes", "--dry-run"}
INTRODUCTION = """For users of `nexus-tools` on the command line: each command with its options.

[A separate page](cli.md) describes options of many commands, exit codes and settings."""


def leaves(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    """Yield all commands that are not groups, with their names after `nexus-tools`."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from leaves(command, (*path, name))
        elif command is not None and not command.hidden:
            yield " ".join((*path, name)), command


def page() -> str:
    """Return the page."""
    sections = (_section(name, command) for name, command in leaves(app))
    return "\n".join(("# All commands\n", INTRODUCTION + "\n", *sections))


def _section(name: str, command: click.Command) -> str:
    arguments = [param for param in command.params if isinstance(param, click.Argument)]
    usage = " ".join(
        (name, *(argument.make_metavar(click.Context(command)) for argument in arguments))
    )
    options = [param for param in command.params if isinstance(param, click.Option)]
    lines = [
        _option(option) for option in options if not (option.hidden or SHARED & {*option.opts})
    ]
    table = ["| Option | Description |", "|---|---|", *lines] if lines else []
    help_text = cleandoc((command.help or "").replace("\b\n", ""))
    return "\n".join(
        (f"## nexus-tools {name}\n", f"`nexus-tools {usage}`\n", help_text, "", *table, "")
    )


def _option(option: click.Option) -> str:
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    value = "" if option.is_flag else f" `{cell(option.make_metavar(click.Context(app)))}`"
    variable = f" (`{option.envvar}`)" if isinstance(option.envvar, str) else ""
    return f"| {names}{value}{variable} | {cell(option.help or '')} |"
