"""Groups whose commands are imported when they are called, so that `--help` is there at once."""

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
"""Verbs that other programs have, and those of ours that do the same, the likeliest first."""

_OPTION_MEANINGS = {
    "--name": ("--network", "--leader"),
    "--port": ("--bind", "--health-port"),
    "--host": ("--bind", "--health-host"),
}
"""Options that other commands have, and those that mean the same where they do not exist."""


class LazyGroup(click.Group):
    """A group of commands by their summaries, each `command` in the module of its name in `home`.

    `places` has those that are elsewhere in `home`, as `module:attribute`.
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
        """The names in the order in which they were given."""
        return [*self._summaries, *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command's module."""
        if cmd_name not in self._summaries:
            return super().get_command(ctx, cmd_name)
        module, _, attribute = self._places.get(cmd_name, cmd_name).partition(":")
        command = getattr(import_module(f"{self._home}.{module}"), attribute or "command")
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by their summaries, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, self._summaries[name]) for name in self.list_commands(ctx)])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The names that begin so with their summaries, without importing the commands."""
        names = [name for name in self.list_commands(ctx) if name.startswith(incomplete)]
        items = [CompletionItem(name, help=self._summaries.get(name)) for name in names]
        return [*items, *click.Command.shell_complete(self, ctx, incomplete)]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, with a suggestion for a misspelt name."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            known, word = self.list_commands(ctx), args[0]
            message = with_suggestion(error.message, word, known)
            meant = next((each for each in _MEANINGS.get(word, ()) if each in known), None)
            if message == error.message and meant is not None:
                message = with_suggestion(message, meant, [meant])
            raise click.UsageError(message, ctx) from error


def usage_message(error: click.ClickException) -> str:
    """Return the message of an error, with the option that means what an unknown one does."""
    message = error.format_message()
    if not isinstance(error, click.NoSuchOption) or error.possibilities:
        return message
    command = error.ctx.command if error.ctx else None
    known = {name for each in getattr(command, "params", ()) for name in each.opts}
    meant = [each for each in _OPTION_MEANINGS.get(error.option_name, ()) if each in known]
    return with_suggestion(message, f"'{meant[0]}'", [f"'{meant[0]}'"]) if meant else message
