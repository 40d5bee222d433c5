"""The completion scripts of shells."""

import click
from click.shell_completion import get_completion_class

SHELLS = ("bash", "zsh", "fish")
_VARIABLE = "_NEXUS_TOOLS_COMPLETE"


def script_for(shell: str) -> str:
    """Return the completion script of a shell in `SHELLS`."""
    completion = get_completion_class(shell)
    assert completion is not None
    return completion(click.Group(), {}, "nexus-tools", _VARIABLE).source()


@click.command()
def bash() -> None:
    """Print the completion script for bash. To install it, run `nexus-tools completion install`."""
    click.echo(script_for("bash"))


@click.command()
def zsh() -> None:
    """Print the completion script for zsh. To install it, run `nexus-tools completion install`."""
    click.echo(script_for("zsh"))


@click.command()
def fish() -> None:
    """Print the completion script for fish. To install it, run `nexus-tools completion install`."""
    click.echo(script_for("fish"))
