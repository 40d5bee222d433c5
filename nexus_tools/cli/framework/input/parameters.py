"""Parameter types and options that several commands share: amounts in SUI, durations, files."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from nexus_tools.cli.framework.input.completion import complete_folders, complete_keys
from nexus_tools.errors import UsageError
from nexus_tools.settings import environment
from nexus_tools.sui.support import units
from nexus_tools.sui.support.suggestions import with_suggestion

if TYPE_CHECKING:
    _Number = click.ParamType[int]
    _Text = click.ParamType[str]
    _Choice = click.Choice[str]
else:  # click.ParamType and click.Choice are generic since click 8.5
    _Number = _Text = click.ParamType
    _Choice = click.Choice


class _Written(_Number):
    """The parameter type of a number that users write with a unit."""

    def __init__(self, name: str, parse: Callable[[str], int]) -> None:
        self.name = name
        self._parse = parse

    def convert(
        self, value: str | int, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """Parse the text."""
        if isinstance(value, int):
            return value
        try:
            return self._parse(value)
        except UsageError as error:
            self.fail(f"{error.message}. {error.hint}", param, ctx)


AMOUNT = _Written("sui", units.parse_sui)
"""An amount that is typed in SUI, such as `1` or `0.25`, and read as MIST."""


class _Account(_Text):
    """An account: an address with all 64 digits, or the alias of a key."""

    name = "address|alias"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Complete the aliases of keys."""
        return [CompletionItem(name) for name in complete_keys(ctx, param, incomplete)]


ACCOUNT = _Account()
"""An account that receives SUI, a permission or an object. `Session.address_of` parses it."""

DURATION = _Written("duration", units.parse_duration)
"""A duration such as `7d`, `1h30m` or `500ms`, read as milliseconds."""

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
"""An existing file."""


class Choice(_Choice):
    """A choice between several words. The error for a misspelled word suggests the closest one."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """Return click's message with a suggestion."""
        message = super().get_invalid_choice_message(value, ctx)
        return with_suggestion(message, str(value), map(str, self.choices))


FRAMEWORK_FROM = click.option(
    "--framework-from",
    metavar="URL|FOLDER",
    shell_complete=complete_folders,
    help="Load the Sui framework from the node at URL, or from the .mv files in FOLDER.",
)
"""The option of commands that load a Sui framework."""

LOG_FORMAT = click.option(
    "--log-format",
    type=Choice(["text", "json"]),
    help="Format of the log. Default: text on a terminal, else JSON.",
)
"""The option of commands that run until the user stops them."""

CA_FILE = click.option(
    "--ca-file",
    type=FILE,
    envvar=environment.TLS_ROOT_PEM_PATH,
    help="PEM file with additional trusted CA certificates."
    f" [env: {environment.TLS_ROOT_PEM_PATH}]",
)
"""The option of commands that call tools over HTTPS."""
