"""The options that choose tools of the registry."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework.completing import complete_keys
from nexus_tools.cli.framework.session import Session

if TYPE_CHECKING:
    from nexus_tools.package import ToolState
    from nexus_tools.registry import ToolFilter

_OPTIONS = (
    click.option("--domain", help="Only tools of this domain and those below it."),
    click.option(
        "--owner",
        help="Only tools of this address, or of this key of the wallet.",
        shell_complete=complete_keys,
    ),
    click.option("--search", help="Only tools with this text in the FQN or the description."),
)


@dataclass(frozen=True, slots=True)
class Selection:
    """What the options say; None lets every tool pass."""

    domain: str | None = None
    owner: str | None = None
    search: str | None = None

    def __bool__(self) -> bool:
        """Whether anything is asked for."""
        return self != Selection()

    def tool_filter(self, session: Session, state: "ToolState | None") -> "ToolFilter":
        """The filter for tools in a state; an owner may be a key of the session's wallet."""
        from nexus_tools.registry import ToolFilter

        return ToolFilter(
            owner=None if self.owner is None else session.address_of(self.owner),
            domain=self.domain,
            state=state,
            search=self.search,
        )


def selects(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command that chooses tools: gets a `Selection` as `selection`."""

    @functools.wraps(command)
    def wrapped(
        *args: Any, domain: str | None, owner: str | None, search: str | None, **kwargs: Any
    ) -> Any:
        return command(*args, selection=Selection(domain, owner, search), **kwargs)

    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return wrapped
