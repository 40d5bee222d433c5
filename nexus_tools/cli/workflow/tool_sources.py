"""Where the tools of a workflow are found: Python files and servers; options and use."""

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
        help="The tools of this Python file or module.",
    ),
    click.option("--url", "urls", multiple=True, help="The tools of this server, or this tool."),
    CA_FILE,
)


@dataclass(frozen=True, slots=True)
class ToolSources:
    """The Python targets and the URLs that were named."""

    targets: tuple[str, ...]
    urls: tuple[str, ...]
    ca_file: Path | None

    def typed(self) -> list[str]:
        """The options as they are typed."""
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
        """The time in which the tools can be called: definitions, and functions, by FQN.

        Who names none does without what calls them. Raises as `load` and `served_definitions` do.
        """
        if not (self.targets or self.urls):
            yield {}, {}
            return
        from nexus_tools.cli.workflow.real_tools import real_tools

        async with real_tools(self.targets, self.urls, self.ca_file) as found:
            yield found


def takes_tools(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command that looks for tools: gets `ToolSources` as `sources`."""

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
