"""The reference of settings and variables, generated from the code that reads them."""

from collections.abc import Iterator

import click

from nexus_tools.cli.app import app
from nexus_tools.settings import environment
from nexus_tools.settings.settings_file import KEYS
from website.cells import cell
from website.commands import leaves


def page() -> str:
    """Return the page."""
    settings = [
        f"| `{key}` | `{environment.PREFIX}{key.upper()}` | {cell(text)} |"
        for key, text in KEYS.items()
    ]
    variables = [f"| `{name}` | {texts} |" for name, texts in sorted(_variables().items())]
    return "\n".join(
        (
            "# Settings and variables",
            "",
            "For users of the command line: each setting, and each variable that sets an option.",
            "",
            "Settings come from `config.toml`, from variables and from options, in ascending order",
            "of priority. [The command line](cli.md#settings) shows the path of `config.toml`.",
            "A Leader has [its own settings](leader.md#settings).",
            "",
            *("| Setting | Variable | Meaning |", "|---|---|---|", *settings),
            "",
            "## Variables for options",
            "",
            *("| Variable | Option |", "|---|---|", *variables),
            "",
        )
    )


def _variables() -> dict[str, str]:
    found: dict[str, list[str]] = {}
    for variable, option in _options():
        found.setdefault(variable, []).append(option)
    return {name: ", ".join(options) for name, options in found.items()}


def _options() -> Iterator[tuple[str, str]]:
    for name, command in leaves(app):
        for option in command.params:
            if isinstance(option, click.Option) and isinstance(option.envvar, str):
                yield option.envvar, f"`{name} {option.opts[0]}`"
