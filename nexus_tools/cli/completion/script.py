"""The scripts by which shells ask us for completions."""

import click
from click.shell_completion import get_completion_class

SHELLS = ("bash", "zsh", "fish")
_VARIABLE = "_NEXUS_TOOLS_COMPLETE"


def script_for(shell: str) -> str:
    """The script of a shell of `SHELLS`."""
    completion = get_completion_class(shell)
    assert completion is not None
    return completion(click.Group(), {}, "nexus-tools", _VARIABLE).source()


@click.command()
def bash() -> None:
    """Print the script for bash; `nexus-tools completion install` puts it where it is found."""
    click.echo(script_for("bash"))


@click.command()
def zsh() -> None:
    """Print the script for zsh; `nexus-tools completion install` puts it where it is found."""
    click.echo(script_for("zsh"))


@click.command()
def fish() -> None:
    """Print the script for fish; `nexus-tools completion install` puts it where it is found."""
    click.echo(script_for("fish"))
