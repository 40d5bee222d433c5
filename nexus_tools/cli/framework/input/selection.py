"""The options that choose tools: of the registry, or anywhere by their names."""

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
    """The value; two of them are refused: one would be dropped in silence."""
    if len(values) > 1:
        raise click.BadParameter("it is given more than once")
    return values[0] if values else None


_PATTERNS = (
    click.option(
        "--only",
        multiple=True,
        metavar="GLOB",
        help="Only tools whose FQN or name fits, as in 'read_*'; may be repeated.",
    ),
    click.option(
        "--exclude",
        multiple=True,
        metavar="GLOB",
        help="No tools whose FQN or name fits; may be repeated.",
    ),
)
_OPTIONS = (
    click.option(
        "--domain",
        "domains",
        multiple=True,
        help="Only tools of this domain and those below it; may be repeated.",
    ),
    click.option(
        "--owner",
        multiple=True,
        callback=_once,
        help="Only tools of this address, or of this key of the wallet.",
        shell_complete=complete_keys,
    ),
    click.option(
        "--search",
        multiple=True,
        callback=_once,
        help="Only tools with this text in the FQN or the description.",
    ),
)


@dataclass(frozen=True, slots=True)
class Selection:
    """What the options say; what is None or empty lets every tool pass."""

    domains: tuple[str, ...]
    owner: str | None
    search: str | None
    patterns: "FqnPatterns"

    def __bool__(self) -> bool:
        """Whether anything is asked for."""
        return self.asks_the_registry or bool(self.patterns)

    @property
    def asks_the_registry(self) -> bool:
        """Whether anything but patterns of names is asked for."""
        return bool(self.domains) or self.owner is not None or self.search is not None

    def tool_filter(self, session: Session, state: "ToolState | None") -> "ToolFilter":
        """The filter for tools in a state; an owner may be a key of the session's wallet."""
        from nexus_tools.registry import ToolFilter

        return ToolFilter(
            owner=None if self.owner is None else session.address_of(self.owner, short=True),
            domains=self.domains,
            state=state,
            search=self.search,
            patterns=self.patterns,
        )


def picks(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command that chooses tools by their names: gets `FqnPatterns` as `patterns`."""

    @functools.wraps(command)
    def wrapped(*args: Any, only: tuple[str, ...], exclude: tuple[str, ...], **kwargs: Any) -> Any:
        from nexus_tools.tool import FqnPatterns

        return command(*args, patterns=FqnPatterns(only, exclude), **kwargs)

    return _with(_PATTERNS, wrapped)


def selects(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command that chooses tools of the registry: gets a `Selection` as `selection`."""

    @picks
    @functools.wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        names = Selection.__dataclass_fields__
        mine = {name: kwargs.pop(name) for name in names}
        return command(*args, selection=Selection(**mine), **kwargs)

    return _with(_OPTIONS, wrapped)


def _with(
    options: tuple[Callable[..., Any], ...], command: Callable[..., Any]
) -> Callable[..., Any]:
    for option in reversed(options):
        command = option(command)
    return command
