"""The option `--leader`, which names leaders by ID or by name."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from nexus_tools.registry import LeaderRegistry
    from nexus_tools.sui.types.address import Address


def leaders_option(purpose: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the option of a command that names leaders of any owner.

    `purpose` is the start of its help, for example "Leader that the tool accepts".
    """
    return click.option(
        "--leader",
        "leader_names",
        multiple=True,
        metavar="LEADER",
        help=f"{purpose}, by its ID or its unique name. May be repeated.",
    )


async def find_leaders(leaders: "LeaderRegistry", texts: Sequence[str]) -> "tuple[Address, ...]":
    """Return the unique IDs of the named leaders. Raises the errors of `LeaderRegistry.find`."""
    return tuple(leader.id for leader in await leaders.get_all(await leaders.ids(texts)))
