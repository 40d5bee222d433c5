"""Options that select registered tools, or tools of any source by their names."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework.input.completion import complete_keys
from nexus_tools.cli.framework.session import Session

if TYPE_CHECKING:
    from nexus_tools.contracts import ToolState
    from nexus_tools.registry import ToolFilter
    from nexus_tools.tool import FqnPatterns


def _once(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> str | None:
    """Return the value of an option, and reject a second value instead of ignoring it."""
    if len(values) > 1:
        raise click.BadParameter("expected at most one value")
    return values[0] if values else None


_PATTERNS = (
    click.option(
        "--only",
        multiple=True,
        metavar="GLOB",
        help="Include only tools whose FQN or name matches, for example 'read_*'. May be repeated.",
    ),
    click.option(
        "--exclude",
        multiple=True,
        metavar="GLOB",
        help="Exclude tools whose FQN or name matches. May be repeated.",
    ),
)
_OPTIONS = (
    click.option(
        "--domain",
        "domains",
        multiple=True,
        help="Include only tools in this domain and its subdomains. May be repeated.",
    ),
    click.option(
        "--owner",
        multiple=True,
        callback=_once,
        help="Include only tools of this owner: an address, or the alias of a key.",
        shell_complete=complete_keys,
    ),
    click.option(
        "--search",
        multiple=True,
        callback=_once,
        help="Include only tools whose FQN or description contains this text.",
    ),
)


@dataclass(frozen=True, slots=True)
class ToolSelection:
    """The values of the options that select tools. None or an empty value selects every tool."""

    domains: tuple[str, ...]
    owner: str | None
    search: str | None
    patterns: "FqnPatterns"

    def __bool__(self) -> bool:
        """Return whether any of the options is set."""
        return self.needs_registry or bool(self.patterns)

    @property
    def needs_registry(self) -> bool:
        """Whether an option other than the name patterns is set."""
        return bool(self.domains) or self.owner is not None or self.search is not None

    def tool_filter(self, session: Session, state: "ToolState | None") -> "ToolFilter":
        """Return the filter for tools in a state. The owner may be a key of the wallet."""
        from nexus_tools.registry import ToolFilter

        return ToolFilter(
            owner=None if self.owner is None else session.address_of(self.owner, short=True),
            domains=self.domains,
            state=state,
            search=self.search,
            patterns=self.patterns,
        )


def name_filter_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a command that selects tools by name to receive `FqnPatterns` as `patterns`."""

    @functools.wraps(command)
    def wrapped(*args: Any, only: tuple[str, ...], exclude: tuple[str, ...], **kwargs: Any) -> Any:
        from nexus_tools.tool import FqnPatterns

        return command(*args, patterns=FqnPatterns(only, exclude), **kwargs)

    return _with(_PATTERNS, wrapped)


def registry_filter_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a command for registered tools to receive `ToolSelection` as `selection`."""

    @name_filter_options
    @functools.wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        names = ToolSelection.__dataclass_fields__
        mine = {name: kwargs.pop(name) for name in names}
        return command(*args, selection=ToolSelection(**mine), **kwargs)

    return _with(_OPTIONS, wrapped)


def _with(
    options: tuple[Callable[..., Any], ...], command: Callable[..., Any]
) -> Callable[..., Any]:
    for option in reversed(options):
        command = option(command)
    return command
