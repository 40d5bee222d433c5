"""Command groups that import a command when it is called, so that `--help` stays fast."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem

from nexus_tools.sui.support.suggestions import with_suggestion

_MEANINGS = {
    "add": ("new", "create", "register"),
    "begin": ("start", "run", "create"),
    "create": ("new", "register", "publish"),
    "delete": ("remove", "clean", "cancel", "unregister"),
    "describe": ("show",),
    "end": ("cancel", "stop", "unregister"),
    "get": ("show", "list"),
    "info": ("show", "status"),
    "inspect": ("show",),
    "kill": ("cancel", "stop"),
    "ls": ("list",),
    "rm": ("remove", "clean", "cancel"),
    "send": ("transfer",),
    "start": ("run", "create", "serve"),
    "status": ("show", "list"),
    "stop": ("cancel", "deactivate", "unregister"),
    "test": ("validate", "simulate"),
    "withdraw": ("claim",),
}
"""Verbs of other programs, and our verbs with the same meaning, the most likely first."""

_OPTION_MEANINGS = {
    "--name": ("--network", "--leader"),
    "--port": ("--bind", "--health-port"),
    "--host": ("--bind", "--health-host"),
}
"""Options that some commands do not have, and the options to suggest instead."""


class LazyGroup(click.Group):
    """A group of commands with their summaries.

    Each command is the attribute `command` of a module in the package `home`. The module has the
    name of the command. `places` maps other commands to their location in `home`, which is written
    as `module:attribute`.
    """

    def __init__(
        self,
        *args: Any,
        home: str,
        summaries: Mapping[str, str],
        places: Mapping[str, str] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._home = home
        self._summaries = summaries
        self._places = places or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands in the order of their summaries."""
        return [*self._summaries, *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command's module and return the command."""
        if cmd_name not in self._summaries:
            return super().get_command(ctx, cmd_name)
        module, _, attribute = self._places.get(cmd_name, cmd_name).partition(":")
        command = getattr(import_module(f"{self._home}.{module}"), attribute or "command")
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands with their summaries, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, self._summaries[name]) for name in self.list_commands(ctx)])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete commands with their summaries, without importing them."""
        names = [name for name in self.list_commands(ctx) if name.startswith(incomplete)]
        items = [CompletionItem(name, help=self._summaries.get(name)) for name in names]
        return [*items, *click.Command.shell_complete(self, ctx, incomplete)]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolve a command like click, and suggest a similar name if it does not exist."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            known, word = self.list_commands(ctx), args[0]
            message = with_suggestion(error.message, word, known)
            meant = next((meaning for meaning in _MEANINGS.get(word, ()) if meaning in known), None)
            if message == error.message and meant is not None:
                message = with_suggestion(message, meant, [meant])
            raise click.UsageError(message, ctx) from error


def usage_message(error: click.ClickException) -> str:
    """Return the message of a usage error, with a suggestion for an unknown option."""
    message = error.format_message()
    if not isinstance(error, click.NoSuchOption) or error.possibilities:
        return message
    command = error.ctx.command if error.ctx else None
    known = {name for parameter in getattr(command, "params", ()) for name in parameter.opts}
    meant = [meaning for meaning in _OPTION_MEANINGS.get(error.option_name, ()) if meaning in known]
    return with_suggestion(message, f"'{meant[0]}'", [f"'{meant[0]}'"]) if meant else message
