"""`nexus-tools completion`: the shell completes commands."""

import click
from click.shell_completion import get_completion_class

from nexus_tools.cli.framework import Choice

_VARIABLE = "_NEXUS_TOOLS_COMPLETE"


@click.command()
@click.argument("shell", type=Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print the completion script of SHELL; add it to the shell's start-up file.

    For bash: `nexus-tools completion bash >> ~/.bashrc`.
    """
    completion = get_completion_class(shell)
    assert completion is not None
    root = context.find_root().command
    click.echo(completion(root, {}, "nexus-tools", _VARIABLE).source())
