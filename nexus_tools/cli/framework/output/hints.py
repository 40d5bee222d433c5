"""Hints as they have to be typed: with the network and the wallet that were typed before."""

import re
import shlex

import click

_OURS = "nexus-tools "
_COMMAND = re.compile(rf"`({_OURS}[^`]+)`")
_KEPT = {"wallet_name": ("-w", "--wallet"), "network_name": ("-n", "--network")}


def as_typed(text: str) -> str:
    """A text whose commands, in backticks or by itself, keep `--wallet` and `--network`.

    They are those of the command that runs, where somebody typed them; a command that does not
    take them, or has its own, stays as it is.
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
    taken = {each.name for each in _command(words[1:], context.find_root()).params}
    for name, (short, long) in _KEPT.items():
        value = typed[name]
        if value and name in taken and not {short, long} & set(words):
            text += f" {long} {shlex.quote(value)}"
    return text


def _command(words: list[str], root: click.Context) -> click.Command:
    """What words behind `nexus-tools` call, or the last group that they name."""
    command = root.command
    for word in words:
        named = command.get_command(root, word) if isinstance(command, click.Group) else None
        if named is None:
            break
        command = named
    return command
