"""Hints that repeat the `--network`, `--wallet` and `--signer` options of the running command."""

import re
import shlex

import click

_OURS = "nexus-tools "
_COMMAND = re.compile(rf"`({_OURS}[^`]+)`")
# The option that is added, and the options that replace it. `leader run` signs with `--worker`.
_KEPT = {
    "wallet_name": ("--wallet", "-w", "--worker"),
    "signer_url": ("--signer", "--worker"),
    "network_name": ("--network", "-n"),
}


def with_current_options(text: str) -> str:
    """Add `--wallet`, `--signer` and `--network` of the running command to the commands in a text.

    Commands are recognized in backticks, or if the text itself is a command. A command that does
    not have these options, or already sets them, stays unchanged.
    """
    context = click.get_current_context(silent=True)
    typed = {name: context.params.get(name) for name in _KEPT} if context else {}
    if context is None or not any(typed.values()):
        return text
    if text.startswith(_OURS):
        return _with_options(text, context, typed)
    return _COMMAND.sub(lambda match: f"`{_with_options(match[1], context, typed)}`", text)


def _with_options(text: str, context: click.Context, typed: dict[str, str | None]) -> str:
    try:
        words = shlex.split(text)
    except ValueError:
        return text
    taken = {parameter.name for parameter in _command(words[1:], context.find_root()).params}
    for name, options in _KEPT.items():
        value = typed[name]
        if value and name in taken and not set(options) & set(words):
            text += f" {options[0]} {shlex.quote(value)}"
    return text


def _command(words: list[str], root: click.Context) -> click.Command:
    """Return the command with a name such as `tool list`, or the last group in an unknown name."""
    command = root.command
    for word in words:
        named = command.get_command(root, word) if isinstance(command, click.Group) else None
        if named is None:
            break
        command = named
    return command
