"""The options `--tools`, `--url` and `--ca-file`, for the tools of a workflow."""

import functools
import shlex
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import CA_FILE, complete_files

if TYPE_CHECKING:
    from nexus_tools.tool import ToolDefinition
    from nexus_tools.workflow import ToolFunction

_OPTIONS = (
    click.option(
        "--tools",
        "targets",
        metavar="TARGET",
        multiple=True,
        shell_complete=complete_files,
        help="Use the tools of this Python file or module. May be repeated.",
    ),
    click.option(
        "--url", "urls", multiple=True, help="Use the tool or server at this URL. May be repeated."
    ),
    CA_FILE,
)


@dataclass(frozen=True, slots=True)
class ToolSources:
    """The Python targets and URLs of the options."""

    targets: tuple[str, ...]
    urls: tuple[str, ...]
    ca_file: Path | None

    def typed(self) -> list[str]:
        """Return the options as command line arguments."""
        options = {"--tools": self.targets, "--url": self.urls}
        options["--ca-file"] = (str(self.ca_file),) if self.ca_file else ()
        return [
            word
            for option, values in options.items()
            for value in values
            for word in (option, shlex.quote(value))
        ]

    @asynccontextmanager
    async def open(
        self,
    ) -> "AsyncIterator[tuple[Mapping[str, ToolDefinition], Mapping[str, ToolFunction]]]":
        """Open the tools while the block runs. Yields definitions and functions by FQN.

        Without options, the modules that call tools are not imported. Raises the errors of `load`
        and `served_definitions`.
        """
        if not (self.targets or self.urls):
            yield {}, {}
            return
        from nexus_tools.cli.workflow.real_tools import real_tools

        async with real_tools(self.targets, self.urls, self.ca_file) as found:
            yield found


def tool_source_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a command that uses tools to receive `ToolSources` as `sources`."""

    @functools.wraps(command)
    def wrapped(
        *args: Any,
        targets: tuple[str, ...],
        urls: tuple[str, ...],
        ca_file: Path | None,
        **kwargs: Any,
    ) -> Any:
        return command(*args, sources=ToolSources(targets, urls, ca_file), **kwargs)

    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return wrapped
